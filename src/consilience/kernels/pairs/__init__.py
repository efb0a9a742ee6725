"""Pairs of objects: how many members joined or saw both, and sums over pairs."""
