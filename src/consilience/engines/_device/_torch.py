"""torch itself, for the modules of this folder, and sums over blocks that any device adds alike."""

import os
import warnings
from importlib.util import find_spec
from typing import Any

from numpy.typing import NDArray

from consilience._optional import optional

__all__ = ["add_in_tree", "full_precision", "kernels_for", "tensor_of", "torch"]


class _Torch:
    """torch, imported when something of it is first asked for, and only here."""

    def __getattr__(self, name: str) -> Any:
        module = optional("torch", extra="gpu", what="The engine of a torch device")
        value = getattr(module, name)
        setattr(self, name, value)
        return value


torch: Any = _Torch()


def add_in_tree(parts: Any) -> Any:
    """Sum over the first axis: of neighbours, of those sums, and so on, by their numbers.

    The tree of `consilience.kernels._blocks`: additions of whole tensors, whose bits no device
    and no shape can change.

    >>> float(add_in_tree(torch.tensor([1.0, 2.0**-53, 2.0**-53], dtype=torch.float64)))
    1.0
    """
    while len(parts) > 1:
        even = len(parts) // 2 * 2
        sums = parts[0:even:2] + parts[1:even:2]
        parts = sums if even == len(parts) else torch.cat([sums, parts[even:]])
    return parts[0]


def tensor_of(array: NDArray[Any]) -> Any:
    """A tensor in the array's own memory, also where that may not be written to: nobody does."""
    if array.flags.writeable:
        return torch.from_numpy(array)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


class full_precision:
    """A context in which float32 products are float32 products, whatever the user has set."""

    def __enter__(self) -> None:
        self._kept = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")

    def __exit__(self, *error: object) -> None:
        torch.set_float32_matmul_precision(self._kept)


def kernels_for(device: Any) -> Any:
    """The module of Triton kernels where they can run: on a card, or under Triton's interpreter."""
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    if (device.type != "cuda" and not interpreted) or find_spec("triton") is None:
        return None
    from consilience.engines import _triton

    return _triton
