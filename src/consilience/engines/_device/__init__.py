"""Passes over rows in torch, on any of its devices; imported by `consilience.engines.torch` only.

Nothing here needs numba, so that the passes can be measured alone on a machine without it.
"""
