"""Every source file is in one room, and every room has its tests."""

from collections import Counter
from pathlib import Path

from mutation.rooms import ROOMS, likely_tests, sources, stored_tests

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
        (stored,) = stored_tests(ROOT, room)
        assert stored.is_file(), room
        assert stored.with_name(f"{stored.stem.removeprefix('test_')}.json").is_file(), room
        module = sources(ROOT, room)[-1]
        assert likely_tests(ROOT, room, module, defaults=False)[0] == stored


def test_every_stored_room_is_a_room():
    rooms = {room.strip("_") for room in ROOMS}
    assert {
        path.stem.removeprefix("test_") for path in (ROOT / "tests" / "stored").glob("test_*.py")
    } == rooms
