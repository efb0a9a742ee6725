"""Every source file is in one room, and every room has its tests."""

from collections import Counter
from pathlib import Path

from mutation.rooms import _NEVER, ROOMS, likely_tests, sources, stored_tests

ROOT = Path(__file__).resolve().parents[2]


def test_every_source_file_belongs_to_exactly_one_room():
    found = Counter(path for room in ROOMS for path in sources(ROOT, room))
    wanted = set((ROOT / "src" / "consilience").rglob("*.py"))
    assert set(found) == wanted
    assert {path: count for path, count in found.items() if count > 1} == {}


def test_every_pattern_of_a_room_finds_something():
    for room, (files, tests) in ROOMS.items():
        for home, patterns in (("src/consilience", files), ("tests", tests)):
            for pattern in patterns:
                assert list((ROOT / home).glob(pattern)), (room, pattern)


def test_stored_answers_are_asked_first():
    for room in ROOMS:
        stored = stored_tests(ROOT, room)
        for path in stored:
            assert path.with_name(f"{path.stem.removeprefix('test_')}.json").is_file(), path
        module = sources(ROOT, room)[-1]
        found = likely_tests(ROOT, room, module, defaults=False)
        assert set(found[: len(stored)]) == set(stored)


def test_every_stored_answer_belongs_to_a_room():
    known = {path for room in ROOMS for path in stored_tests(ROOT, room)}
    assert set((ROOT / "tests" / "stored").glob("test_*.py")) == known


def test_only_the_tests_meant_are_left_out():
    """By their place: one of the same name in another folder is asked."""
    assert all((ROOT / "tests" / name).is_file() for name in _NEVER)
    documents = ROOT / "src/consilience/datasets/_documents.py"
    assert ROOT / "tests/datasets/test_documents.py" in likely_tests(ROOT, "datasets", documents)
