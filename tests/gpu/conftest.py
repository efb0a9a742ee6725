"""Triton decides when it is imported whether kernels are compiled or interpreted.

So it is imported here, interpreted unless the tests run on a card; which tests then go through
kernels is decided test by test, by the same variable.
"""

import os
from importlib.util import find_spec

import pytest

if os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu") == "cpu" and find_spec("triton"):
    kept = os.environ.get("TRITON_INTERPRET")
    os.environ["TRITON_INTERPRET"] = "1"
    import triton.language  # noqa: F401

    if kept is None:
        del os.environ["TRITON_INTERPRET"]


# Numbers before and behind every array that kernels work on, and what stands there.
_AROUND, _ODD = 64, {"float": float("nan"), "int": 3, "uint": 3, "bool": True}


@pytest.fixture
def guarded(monkeypatch):
    """Arrays that kernels work on have odd numbers around them, which must be there in the end.

    What is made without values holds them, too: whoever reads what nobody wrote gets them.
    """
    import torch

    from consilience.engines._device._torch import torch as used

    made = []

    def around(make, *, empty=False):
        def made_of(*args, **options):
            plain = make(*args, **options)
            eight_bits = plain.dtype.itemsize == 1 and plain.is_floating_point()
            if plain.device.type != "cpu" or eight_bits:
                return plain
            name = str(plain.dtype).removeprefix("torch.").rstrip("0123456789")
            whole = torch.full((plain.numel() + 2 * _AROUND,), _ODD[name], dtype=plain.dtype)
            inside = whole[_AROUND : len(whole) - _AROUND].view(plain.shape)
            if not empty:
                inside.copy_(plain)
            made.append(whole)
            return inside

        return made_of

    for name in ("zeros", "full", "zeros_like", "as_tensor", "from_numpy", "tensor"):
        monkeypatch.setattr(used, name, around(getattr(torch, name)), raising=False)
    for name in ("empty", "empty_like"):
        monkeypatch.setattr(used, name, around(getattr(torch, name), empty=True), raising=False)
    yield made
    for whole in made:
        for part in (whole[:_AROUND], whole[len(whole) - _AROUND :]):
            odd = torch.isnan(part) if part.is_floating_point() else part == 3
            assert bool((odd if part.dtype != torch.bool else part).all()), "written beyond"
