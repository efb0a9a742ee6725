"""What is kept on disk: plain values and arrays in two files, a JSON and an NPZ, never a pickle."""

from consilience.keep._folder import ARRAYS, FACTS, KeptFiles, read_kept, write_kept
from consilience.keep._values import Kind, Omitted, dataclass_kind

__all__ = [
    "ARRAYS",
    "FACTS",
    "KeptFiles",
    "Kind",
    "Omitted",
    "dataclass_kind",
    "read_kept",
    "write_kept",
]
