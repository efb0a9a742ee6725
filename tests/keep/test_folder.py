"""Folders that keep results and estimators: what comes back, and what is refused."""

import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.errors import InvalidInputError
from consilience.generate import GraphEnsemble, KMeansEnsemble
from consilience.keep import _folder
from consilience.keep._folder import _digest, _digest_of

STORED = Path(__file__).parent / "stored"


def data(n_each=30, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(c, 1, (n_each, 3)) for c in ((0, 0, 0), (7, 0, 7))])


NEW = data(10, seed=1)


@pytest.fixture(scope="module")
def result():
    return cs.cluster(data(), n_members=10, effort="quick", random_state=0)


@pytest.fixture
def folder(result, tmp_path):
    result.save(tmp_path / "kept")
    return tmp_path / "kept"


def assert_same(found, wanted):
    for name in ("labels", "confidence", "runner_up", "unlike", "known"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


# ---- what comes back --------------------------------------------------------------------------


def test_a_result_comes_back_whole(result, folder):
    again = cs.load(folder)
    assert repr(again) == repr(result)
    assert again.to_dict() == result.to_dict()
    assert again.page() == result.page()
    np.testing.assert_array_equal(again.data.X, result.data.X)
    assert_same(again.predict(NEW), result.predict(NEW))


def test_a_fresh_process_says_the_same_bits(result, folder, tmp_path):
    np.save(tmp_path / "new.npy", NEW)
    code = (
        "import sys, numpy as np, consilience as cs\n"
        "found = cs.load(sys.argv[1]).predict(np.load(sys.argv[2]))\n"
        "sys.stdout.buffer.write(found.confidence.tobytes() + found.labels.tobytes())\n"
    )
    words = [sys.executable, "-c", code, str(folder), str(tmp_path / "new.npy")]
    found = subprocess.run(words, check=True, capture_output=True).stdout
    wanted = result.predict(NEW)
    assert found == wanted.confidence.tobytes() + wanted.labels.tobytes()


def test_saving_twice_gives_the_same_files(result, folder, tmp_path):
    result.save(tmp_path / "again")
    cs.load(folder).save(tmp_path / "loaded")
    for name in ("model.json", "model.npz"):
        wanted = (folder / name).read_bytes()
        assert (tmp_path / "again" / name).read_bytes() == wanted
        assert (tmp_path / "loaded" / name).read_bytes() == wanted


@pytest.mark.parametrize(
    "model",
    [
        cs.EAC(2, generator=KMeansEnsemble(6, 4), random_state=0),
        cs.AutoConsensus(generator=GraphEnsemble(4, 4), effort="quick", random_state=0),
        cs.AmbiguityAware(cs.KCC(2), generator=KMeansEnsemble(6, 4), random_state=0),
        cs.MontiConsensus((2, 3), n_resamples=8, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_estimator_comes_back(model, tmp_path):
    model.fit(data())
    model.save(tmp_path)
    again = cs.load(tmp_path)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.ensemble_.labels, model.ensemble_.labels)
    assert_same(again.predict_info(NEW), model.predict_info(NEW))
    with pytest.raises(ValueError, match="3 features"):
        again.predict(NEW[:, :2])


def test_several_methods_come_back_with_their_comparison_but_for_the_seconds(tmp_path):
    truth = np.repeat([0, 1], 15)
    X = np.random.default_rng(0).normal(size=(30, 2)) + 5 * truth[:, None]
    made = cs.cluster(X, 2, methods=["eac", "kcc"], truth=truth, n_members=5, random_state=0)
    made.save(tmp_path / "kept")
    again = cs.load(tmp_path / "kept").comparison
    for name in ("names", "best", "failed"):
        assert getattr(again, name) == getattr(made.comparison, name)
    for name in ("n_clusters", "anmi", "agreement"):
        np.testing.assert_array_equal(getattr(again, name), getattr(made.comparison, name))
    for name in ("labels", "truth"):
        kept, wanted = getattr(again, name), getattr(made.comparison, name)
        assert list(kept) == list(wanted)
        for key, values in wanted.items():
            np.testing.assert_array_equal(kept[key], values)
    assert again.seconds.tolist() == [0.0, 0.0]


def test_labels_only_come_back_and_still_say_what_they_lack(tmp_path):
    members = [[0, 0, 1, 1], [0, 0, 1, 1]]
    cs.cluster(ensemble=members, n_clusters=2, random_state=0).save(tmp_path)
    with pytest.raises(InvalidInputError, match="labels only"):
        cs.load(tmp_path).predict([[1.0]])
    cs.EAC(2).fit(ensemble=members).save(tmp_path)
    assert not hasattr(cs.load(tmp_path), "predict")


# ---- what earlier versions wrote --------------------------------------------------------------


@pytest.mark.parametrize("name", ["result-1", "estimator-1"])
def test_what_was_stored_by_earlier_versions_is_loaded(name):
    """Made by ``python tests/keep/make_stored.py`` when the format was new; never made again."""
    kept = cs.load(STORED / name)
    wanted = json.loads((STORED / f"{name}.json").read_text())
    found = kept.predict(np.array(wanted["new"]))
    labels = found.labels if hasattr(found, "labels") else found
    assert labels.tolist() == wanted["labels"]
    own = kept.labels if hasattr(kept, "labels") else kept.labels_
    assert own.tolist() == wanted["own"]


# ---- what is refused --------------------------------------------------------------------------


def edited(folder, change):
    """Change the facts by hand."""
    path = folder / "model.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))


def signed(folder, **more):
    """Facts that fit the arrays there are, as somebody would write them who means harm."""

    def change(facts):
        facts.pop("facts")
        facts.update(arrays=_digest_of(folder / "model.npz"), **more)
        facts["facts"] = _digest(facts)

    edited(folder, change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda facts: facts.update(format=99), "format 99.*newer one"),
        (lambda facts: facts["value"].update({"~kind": "os.system"}), "changed since"),
        (lambda facts: facts.pop("facts"), "changed since"),
        (lambda facts: facts.pop("format"), "damaged, or consilience did not write it"),
    ],
)
def test_facts_changed_by_hand_are_refused(folder, change, words):
    edited(folder, change)
    with pytest.raises(InvalidInputError, match=words):
        cs.load(folder)


def test_kinds_that_nobody_knows_are_refused(folder):
    signed(folder, value={"~kind": "os.system", "fields": {}})
    with pytest.raises(InvalidInputError, match="this version cannot use"):
        cs.load(folder)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"consilience": "1"}', "[" * 100_000])
def test_facts_that_are_not_ours_are_refused(folder, text):
    (folder / "model.json").write_text(text)
    with pytest.raises(InvalidInputError, match="Save it again"):
        cs.load(folder)
    before = (folder / "model.json").read_bytes()
    with pytest.raises(InvalidInputError, match=r"is not replaced\. Name another folder"):
        cs.EAC(2).fit(ensemble=[[0, 1], [0, 1]]).save(folder)
    assert (folder / "model.json").read_bytes() == before


def test_too_large_facts_are_not_read(folder, monkeypatch):
    monkeypatch.setattr(_folder, "_LARGEST", 100)
    with pytest.raises(InvalidInputError, match="larger than any"):
        cs.load(folder)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class Harm:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("harmed"),)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"a0.npy": npy(np.array([Harm()], object))}, "holds a pickle"),
        ({"a0.npy": pickle.dumps(Harm())}, "cannot be used"),
        ({"../a0.npy": npy(np.zeros(2))}, "no array as consilience writes them"),
        ({"/tmp/a0.npy": npy(np.zeros(2))}, "no array as consilience writes them"),
        ({"a0.npy": npy(np.zeros(9))[:-8]}, "not as long as it says"),
        ({"a0.npy": npy(np.zeros(1)).replace(b"(1,)", b"(9,)")}, "not as long as it says"),
    ],
)
def test_archives_that_mean_harm_are_refused(folder, entries, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(folder / "model.npz", "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    signed(folder)
    with pytest.raises(InvalidInputError, match=words):
        cs.load(folder)
    assert not (tmp_path / "harmed").exists()


def test_an_archive_that_unpacks_to_more_than_it_is_is_refused(folder):
    with zipfile.ZipFile(folder / "model.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a0.npy", npy(np.zeros(10**6)))
    signed(folder)
    with pytest.raises(InvalidInputError, match="more than its own size"):
        cs.load(folder)


def test_arrays_of_another_run_damaged_or_missing_are_refused(folder, tmp_path):
    arrays = folder / "model.npz"
    whole = arrays.read_bytes()
    arrays.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(InvalidInputError, match=r"model\.npz .* is damaged, or not the one"):
        cs.load(folder)
    arrays.unlink()
    with pytest.raises(InvalidInputError, match=r"There is no model\.npz"):
        cs.load(folder)
    with pytest.raises(InvalidInputError, match=r"keeps nothing to load.*--no-keep"):
        cs.load(tmp_path)


def test_files_of_others_are_not_replaced(result, tmp_path):
    (tmp_path / "model.npz").write_text("mine")
    with pytest.raises(InvalidInputError, match="did not write"):
        result.save(tmp_path)
    assert (tmp_path / "model.npz").read_text() == "mine"
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInputError, match="is a file"):
        result.save(tmp_path / "file")


def test_folders_above_are_made(result, tmp_path):
    place = tmp_path / "not" / "there" / "yet"
    result.save(place)
    np.testing.assert_array_equal(cs.load(place).labels, result.labels)


def test_records_of_members_are_kept_but_for_the_seconds_they_took(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    result = cs.cluster(X, 2, n_members=5, random_state=0)
    result.save(tmp_path / "kept")
    again = cs.load(tmp_path / "kept").ensemble.records
    assert all("seconds" in one for one in result.ensemble.records)
    without = [{k: v for k, v in one.items() if k != "seconds"} for one in result.ensemble.records]
    assert [dict(one) for one in again] == without
