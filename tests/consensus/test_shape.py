"""One shape for consensus estimators: parameters, rules, words, fitted attributes, the table."""

import inspect
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from consilience import Ensemble, consensus
from consilience.consensus import CONSENSUS, ConsensusResult
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.generate import KMeansEnsemble

ESTIMATORS = {
    name: getattr(consensus, name)
    for name in consensus.__all__
    if inspect.isclass(getattr(consensus, name))
    and issubclass(getattr(consensus, name), BaseEstimator)
    and name != "Communities"  # it takes a graph, and has tests of its own
}
LAST = ["generator", "random_state", "n_jobs", "confidence"]
# The function's; the estimator makes them itself.
NOT_PARAMETERS = {"wspa": {"runs"}, "wbpa": {"runs"}}
ENSEMBLE = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
X = np.concatenate([np.random.default_rng(0).normal(c, 0.5, (15, 2)) for c in (0.0, 4.0)])


@pytest.fixture(params=sorted(CONSENSUS))
def method(request):
    return CONSENSUS[request.param]


def parameters(call):
    return dict(inspect.signature(call).parameters)


def section(thing, title):
    """Names that a section of a docstring has an entry for."""
    text = inspect.cleandoc(thing.__doc__)
    inside = re.search(rf"^{title}\n-+\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^(\w[^:\n]*?)(?: :.*)?$", inside[1] if inside else "", re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


def test_an_estimator_has_the_parameters_of_its_function(method):
    own = parameters(method.estimator)
    names = [n for n in method.options if n not in NOT_PARAMETERS.get(method.name, ())]
    assert list(own) == ["n_clusters", *names, *LAST]
    of_function = parameters(method.function)
    common = ["X", "random_state", "n_jobs"]
    assert list(of_function) == ["ensemble", "n_clusters", *method.options, *common]
    for name in names:
        assert own[name].default == of_function[name].default, name
        # What the function takes, the estimator may take in other forms as well.
        wider = (method.name, name) == ("eeac", "reference")
        assert wider or own[name].annotation == of_function[name].annotation, name


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_only_the_first_parameter_may_be_given_by_position(name):
    first, *others = parameters(ESTIMATORS[name]).values()
    assert first.kind is first.POSITIONAL_OR_KEYWORD
    assert {one.kind for one in others} == {inspect.Parameter.KEYWORD_ONLY}
    with pytest.raises(TypeError, match="positional argument"):
        ESTIMATORS[name](2, 3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        ESTIMATORS[name](nonsense=1)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_parameters_survive_scikit_learn_and_pickle(name):
    model = ESTIMATORS[name](random_state=3).set_params(n_jobs=2)
    assert model.get_params(deep=False).keys() == parameters(ESTIMATORS[name]).keys()
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert type(copy) is type(model)
        assert copy.get_params(deep=False) == model.get_params(deep=False)
        assert vars(copy) == copy.get_params(deep=False)


def test_estimators_of_others_may_derive_from_ours():
    class Stated(consensus.EAC):
        """One more parameter, stated."""

        depth: int = 3

    class Written(consensus.EAC):
        """A constructor of its own."""

        def __init__(self, n_jobs=None, *, depth=3, n_clusters=None):
            super().__init__(n_clusters, n_jobs=n_jobs)
            self.depth = depth

    assert list(parameters(Stated))[-5:] == ["depth", *LAST]
    assert list(parameters(Written)) == ["n_jobs", "depth", "n_clusters"]
    for model in (Stated(2, depth=4), Written(depth=4, n_clusters=2)):
        assert clone(model).get_params()["depth"] == 4
        assert model.fit(ensemble=ENSEMBLE).n_clusters_ == 2


def test_every_parameter_has_a_rule_that_function_and_estimator_keep(method):
    ensemble = Ensemble([[0, 0, 1, 1, 2], [0, 0, 1, 2, 2]])
    assert set(method.rules) == {"n_clusters", *method.options}
    for name in [*method.options, "random_state", "n_jobs"]:
        with pytest.raises(InvalidParameterError) as by_function:
            method.function(ensemble, 2, **{name: object})
        assert f"The {name!r} parameter of {method.estimator_name} must" in str(by_function.value)
        if name in NOT_PARAMETERS.get(method.name, ()):
            continue
        with pytest.raises(InvalidParameterError) as by_estimator:
            method.estimator(2, **{name: object}).fit(ensemble=ensemble)
        if (method.name, name) != ("eeac", "reference"):
            assert str(by_function.value) == str(by_estimator.value)


def test_every_parameter_is_documented_once(method):
    for thing in (method.function, method.estimator):
        assert sorted(section(thing, "Parameters")) == sorted(parameters(thing))


# ---- fitted attributes ---------------------------------------------------------------------


def fitted(model):
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


def documented(cls):
    """What stands in the docstring; data here have no names of columns."""
    return set(section(cls, "Attributes")) - {"feature_names_in_"}


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"MontiConsensus"}))
def test_every_documented_attribute_is_there_whatever_had_to_be_solved(name):
    cls = ESTIMATORS[name]
    members = KMeansEnsemble(8, (2, 5), random_state=0).generate(X)
    nobody = Ensemble(np.full((30, 3), -1))
    unanimous = Ensemble([np.repeat([0, 1], 15)] * 3)
    some = Ensemble(np.where(np.arange(30)[:, None] < 2, -1, members.labels))
    one, two = (({"n_clusters": k} if name != "AmbiguityAware" else {}) for k in (1, 2))
    cases = [(one, members), (two, members), (two, unanimous), (two, nobody), (two, some)]
    for params, ensemble in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsilienceWarning)
            model = cls(**params, random_state=0).fit(X, ensemble=ensemble)
        assert fitted(model) == documented(cls)
        assert isinstance(model.details_, dict)
        assert model.labels_.shape == (30,)


def test_attributes_of_monti_are_there():
    model = consensus.MontiConsensus(2, n_resamples=5, random_state=0).fit(X)
    assert fitted(model) == documented(consensus.MontiConsensus)


def test_what_a_function_finds_is_what_its_estimator_stores(method):
    members = KMeansEnsemble(8, (2, 5), random_state=0).generate(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        result = method.run(members, 2, X, random_state=0)
        model = method.estimator(2, random_state=0).fit(X, ensemble=members)
    assert isinstance(result, ConsensusResult)
    for name in ConsensusResult.__dataclass_fields__:
        np.testing.assert_equal(getattr(model, f"{name}_"), getattr(result, name))


# ---- the table runs its methods ------------------------------------------------------------


def test_an_option_that_a_method_does_not_have_is_refused_by_name(method):
    for name in ("nonsense", "ensemble_", "generator"):
        with pytest.raises(InvalidParameterError) as refused:
            method.run(ENSEMBLE, 2, **{name: 1})
        text = str(refused.value)
        assert text.startswith(f"The method {method.name!r} has no parameter {name!r} of its own")
        assert all(option in text for option in method.options)


def test_options_are_handed_on():
    found = CONSENSUS["eac"].run(ENSEMBLE, 3, linkage="single", min_size=1)
    wanted = consensus.eac(ENSEMBLE, 3, linkage="single")
    np.testing.assert_array_equal(found.linkage, wanted.linkage)
    with pytest.raises(InvalidParameterError, match="'linkage' parameter of EAC must be one of"):
        CONSENSUS["eac"].run(ENSEMBLE, 3, linkage="centroid")


def test_the_number_may_be_left_out_where_the_method_finds_it(method):
    data = np.arange(12.0).reshape(6, 2)
    if method.needs_n_clusters:
        with pytest.raises(InvalidParameterError, match=r"'n_clusters' .* Got None instead"):
            method.run(ENSEMBLE, X=data)
    else:
        labels = method.run(ENSEMBLE).labels
        np.testing.assert_array_equal(labels, method.function(ENSEMBLE).labels)


def test_seed_and_threads_are_taken_by_every_method(method):
    data = np.arange(12.0).reshape(6, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        runs = [method.run(ENSEMBLE, 2, data, random_state=0, n_jobs=jobs) for jobs in (None, 2)]
    np.testing.assert_array_equal(runs[0].labels, runs[1].labels)
    with pytest.raises(InvalidParameterError, match="'n_jobs' parameter of"):
        method.run(ENSEMBLE, 2, data, n_jobs=0)


@pytest.mark.parametrize("name", sorted(CONSENSUS))
def test_a_warning_points_at_the_line_that_called(name):
    members = Ensemble([[0, 0, 1, 1, None], [0, 0, 1, 1, None]])
    data = np.arange(10.0).reshape(5, 2)
    calls = [
        lambda: CONSENSUS[name].function(members, 2, X=data),
        lambda: CONSENSUS[name].run(members, 2, data),
        lambda: CONSENSUS[name].estimator(2).fit(data, ensemble=members),
    ]
    for call in calls:
        with pytest.warns(ConsilienceWarning, match="seen by no member") as caught:
            call()
        assert {one.filename for one in caught} == {__file__}


def test_every_method_has_an_example_of_its_function_and_its_class(method):
    for thing in (method.function, method.estimator):
        _, _, example = thing.__doc__.partition("\nExamples\n--------\n")
        assert example.startswith(">>> ")
        assert f"{thing.__name__}(" in example
