"""k-means for many members at once: on data, on sparse data, in small batches, on labels."""
