"""Passes over rows of data that are no k-means: medoids, representatives, tall products."""
