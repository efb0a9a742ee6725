"""Answers of the explorer at their limits: alone, left out, unseen, no groups, any address."""

import socket
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from consilience import Ensemble
from consilience.errors import InvalidParameterError
from consilience.evidence import co_association
from consilience.explore import _cuts, _door, _make, _page, _serve
from consilience.explore._cuts import Cuts, cuts_of
from consilience.explore._maps import _axes, map_of_columns, map_of_evidence
from consilience.explore._questions import _pairs_with, member_votes
from consilience.explore._wire import narrow


def votes(members, groups, row):
    return member_votes(np.array(members, np.int8), np.array(groups), row)


def test_a_member_votes_for_the_group_most_of_which_is_with_the_object():
    groups = [0, 0, 0, 1, 1, -1]
    # With one of the two others of its group, and with both of the other one.
    assert votes([[0, 0, 1, 0, 0, 0]], groups, 0) == [1]
    assert votes([[0, 0, 0, 0, 1, 1]], groups, 0) == [0]
    # As many of either: nobody wins; with nobody: neither.
    assert votes([[0, 0, 1, 0, 1, 1]], groups, 0) == [-1]
    assert votes([[0, 1, 1, 1, 1, 0]], groups, 0) == [-1]
    assert votes([[-1, 0, 0, 0, 0, 0], [-2, 0, 0, 0, 0, 0]], groups, 0) == [-2, -3]
    # An object of no group may still be with one.
    assert votes([[0, 1, 1, 2, 2, 2]], groups, 5) == [1]


def test_the_only_one_of_its_group_is_with_it_where_it_is_alone():
    assert votes([[0, 1, 1], [0, 0, 1], [0, 1, -1]], [0, 1, 1], 0) == [0, 1, 0]


def test_pairs_are_counted_where_a_member_saw_both():
    members = np.array([[0, 0, -2, -1], [-1, -1, 0, 0], [-2, 1, 1, 1], [2, 2, 2, 0]], np.int8)
    both, same = _pairs_with(members, 0)
    assert both.tolist() == [3, 3, 2, 3]
    assert same.tolist() == [2, 2, 1, 0]


def test_nobody_in_a_group_has_one_cut():
    found = cuts_of(Ensemble([[0, 1, 1]]), np.full(3, -1, np.int32), None, seed=0)
    assert isinstance(found, Cuts)
    assert (found.least, found.most) == (0, 0)
    assert found.labels(0).tolist() == [-1, -1, -1]


def test_objects_that_are_no_rows_have_no_columns():
    names = {"n_objects": 2, "original_columns": ("a", "b"), "sources": ()}
    for original in (["ab", "cd"], None):
        assert _make._columns(SimpleNamespace(original=original, **names)).names == ()
    found = _make._columns(SimpleNamespace(original=np.eye(2), **names))
    assert found.names == ("a", "b")
    unnamed = _make._columns(
        SimpleNamespace(original=np.eye(2), **names | {"original_columns": ()})
    )
    assert len(unnamed.names) == 2


@pytest.mark.parametrize(
    ("host", "there", "not_there"),
    [
        ("127.0.0.1", {"127.0.0.1:7", "localhost:7", "[::1]:7"}, set()),
        ("::1", {"127.0.0.1:7", "localhost:7", "[::1]:7"}, set()),
        ("localhost", {"127.0.0.1:7", "localhost:7", "[::1]:7"}, set()),
        ("10.1.2.3", {"10.1.2.3:7"}, {"localhost:7", "127.0.0.1:7"}),
        ("Example.org", {"example.org:7"}, {"localhost:7", "Example.org:7"}),
        ("0.0.0.0", {"localhost:7", "me:7", "10.9.9.9:7", "[fe80::1]:7"}, set()),
        ("::", {"localhost:7", "me:7", "10.9.9.9:7"}, set()),
    ],
)
def test_names_that_a_browser_may_call_it_by(host, there, not_there, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Me")
    found = [(0, 0, 0, "", (address, 0)) for address in ("10.9.9.9", "fe80::1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda name, port: found if name == "Me" else [])
    names = _serve._hosts(host, 7)
    assert there <= names
    assert not not_there & names
    if host not in ("0.0.0.0", "::"):
        assert "me:7" not in names


def test_a_machine_whose_name_nobody_knows_is_called_by_it(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "me")

    def unknown(*_):
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert "me:7" in _serve._hosts("0.0.0.0", 7)


@pytest.mark.parametrize("browser", [False, True])
def test_outside_a_notebook_there_is_a_server(browser, monkeypatch):
    opened, served = [], SimpleNamespace(url="http://here")
    monkeypatch.setattr(_door, "view", lambda result: f"view of {result}")
    asked = []
    monkeypatch.setattr(
        _door, "serve", lambda shown, **where: asked.append((shown, where)) or served
    )
    monkeypatch.setattr(_door.webbrowser, "open", opened.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert _door.explore("x", host="h", port=3, browser=browser) is served
    assert asked == [("view of x", {"host": "h", "port": 3})]
    assert opened == ["http://here"] * browser


def test_a_notebook_is_known_by_its_kernel(monkeypatch):
    for shell, there in ((None, False), (object(), False), (SimpleNamespace(kernel=1), True)):
        module = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", module)
        assert _door.in_notebook() is there
    monkeypatch.delitem(sys.modules, "IPython")
    assert not _door.in_notebook()


def test_a_report_of_very_many_objects_has_no_data_to_explore(monkeypatch):
    monkeypatch.setattr(_page, "_MOST_IN_REPORT", 5)
    monkeypatch.setattr(_page, "view", lambda result: "view")
    monkeypatch.setattr(_page, "static_data", lambda shown, most, share: f"{shown} {share}")
    assert _page.report_data(SimpleNamespace(n_objects=5)) == "view 0.25"
    assert _page.report_data(SimpleNamespace(n_objects=6)) == ""


def test_numbers_take_the_narrowest_type_that_holds_them():
    for values, kind in (
        ([127, -128], "i1"), ([128], "i2"), ([-129], "i2"), ([32_767, -32_768], "i2"),
        ([32_768], "i4"), ([2**31 - 1], "i4"), ([2**31], "f8"), ([0.5], "f4"), ([0.1], "f8"),
        ([np.nan, 1], "f4"), ([np.inf], "f4"), ([1e300], "f8"), ([], "i1"),
    ):  # fmt: skip
        found = narrow(np.array(values, np.float64))
        assert found.dtype.str[1:] == kind, values
        np.testing.assert_array_equal(found, values)


def test_components_beyond_single_precision_keep_their_proportions():
    X = np.random.default_rng(0).normal(size=(20, 4)) * [4, 2, 1, 1]
    plain, huge = (map_of_columns(X * unit, tuple("abcd")).places for unit in (1.0, 2.0**400))
    ratios = [np.divide(*np.ptp(places, axis=0)) for places in (plain, huge)]
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-4)
    assert 0.1 < np.abs(huge).max() <= 1


def test_two_objects_have_a_map_of_evidence_too():
    found = map_of_evidence(Ensemble([[0, 1]]), np.array([0, 1], np.int32), seed=0)
    assert found.places.shape == (2, 2)
    assert np.isfinite(found.places).all()


def test_wards_tree_takes_one_less_the_co_association_for_squared_distances():
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 3, (12, 60)))
    tree = _cuts._ward(ensemble, np.arange(12))
    roots = np.sqrt(1 - co_association(ensemble, form="condensed"))
    np.testing.assert_allclose(tree[:, 2], linkage(roots, "ward")[:, 2] ** 2, rtol=1e-6)
    assert len(_cuts._ward(ensemble, np.arange(1))) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("100000", "must be a number of groups"),
        ("99999", "must be from 2 to 4"),
        ("-1", "must be a number"),
        ("²", "must be a number"),
        ("1", "must be from"),
        ("5", "must be from"),
    ],
)
def test_a_question_names_a_number_of_groups_there_is(text, said):
    pytest.importorskip("starlette")
    from consilience.explore import _server

    asked = next(
        one for one in vars(_server).values() if isinstance(one, type) and hasattr(one, "_cut")
    )
    here = SimpleNamespace(shown=SimpleNamespace(cuts=SimpleNamespace(least=2, most=4)))
    with pytest.raises(InvalidParameterError, match=said):
        asked._cut(here, SimpleNamespace(query_params={"k": text}))
    for right, number in (("2", 2), ("4", 4), ("", None)):
        assert asked._cut(here, SimpleNamespace(query_params={"k": right})) == number


def test_waiting_ends_with_the_server():
    asked = []
    alive = iter([True, True, False])
    thread = SimpleNamespace(is_alive=lambda: next(alive), join=asked.append)
    _serve.Served("http://here", None, thread).wait()
    assert asked == [0.5, 0.5]


def test_stopping_tells_the_server_and_waits_for_it():
    asked, server = [], SimpleNamespace(should_exit=False)
    _serve.Served("http://here", server, SimpleNamespace(join=asked.append)).stop()
    assert server.should_exit is True
    assert asked == [30.0]


def test_a_notebook_asks_for_the_groups_of_a_selection(monkeypatch):
    from consilience.explore import _widget

    monkeypatch.setattr(
        _widget, "groups_inside", lambda view, rows, cut: (view, rows.tolist(), cut)
    )
    rows = np.array([3, 1], "<u4").tobytes()
    found = _widget.answered("view", {"ask": "inside", "k": 5}, [rows])
    assert found == (("view", [3, 1], 5), [])
    assert _widget.answered("view", {"ask": "inside"}, [])[0] == ("view", [], None)


def test_objects_that_nothing_is_known_of_lie_in_a_row():
    data = SimpleNamespace(X=None, columns=(), n_objects=4)
    (only,), (missing,) = _make._maps(data, None)
    assert only.name == "rows"
    np.testing.assert_array_equal(only.places[:, 0], np.arange(4))
    assert missing.startswith("No map of the columns: There are no columns")
    evidence = only._replace(name="evidence")
    assert _make._maps(data, evidence)[0] == (evidence,)


def test_a_server_says_nothing_of_itself_and_ends_with_the_process(monkeypatch):
    asked, threads = {}, []

    class Thread:
        def __init__(self, **how):
            threads.append(how)

        def start(self):
            threads.append("started")

        def is_alive(self):
            return False

    def config(shown, **how):
        asked.update(how)
        return shown

    uvicorn = SimpleNamespace(
        Config=config, Server=lambda shown: SimpleNamespace(run="run", started=False)
    )
    socket_ = SimpleNamespace(getsockname=lambda: ("127.0.0.1", 4711))
    monkeypatch.setattr(_serve, "optional", lambda *_, **__: uvicorn)
    monkeypatch.setattr(_serve, "_bound", lambda host, port: socket_)
    monkeypatch.setattr(_serve, "application", lambda *given: given)
    monkeypatch.setattr(_serve.threading, "Thread", Thread)
    for host, called in (("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("0.0.0.0", "me")):
        monkeypatch.setattr(socket, "gethostname", lambda: "me")
        served = _serve.serve("view", host=host)
        assert served.url.startswith(f"http://{called}:4711/?token=")
    assert asked == {
        "log_level": "warning", "access_log": False, "lifespan": "off", "server_header": False,
        "date_header": False, "timeout_graceful_shutdown": 1,
    }  # fmt: skip
    assert threads[1] == "started"
    assert threads[0] == {
        "target": "run", "kwargs": {"sockets": [socket_]}, "name": "consilience-explore",
        "daemon": True,
    }  # fmt: skip


def test_ports_end_at_65535_and_a_listener_lets_many_wait(monkeypatch):
    asked = []

    class Listener:
        def __init__(self, *kind):
            asked.append(kind)

        def setsockopt(self, *how):
            asked.append(how)

        def bind(self, where):
            asked.append(where)

        def listen(self, many):
            asked.append(many)

    monkeypatch.setattr(socket, "socket", Listener)
    for host, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
        for port in (0, 65535):
            asked.clear()
            _serve._bound(host, port)
            assert asked[0] == (family, socket.SOCK_STREAM)
            assert asked[1] == (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            assert asked[2:] == [(host, port), 64]


def test_what_is_no_number_is_never_said():
    pytest.importorskip("starlette")
    from consilience.explore._server import _Answers

    with pytest.raises(ValueError, match="JSON"):
        _Answers(None)._said(lambda: float("nan"))


def test_a_title_cannot_leave_its_element(monkeypatch):
    from consilience.explore import _widget

    monkeypatch.setattr(_widget, "thin", lambda view, most: (view, most))
    monkeypatch.setattr(_widget, "static_page", lambda shown: f'<a b="{shown[1]}">')
    found = _widget.as_iframe(SimpleNamespace(title='x" onload="y'))
    assert 'title="x&quot; onload=&quot;y"' in found
    assert 'srcdoc="&lt;a b=&quot;5000&quot;&gt;"' in found


def test_an_object_that_is_always_alone_has_a_place_of_its_own():
    labels = np.array([0, 0, 0, 1, 1, 1, 2], np.int32)
    places = _axes(Ensemble([labels.tolist()] * 4), labels, 0)
    assert np.abs(places[6]).max() > 0.1
    assert np.abs(places[:6] - places[6]).max(axis=1).min() > 0.1
