"""Passes over the label rows of an ensemble that need no pairs of objects."""
