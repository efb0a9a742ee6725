# ruff: noqa: E402
"""What is done on cards only, by a stand-in: tensors of the host that say they lie on a card.

Copies that a card makes while the host goes on are made here as early or as late as they may be.
"""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

from consilience.engines._device import memory, pairs, weak
from consilience.engines._device._torch import kernels_for
from consilience.engines.torch import device_of, devices

pytestmark = pytest.mark.torch
CARD = SimpleNamespace(type="cuda")


class OnCard(torch.Tensor):
    """A tensor that says it is on a card."""

    device, is_cuda = CARD, True

    def to(self, where, *more, **options):
        return self if where is CARD else super().to(where, *more, **options)


def on_card(values):
    return torch.as_tensor(values).as_subclass(OnCard)


class Stream:
    """Copies in their order, made at once or when somebody waits for them."""

    def __init__(self, late):
        self.late, self.waiting = late, []

    def copy(self, target, source):
        self.waiting.append((target, source))
        if not self.late:
            self.run(len(self.waiting))

    def run(self, count):
        for target, source in self.waiting[:count]:
            target[...] = source
        self.waiting[:count] = [(np.empty(0, np.uint8), np.empty(0, np.uint8))] * count

    def room(self, size):
        """Memory that stays in place."""
        values = np.full(size, 77, np.uint8)

        class Room:
            def __init__(self, values):
                self.values = values

            def __getitem__(self, some):
                return Room(self.values[some])

            def copy_(own, source, *, non_blocking):
                assert non_blocking
                assert len(source) == len(own.values)
                self.copy(own.values, source.numpy())

            def numpy(self):
                return self.values

        return Room(values)

    def event(self):
        """What was asked for until it was recorded has been done once somebody waited for it."""
        stream = self

        class Event:
            count = None

            def record(self):
                self.count = len(stream.waiting)

            def synchronize(self):
                stream.run(self.count)

        return Event()


def with_stand_in(monkeypatch, **parts):
    """Put parts of torch in the place of its own for the module of memory."""

    class Stand:
        def __getattr__(self, name):
            return parts[name] if name in parts else getattr(torch, name)

    monkeypatch.setattr(memory, "torch", Stand())


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("shape", [(40,), (5, 8), (1, 39), (3, 25), (0, 3)])
@pytest.mark.parametrize("at_once", [16, 40, 159])
@pytest.mark.parametrize("kind", [np.float32, np.int16])
def test_what_is_fetched_in_pieces_is_what_was_there(monkeypatch, late, shape, at_once, kind):
    stream, asked = Stream(late), []

    def room(size, *, dtype, pin_memory):
        asked.append((size, dtype, pin_memory))
        return stream.room(size)

    with_stand_in(monkeypatch, empty=room, cuda=SimpleNamespace(Event=stream.event))
    values = np.random.default_rng(0).integers(-99, 99, shape).astype(kind)
    got = memory.fetched(on_card(values), 1, at_once=at_once)
    np.testing.assert_array_equal(got, values)
    assert (got.dtype, got.shape) == (values.dtype, values.shape)
    # Two rooms, if one does not do.
    assert asked == [(at_once, torch.uint8, True)] * (2 * (values.nbytes > at_once))
    turned = torch.as_tensor(values).T.as_subclass(OnCard) if len(shape) == 2 else on_card(values)
    np.testing.assert_array_equal(memory.fetched(turned, 2, at_once=at_once), turned.numpy())


def test_what_is_fetched_is_cut_above_64_mebibytes(monkeypatch):
    rooms = []

    def room(size, **_):
        rooms.append(size)
        raise MemoryError

    with_stand_in(monkeypatch, empty=room)
    byte = torch.zeros(1, dtype=torch.uint8)
    few = memory.fetched(byte.expand(2**26).as_subclass(OnCard))
    assert (len(few), rooms) == (2**26, [])
    with pytest.raises(MemoryError):
        memory.fetched(byte.expand(2**26 + 1).as_subclass(OnCard))
    assert rooms == [2**26]


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_blocks_are_sent_one_ahead_of_the_work(monkeypatch, pinned, contiguous, count):
    told, inside = [], []

    class Side:
        def __init__(self, device):
            assert device is CARD

        def wait_stream(self, other):
            told.append(f"side waits for {other}")

    class Work:
        def wait_event(self, done):
            told.append(f"work waits for {done.number}")

        def __str__(self):
            return "work"

    class Done:
        def record(self, side):
            assert isinstance(side, Side)
            self.number = told[-1].split()[1]

    @contextmanager
    def on(side):
        assert isinstance(side, Side)
        inside.append(side)
        yield
        inside.pop()

    class Block:
        is_cuda = False

        def __init__(self, number, pinned, contiguous):
            self.number, self.pinned, self.is_whole = number, pinned, contiguous

        def is_pinned(self):
            return self.pinned

        def is_contiguous(self):
            return self.is_whole

        def contiguous(self):
            return Block(self.number, self.is_whole and self.pinned, True)

        def pin_memory(self):
            return Block(self.number, True, self.is_whole)

        def to(self, device, *, non_blocking):
            assert device is CARD
            assert non_blocking
            assert inside
            assert self.pinned
            assert self.is_whole
            told.append(f"sent {self.number}")
            return self

        def record_stream(self, work):
            told.append(f"{work} holds {self.number}")

    work = Work()
    cuda = SimpleNamespace(Stream=Side, current_stream=lambda device: work, stream=on, Event=Done)
    with_stand_in(monkeypatch, cuda=cuda)
    blocks = (Block(number, pinned, contiguous) for number in range(count))
    for number, one in enumerate(memory.streamed(blocks, CARD)):
        assert one.number == number
        told.append(f"used {number}")
    wanted = ["sent 0"] * (count > 0)
    for number in range(count):
        last = number + 1 == count
        wanted += [] if last else [f"sent {number + 1}"]
        wanted += [f"work waits for {number}", f"work holds {number}", f"used {number}"]
        wanted += [] if last else ["side waits for work"]
    assert told == wanted


def test_memory_for_a_card_is_pinned_unless_it_is_there():
    whole = SimpleNamespace(is_cuda=False, pin_memory=lambda: "pinned")
    there = SimpleNamespace(is_cuda=True, pin_memory=lambda: "pinned")
    assert memory.pinned(whole, CARD) == "pinned"
    assert memory.pinned(there, CARD) is there
    assert memory.pinned(whole, torch.device("cpu")) is whole


def test_data_may_take_half_of_a_card(monkeypatch):
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    facts = {"cuda:0": 101, "cuda:1": 2**40}
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda device: SimpleNamespace(total_memory=facts[str(device)]),
    )
    assert memory.memory_of(torch.device("cuda:0")) == 50
    assert memory.memory_of(torch.device("cuda:1")) == 2**39
    monkeypatch.setenv(memory.VARIABLE, "7 B")
    assert memory.memory_of(torch.device("cuda:1")) == 7


def test_cards_are_listed_with_their_facts(monkeypatch):
    assert isinstance(devices(), list)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda number: (10.0 + number, 20.0 + number))
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda number: SimpleNamespace(name=f"model {number}", major=8, minor=number),
    )
    assert devices() == [
        {
            "name": f"cuda:{number}",
            "kind": "cuda",
            "model": f"model {number}",
            "memory_total": 20 + number,
            "memory_free": 10 + number,
            "capability": f"8.{number}",
        }
        for number in (0, 1)
    ]
    assert device_of("cuda") == torch.device("cuda", 1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices() == []


def test_kernels_are_for_cards_and_for_the_interpreter(monkeypatch):
    pytest.importorskip("triton", reason="triton is not installed; torch with CUDA brings it")
    for value, here in [("1", True), ("0", False), (None, False)]:
        if value is None:
            monkeypatch.delenv("TRITON_INTERPRET", raising=False)
        else:
            monkeypatch.setenv("TRITON_INTERPRET", value)
        assert (kernels_for(torch.device("cpu")) is not None) == here
        assert kernels_for(CARD).__name__ == "consilience.engines._triton"
    monkeypatch.setattr("consilience.engines._device._torch.find_spec", lambda name: None)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert kernels_for(CARD) is kernels_for(torch.device("cpu")) is None


# ---- the narrowest floats ---------------------------------------------------------------------


def narrowed(matrix, rows=None, *, capability=(9, 0), limit=0, **options):
    """Type and reach of objects of a card, whose matrix stays on the host."""
    matrix = torch.as_tensor(matrix, dtype=torch.float32)
    rows = matrix.square().sum(dim=1) if rows is None else rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
        found = weak.narrowed(matrix, rows.as_subclass(OnCard), CARD, limit=limit, **options)
    assert found.on_host
    assert found.device is CARD
    n, p = matrix.shape
    assert found.matrix.shape == (-(-n // 16) * 16, -(-p // 16) * 16)
    assert torch.equal(found.matrix[:n, :p].float(), matrix)
    assert not found.matrix.float()[n:].any()
    assert not found.matrix.float()[:, p:].any()
    return found.matrix.dtype, found.reach


EIGHT, SIXTEEN, WIDE = torch.float8_e4m3fn, torch.float16, torch.float32


@pytest.mark.parametrize(
    ("matrix", "wanted"),
    [
        ([[1.0, 2.0], [0.0, 3.0]], (EIGHT, 4 * 9 + 1)),
        ([[16.0]], (EIGHT, 4 * 256 + 1)),
        ([[-16.0]], (EIGHT, 4 * 256 + 1)),
        ([[17.0]], (SIXTEEN, 4 * 289 + 1)),
        ([[32.0, 32.0]], (SIXTEEN, 4 * 2048 + 1)),  # the longest whose products are exact
        ([[32.0, 32.0, 1.0]], (WIDE, 0)),
        ([[0.5, 1.0]], (WIDE, 0)),
        (np.zeros((17, 33)), (EIGHT, 1)),
        (np.full((2, 8), 16.0), (EIGHT, 4 * 2048 + 1)),
        (np.full((2, 9), 16.0), (WIDE, 0)),
    ],
)
def test_objects_are_in_the_narrowest_floats_of_exact_products(matrix, wanted):
    assert narrowed(matrix) == wanted
    assert narrowed(matrix, widest="float32") == (WIDE, 0)
    sixteen = (SIXTEEN if wanted[0] is EIGHT else wanted[0], wanted[1])
    assert narrowed(matrix, widest="float16") == sixteen
    for capability, eight in [((8, 9), True), ((8, 8), False), ((10, 0), True), ((7, 9), False)]:
        assert narrowed(matrix, capability=capability) == (wanted if eight else sixteen)


def test_distances_are_looked_up_where_row_terms_are_squared_lengths():
    matrix = torch.tensor([[1.0, 2.0], [0.0, 3.0]])
    assert narrowed(matrix, torch.tensor([5.0, 9.0])) == (EIGHT, 37)
    assert narrowed(matrix, torch.tensor([5.0, 8.0])) == (EIGHT, 0)
    assert narrowed(matrix, torch.tensor([5.0, 9.0], dtype=torch.float64)) == (WIDE, 0)


def test_a_matrix_that_fits_is_on_the_device():
    matrix = torch.ones((17, 3))
    for limit, on_host in [(32 * 16 * 4, False), (32 * 16 * 4 - 1, True), (None, False)]:
        found = weak.narrowed(matrix, matrix.sum(dim=1), torch.device("cpu"), limit=limit)
        assert (found.on_host, found.resident, found.reach) == (on_host, not on_host, 0)
        assert found.matrix.shape == (32, 16)
        assert found.matrix.dtype == torch.float32


@pytest.mark.parametrize(("n_members", "kind"), [(1, SIXTEEN), (2048, SIXTEEN), (2049, WIDE)])
def test_counts_of_a_card_are_in_the_narrowest_floats_that_hold_them(n_members, kind):
    members = np.zeros((n_members, 2), np.int8)

    class Tensor(torch.Tensor):
        is_cuda = True

    assert pairs.one_hot(torch.as_tensor(members).as_subclass(Tensor)).dtype == kind
    assert pairs.one_hot(torch.as_tensor(members)).dtype == WIDE
