"""What every job of the command line keeps while it runs: seconds by stage, warnings as notes."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Clock", "noting"]


@contextmanager
def noting() -> Iterator[list[str]]:
    """Collect the text of warnings meant for users, each once, instead of showing them."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        yield notes
    notes += dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)


@dataclass
class Clock:
    """Seconds of each stage, in the order they were run."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside."""
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)
