"""Modules whose examples need packages that are not there are left out of the collection."""

from importlib.util import find_spec

_NEEDS = {
    "torch": ["src/consilience/engines/torch.py", "src/consilience/engines/_device/*.py"],
    "triton": ["src/consilience/engines/triton.py"],
}
collect_ignore_glob = [
    path for package, paths in _NEEDS.items() if find_spec(package) is None for path in paths
]
