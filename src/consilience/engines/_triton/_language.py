"""Triton and its language, imported by the kernels only."""

from typing import Any

from consilience._optional import optional

__all__ = ["tl", "triton"]

triton: Any = optional("triton", extra=None, what="The kernels of a torch device")
tl: Any = optional("triton.language", extra=None, what="The kernels of a torch device")
