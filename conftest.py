"""Modules whose examples need packages that are not there are left out of the collection."""

from importlib.util import find_spec

_TORCH = [
    "src/consilience/engines/torch.py",
    "src/consilience/engines/_device/*.py",
    "src/consilience/minority/_on_device.py",
]
# Kernels have no examples, and are what they are when they are imported first: interpreted in
# tests, compiled otherwise.
collect_ignore_glob = ["src/consilience/engines/_triton/*.py"]
if find_spec("torch") is None:
    collect_ignore_glob += _TORCH
