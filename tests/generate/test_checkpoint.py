"""Members that are kept while they are made, and runs that are resumed."""

import shutil
import tempfile

import numpy as np
import pytest
from generate.run_folders import (
    GENERATORS,
    Odd,
    assert_clean,
    assert_same,
    make_data,
    member_files,
    seeded,
    untimed,
    whole_run,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from consilience import generate
from consilience.errors import ConsilienceWarning
from consilience.generate import (
    Combined,
    CommunityEnsemble,
    EstimatorEnsemble,
    KMeansEnsemble,
    LACEnsemble,
)
from consilience.generate._base import Generator
from consilience.generate.checkpoint import RunFolder


@pytest.fixture(params=sorted(GENERATORS))
def name(request):
    return request.param


def test_every_generator_is_tried():
    offered = {
        thing
        for thing in map(vars(generate).get, generate.__all__)
        if isinstance(thing, type) and issubclass(thing, Generator | Combined)
    }
    tried = {type(generator) for generator in GENERATORS.values()}
    assert offered == tried | {CommunityEnsemble}  # of graphs: test_communities.py


def test_what_places_new_objects_is_kept_with_the_members(name, X):
    folder, made, _ = whole_run(name)
    again = seeded(name)
    again.generate(X, checkpoint=RunFolder(folder.name))
    for first, second in zip(made.models_, again.models_, strict=True):
        assert (first is None) == (second is None)
        if first is not None:
            np.testing.assert_array_equal(first.values, second.values)
            np.testing.assert_array_equal(first.features, second.features)
            assert first.unit == second.unit


def test_keeping_members_does_not_change_them(name, X):
    folder, _, kept = whole_run(name)
    assert_same(kept, seeded(name).generate(X))
    run = RunFolder(folder.name)
    assert run.finished == list(range(kept.n_members))
    assert run.n_members == kept.n_members
    assert repr(run) == f"RunFolder({kept.n_members} of {kept.n_members} members)"
    assert_same(run.ensemble(), kept)
    assert_clean(folder.name)


@settings(max_examples=5)
@given(data=st.data())
@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_any_members_resumed_give_the_whole(name, data):
    folder, before, whole = whole_run(name)
    gone = data.draw(st.sets(st.integers(0, whole.n_members - 1)))
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(folder.name, place, dirs_exist_ok=True)
        # Members are numbered through all parts, as the sorted files are.
        for path in [path for n, path in enumerate(member_files(place)) if n in gone]:
            path.unlink()
        run, generator = RunFolder(place), seeded(name)
        assert run.finished == [n for n in range(whole.n_members) if n not in gone]
        assert_same(generator.generate(make_data(), checkpoint=run), whole)
        assert_clean(place)
        assert untimed(generator.records_) == untimed(before.records_)
    if name == "lac":
        for first, second in zip(generator.runs_, before.runs_, strict=True):
            np.testing.assert_array_equal(first.centres, second.centres)
            np.testing.assert_array_equal(first.weights, second.weights)


@pytest.mark.parametrize("name", ["kmeans sub-sampled", "estimators"])
def test_workers_change_nothing_and_may_be_others_on_resuming(name, X, tmp_path):
    whole = whole_run(name)[2]
    two = seeded(name).set_params(n_jobs=2)
    assert_same(two.generate(X, checkpoint=RunFolder(tmp_path)), whole)
    for path in member_files(tmp_path)[1::2]:
        path.unlink()
    assert_same(two.generate(X, checkpoint=RunFolder(tmp_path)), whole)
    member_files(tmp_path)[0].unlink()
    assert_same(seeded(name).generate(X, checkpoint=RunFolder(tmp_path)), whole)


def test_frames_and_sparse_data_can_be_resumed(X, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=[f"row{i}" for i in range(len(X))])
    generator = KMeansEnsemble(10, 3, random_state=0)
    for place, data in (("frame", frame), ("sparse", sparse.csr_array(np.where(X > 1, X, 0)))):
        whole = generator.generate(data, checkpoint=RunFolder(tmp_path / place))
        for path in member_files(tmp_path / place)[::3]:
            path.unlink()
        resumed = generator.generate(data, checkpoint=RunFolder(tmp_path / place))
        assert_same(resumed, whole)
    generator.generate(frame, checkpoint=RunFolder(tmp_path / "frame"))
    assert RunFolder(tmp_path / "frame").ensemble(index=frame.index).index[3] == "row3"


def test_without_a_seed_the_seeds_of_the_plan_hold(X, tmp_path):
    for generator in (KMeansEnsemble(10, 3), Combined([KMeansEnsemble(5, 3), LACEnsemble(2, 2)])):
        place = tmp_path / type(generator).__name__
        whole = generator.generate(X, checkpoint=RunFolder(place))
        for path in member_files(place)[::2]:
            path.unlink()
        assert_same(clone(generator).generate(X, checkpoint=RunFolder(place)), whole)


def test_members_that_failed_are_tried_again(X, tmp_path):
    generator = EstimatorEnsemble(Odd(), n_members=12, random_state=0)
    for _ in range(2):
        with pytest.warns(ConsilienceWarning, match="of 12 members failed.*odd seed"):
            ensemble = generator.generate(X, checkpoint=RunFolder(tmp_path))
        assert len(generator.records_) == 12
        assert len(RunFolder(tmp_path).finished) == ensemble.n_members < 12
