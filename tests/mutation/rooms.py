"""Which code is a room, and which tests speak about which module."""

import ast
import re
from pathlib import Path

__all__ = ["COMPILER", "ROOMS", "left_out", "likely_tests", "sources", "stored_tests"]

#: Every public function with workers refuses the same numbers of them.
_WORKERS = "test_workers.py"
#: What no parameter means is refused in every room.
_ODD = "test_odd_values.py"
#: Room: its files below ``src/consilience``, its tests below ``tests``. Its stored answers, in
#: ``stored/test_ROOM*.py``, come before these.
ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "kernels": (("kernels/**/*.py",), ("kernels/test_*.py",)),
    "engines": (
        ("engines/**/*.py",),
        ("engines/test_*.py", "gpu/test_*.py", "scale/test_*.py", "kernels/test_*.py"),
    ),
    "evidence": (("evidence/*.py",), ("evidence/test_*.py", _WORKERS, _ODD)),
    "metrics": (("metrics.py",), ("test_metrics.py",)),
    "consensus": (("consensus/*.py",), ("consensus/test_*.py", _WORKERS, _ODD)),
    "generate": (("generate/*.py",), ("generate/test_*.py", _WORKERS, _ODD)),
    "minority": (("minority/*.py",), ("minority/test_*.py", "gpu/test_faces.py", _WORKERS, _ODD)),
    "partition": (("partition/*.py",), ("partition/test_*.py", _WORKERS, _ODD)),
    "datasets": (("datasets/*.py",), ("datasets/test_*.py", "test_cli_tables.py")),
    "compare": (("compare/*.py",), ("compare/test_*.py", _WORKERS, _ODD)),
    "explain": (("explain/*.py",), ("explain/test_*.py", _ODD)),
    "report": (
        ("report/*.py", "explore/*.py"),
        ("report/test_*.py", "explore/test_*.py", "cli_values/test_*.py", _ODD),
    ),
    "plot": (("plot/*.py",), ("plot/test_*.py",)),
    "experiments": (("experiments/*.py",), ("experiments/test_*.py", "test_reproduce.py")),
    "workflow": (
        ("workflow/*.py", "predict/*.py", "keep/*.py"),
        (
            "workflow/test_*.py", "predict/test_*.py", "keep/test_*.py", "test_cli*.py",
            "cli_*/test_*.py", _WORKERS, _ODD,
        ),
    ),
    "_cli": (
        ("_cli/*.py", "cli.py", "__main__.py"),
        ("test_cli*.py", "cli_*/test_*.py", "test_reproduce.py", "test_environment.py"),
    ),
    "core": (
        (
            "__init__.py", "ensemble.py", "soft_ensemble.py", "errors.py", "rows.py",
            "_contingency.py", "_docs.py",
            "_ensemble_store.py", "_files.py", "_formulas.py", "_labels.py", "_optional.py",
            "_maps.py", "_sklearn.py", "_stored/*.py", "_text.py", "_threads.py", "_units.py",
            "_validation.py", "_words.py",
        ),
        (
            "test_ensemble*.py", "test_soft_ensemble.py", "test_labels.py", "test_validation.py",
            "test_contingency.py",
            "test_files.py", "test_optional.py", "test_metrics.py", "test_docs.py", "test_rows.py",
            "test_formulas.py", "test_import.py", "test_wrong_arguments.py", "test_cli.py",
            "test_cli_progress.py", "test_one_thread.py", "test_stored.py", "test_text.py",
            "test_units.py", _ODD,
        ),
    ),
}  # fmt: skip
#: What compiles kernels, or is there because others are not compiled yet: its own tests compile.
COMPILER = {
    "_jit.py": "kernels/test_jit.py",
    "_linked.py": "kernels/test_linked.py",
    "_plain.py": "kernels/test_plain.py",
    "small.py": "kernels/test_plain.py",
}
#: Defaults of everything public: every room has some.
_DEFAULTS = "test_public_defaults.py"
#: The browser is not needed to notice a change, and documents are slow to build.
_NEVER = (
    "report/test_browser.py",
    "test_documents.py",
    "plot/test_gallery.py",
)


def sources(root: Path, room: str) -> list[Path]:
    """The files of a room."""
    home = root / "src" / "consilience"
    return sorted({path for pattern in ROOMS[room][0] for path in home.glob(pattern)})


def stored_tests(root: Path, room: str) -> list[Path]:
    """The tests of the room's stored answers."""
    home, name = root / "tests" / "stored", room.strip("_")
    return [home / f"test_{name}.py", *sorted(home.glob(f"test_{name}_*.py"))]


def left_out(root: Path, test: Path) -> bool:
    """Whether a test file is never asked."""
    return test.relative_to(root / "tests").as_posix() in _NEVER


def likely_tests(
    root: Path, room: str, module: Path, function: str = "", *, defaults: bool = True
) -> list[Path]:
    """Test files that may notice a change of the module, the likeliest first.

    The stored answers of its room, which are quick; those named after it or the function changed,
    those that mention the function, the module or what it makes, those of the modules that use it;
    with ``defaults`` also those of everything public.
    """
    if module.name in COMPILER:
        return [root / "tests" / COMPILER[module.name]]
    names = _public_names(module)
    about = module.stem.strip("_")
    users = _users(module, sources(root, room))
    own = {path for pattern in ROOMS[room][1] for path in (root / "tests").glob(pattern)}
    ranked: list[tuple[int, int, Path]] = []
    if defaults:
        ranked.append((-1, 0, root / "tests" / _DEFAULTS))
    ranked += [(-1, 1, path) for path in stored_tests(root, room)]
    for path in sorted(own):
        if not left_out(root, path):
            words = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
            subject = path.stem.removeprefix("test_")
            told = len(names & words)
            named = [
                subject in (about, function.strip("_")),
                function in words,
                module.stem in words,
                about in subject,
                told,
                subject in users,
            ]
            rank = next((place for place, one in enumerate(named) if one), len(named))
            ranked.append((rank, -told, path))
    return [path for *_, path in sorted(ranked)]


def _users(module: Path, others: list[Path]) -> set[str]:
    """Names of the modules beside it that import it."""
    asked = re.compile(rf"\b{module.stem} import\b|\bimport {module.stem}\b")
    return {
        path.stem.strip("_") for path in others if asked.search(path.read_text(encoding="utf-8"))
    }


def _public_names(module: Path) -> set[str]:
    tree = ast.parse(module.read_bytes())
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = {node.name for node in tree.body if isinstance(node, kinds)}
    return {name for name in names if not name.startswith("_")} | {f"{module.stem}_"}
