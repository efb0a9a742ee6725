"""What ``consilience doctor`` prints: what this machine offers, for people or for machines."""

import json as json_format

from rich.console import Console

from consilience._cli.show import show_notes, table, tell
from consilience.workflow import Diagnosis, doctor

__all__ = ["examine"]


def examine(*, json: bool, benchmark: bool) -> None:
    """Look, measure, and print."""
    machine = doctor(benchmark=benchmark)
    if json:
        print(json_format.dumps(machine.to_dict(), indent=2))
        return
    _show(machine, Console())


def _show(machine: Diagnosis, console: Console) -> None:
    lines = table("this machine", "")
    for name, words in _facts(machine):
        lines.add_row(name, words)
    console.print(lines)
    lines = table("extra", "packages")
    for extra, packages in machine.extras.items():
        lines.add_row(extra, ", ".join(_versions(packages)))
    console.print(lines)
    if machine.timings:
        _show_timings(machine, console)
    show_notes(machine.advice, console)
    if not machine.advice:
        tell(console, "Nothing to complain of.")


def _facts(machine: Diagnosis) -> list[tuple[str, str]]:
    """What there is, as lines of a name and words."""
    there = [name for name, here in machine.partitioners.items() if here]
    lines = [
        ("consilience", f"{machine.consilience}, {machine.python}, {machine.system}"),
        ("cores", str(machine.cores)),
        ("memory", f"{_gibibytes(machine.memory_total)}, {_gibibytes(machine.memory_free)} free"),
        ("packages", ", ".join(_versions(machine.packages))),
        ("partitioners", ", ".join(there) or "none"),
        ("compiled kernels", machine.kernel_folder or "cannot be kept"),
        ("torch", machine.torch or "not installed"),
        ("Triton", machine.triton or "not installed"),
    ]
    for device in machine.devices:
        memory = _gibibytes(device["memory_total"])
        free = _gibibytes(device["memory_free"])
        lines.append((device["name"], f"{device['model']}, {memory}, {free} free"))
    if not machine.devices:
        lines.append(("devices", "none beside the processor"))
    return lines


def _versions(packages: dict[str, str | None]) -> list[str]:
    return [f"{name} {version or '(missing)'}" for name, version in packages.items()]


def _gibibytes(n_bytes: int | None) -> str:
    return "unknown" if n_bytes is None else f"{n_bytes / 2**30:.1f} GiB"


def _show_timings(machine: Diagnosis, console: Console) -> None:
    places = list(dict.fromkeys(one.place for one in machine.timings))
    lines = table("seconds", *places, right=places)
    for work in dict.fromkeys(one.work for one in machine.timings):
        taken = {one.place: one.seconds for one in machine.timings if one.work == work}
        lines.add_row(work, *(f"{taken[p]:.3f}" if p in taken else "" for p in places))
    console.print(lines)
