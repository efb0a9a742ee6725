"""Merge trees of the co-association and of distances, and what is read off them."""
