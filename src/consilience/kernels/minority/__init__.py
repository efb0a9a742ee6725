"""Weak clusterings scored as they stream by, densities, and levels of density."""
