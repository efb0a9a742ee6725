"""What ``consilience doctor`` prints: what this machine offers, for people or for machines."""

import json as json_format

from rich.console import Console

from consilience._cli.show import show_notes, table, tell
from consilience.workflow import Diagnosis, doctor

__all__ = ["examine"]


def examine(*, json: bool, benchmark: bool) -> None:
    """Look, measure, and print."""
    found = doctor(benchmark=benchmark)
    if json:
        print(json_format.dumps(found.to_dict(), indent=2))
        return
    _show(found, Console())


def _show(found: Diagnosis, console: Console) -> None:
    lines = table("this machine", "")
    for name, words in _facts(found):
        lines.add_row(name, words)
    console.print(lines)
    lines = table("extra", "packages")
    for extra, packages in found.extras.items():
        lines.add_row(extra, ", ".join(_versions(packages)))
    console.print(lines)
    if found.timings:
        _show_timings(found, console)
    show_notes(found.advice, console)
    if not found.advice:
        tell(console, "Nothing to complain of.")


def _facts(found: Diagnosis) -> list[tuple[str, str]]:
    """What there is, as lines of a name and words."""
    there = [name for name, here in found.partitioners.items() if here]
    lines = [
        ("consilience", f"{found.consilience}, {found.python}, {found.system}"),
        ("cores", str(found.cores)),
        ("memory", f"{_gibibytes(found.memory_total)}, {_gibibytes(found.memory_free)} free"),
        ("packages", ", ".join(_versions(found.packages))),
        ("partitioners", ", ".join(there) or "none"),
        ("compiled kernels", found.kernel_folder or "cannot be kept"),
        ("torch", found.torch or "not installed"),
        ("Triton", found.triton or "not installed"),
    ]
    for device in found.devices:
        memory = _gibibytes(device["memory_total"])
        free = _gibibytes(device["memory_free"])
        lines.append((device["name"], f"{device['model']}, {memory}, {free} free"))
    if not found.devices:
        lines.append(("devices", "none beside the processor"))
    return lines


def _versions(packages: dict[str, str | None]) -> list[str]:
    return [f"{name} {version or '(missing)'}" for name, version in packages.items()]


def _gibibytes(n_bytes: int | None) -> str:
    return "unknown" if n_bytes is None else f"{n_bytes / 2**30:.1f} GiB"


def _show_timings(found: Diagnosis, console: Console) -> None:
    places = list(dict.fromkeys(one.place for one in found.timings))
    lines = table("seconds", *places, right=places)
    for work in dict.fromkeys(one.work for one in found.timings):
        taken = {one.place: one.seconds for one in found.timings if one.work == work}
        lines.add_row(work, *(f"{taken[p]:.3f}" if p in taken else "" for p in places))
    console.print(lines)
