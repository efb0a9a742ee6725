"""A bounded part of the fuzzer, with seeds that stay; ``run.py`` beside it runs the whole."""

import pytest
from fuzz.cases import run_case, run_sweep
from fuzz.sweep import units
from numba import config as numba_config

pytest.importorskip("cyclopts")

pytestmark = pytest.mark.skipif(bool(numba_config.DISABLE_JIT), reason="slow as plain Python")

# Blocks, so that workers share them; a case is named by its seed and its number.
BLOCKS, SIZE, SEED = 12, 20, 2026


@pytest.mark.parametrize("block", range(BLOCKS))
def test_cases_end_well_or_are_refused(block):
    found = [run_case(SEED, index) for index in range(block * SIZE, (block + 1) * SIZE)]
    broken = [
        f"python tests/fuzz/run.py --seed {SEED} --only {case.index}\n{case.what}\n{case.why}"
        for case in found
        if case.ended == "broken"
    ]
    assert not broken, "\n\n".join(broken)
    assert {case.ended for case in found} == {"ok", "refused"}


def test_a_case_is_a_function_of_its_seed_and_number():
    first, second = (
        [run_case(5, index) for index in (3, 1, 2)],
        [run_case(5, index) for index in (2, 1, 3)],
    )
    assert first == second[::-1] or {c.index: c for c in first} == {c.index: c for c in second}
    assert len({case.what for case in first}) > 1


# Lists of different lengths, numbers beyond all floats and complex ones: what numpy refuses with
# words, exceptions and warnings of its own, wherever it is asked.
STRANGE = ([[1], [2, 3]], [10**400] * 12, [1j] * 12)


@pytest.mark.parametrize("part", range(6))
def test_no_parameter_hands_strange_lists_on_to_numpy(part):
    broken = [
        f"{what}\n{why}"
        for name in units()[part::6]
        for ended, what, why in run_sweep(name, STRANGE)
        if ended == "broken"
    ]
    assert not broken, "\n\n".join(broken)
