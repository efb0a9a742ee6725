"""Triton decides when it is imported whether kernels are compiled or interpreted.

So it is imported here, interpreted unless the tests run on a card; which tests then go through
kernels is decided test by test, by the same variable.
"""

import os
from importlib.util import find_spec

if os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu") == "cpu" and find_spec("triton"):
    kept = os.environ.get("TRITON_INTERPRET")
    os.environ["TRITON_INTERPRET"] = "1"
    import triton.language  # noqa: F401

    if kept is None:
        del os.environ["TRITON_INTERPRET"]
