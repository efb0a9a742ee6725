"""Graphs in any form come to one matrix; what is no graph is refused by name."""

import gzip
import warnings

import numpy as np
import pytest
from scipy import io, sparse

from consilience.datasets import Graph, as_graph, read_graph
from consilience.errors import ConsilienceError, ConsilienceWarning, InvalidInputError

EDGES = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]
WEIGHTS = [1.0, 2.0, 0.5, 3.0, 1.0]


def matrix(edges=EDGES, weights=WEIGHTS, n=5):
    found = np.zeros((n, n))
    for (i, j), w in zip(edges, weights, strict=True):
        found[i, j] = found[j, i] = w
    return found


def forms():
    full = matrix()
    triples = [(*edge, w) for edge, w in zip(EDGES, WEIGHTS, strict=True)]
    yield "triples", triples
    yield "array", np.array(triples)
    yield "dense", full
    yield "csr", sparse.csr_array(full)
    yield "csc matrix", sparse.csc_matrix(full)
    yield "coo", sparse.coo_array(full)
    yield "read-only", np.array(triples)
    yield "graph", as_graph(triples)


@pytest.mark.parametrize(("name", "form"), [*forms()], ids=[name for name, _ in forms()])
def test_all_forms_give_the_same_graph(name, form):
    if isinstance(form, np.ndarray):
        form.flags.writeable = False
    graph = as_graph(form)
    np.testing.assert_allclose(graph.adjacency.toarray(), matrix())
    assert graph.ids is None
    assert (graph.n_objects, graph.n_edges) == (5, 5)
    first, second, weights = graph.edges()
    assert {*zip(first.tolist(), second.tolist(), strict=True)} == {*EDGES}
    assert weights.sum() == sum(WEIGHTS)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_of_edges(package):
    frames = pytest.importorskip(package)
    columns = {
        "a": ["u", "v", "u", "z"],
        "b": ["v", "w", "w", None],
        "w": [1.0, 2.0, 3.0, 0.0],
    }
    with pytest.warns(ConsilienceWarning, match="1 node of 4 has no edges"):
        graph = as_graph(frames.DataFrame(columns))
    assert graph.ids.tolist() == ["u", "v", "w", "z"]
    assert graph.isolated.tolist() == [False, False, False, True]
    assert graph.adjacency[0, 2] == 3.0


@pytest.mark.parametrize("kind", ["Int64", "string", "object", "float64"])
def test_a_frame_may_lack_a_second_node_in_any_type(kind):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0, 1, 2, 7], "b": [1, 2, 0, None]}).convert_dtypes()
    with pytest.warns(ConsilienceWarning, match="1 node of 4 has no edges"):
        graph = as_graph(frame.astype(kind))
    assert (graph.n_objects, graph.n_edges, graph.isolated.tolist()) == (4, 3, [False] * 3 + [True])


def test_columns_of_a_frame_may_share_a_name():
    pandas = pytest.importorskip("pandas")
    rows = [(0, 1, 2.0), (1, 2, 3.0), (2, 0, 0.5)]
    for names, width in ((["n", "n"], 2), (["n", "m", "m"], 3), (["n", "n", "n"], 3)):
        graph = as_graph(pandas.DataFrame([row[:width] for row in rows], columns=names))
        assert (graph.adjacency != as_graph([row[:width] for row in rows]).adjacency).nnz == 0


def test_networkx_graphs_keep_their_names_and_weights():
    networkx = pytest.importorskip("networkx")
    plain = networkx.Graph()
    plain.add_weighted_edges_from([("b", "a", 2.0), ("a", "c", 1.0)])
    graph = as_graph(plain)
    assert graph.ids.tolist() == ["b", "a", "c"]
    assert graph.adjacency[0, 1] == 2.0
    directed = networkx.DiGraph([(0, 1), (1, 0), (1, 2)])
    with pytest.warns(ConsilienceWarning) as said:
        graph = as_graph(directed)
    assert any("directed" in str(one.message) for one in said)
    assert (graph.adjacency[0, 1], graph.adjacency[1, 2]) == (2.0, 1.0)
    several = networkx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    with pytest.warns(ConsilienceWarning, match="added up"):
        assert as_graph(several).adjacency[0, 1] == 2.0
    tuples = as_graph(networkx.grid_2d_graph(2, 2))
    assert tuples.ids[1] == (0, 1)
    assert tuples.ids.shape == (4,)


def test_what_is_done_to_a_graph_is_said():
    with pytest.warns(ConsilienceWarning, match="node with itself"):
        graph = as_graph([(0, 1), (1, 2), (2, 2)])
    assert graph.n_edges == 2
    with pytest.warns(ConsilienceWarning, match="added up"):
        assert as_graph([(0, 1), (1, 0), (1, 2)]).adjacency[0, 1] == 2.0
    one_way = np.triu(matrix())
    with pytest.warns(ConsilienceWarning, match="directed"):
        np.testing.assert_allclose(as_graph(one_way).adjacency.toarray(), matrix())
    loops = matrix() + np.eye(5)
    with pytest.warns(ConsilienceWarning, match="5 edges of a node with itself"):
        np.testing.assert_allclose(as_graph(loops).adjacency.toarray(), matrix())
    with pytest.warns(ConsilienceWarning, match="have no edges"):
        graph = as_graph([(0, 1, 1.0), (1, 2, 0.0), (0, 3, 0.0)])
    assert (graph.n_edges, int(graph.isolated.sum())) == (1, 2)


def test_numbers_of_nodes_may_have_gaps():
    graph = as_graph(np.array([[10, 20], [20, 35], [10, 35]]))
    assert graph.ids.tolist() == [10, 20, 35]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (-matrix(), "negative"),
        ([(0, 1, -1.0)], "negative"),
        ([(0, 1, np.nan)], "not finite"),
        (np.where(matrix() > 2, np.inf, matrix()), "not finite"),
        ([], "edge list"),
        ([(0, 1), (0, 1, 2)], "edge list"),
        ([(0,)], "edge list"),
        (7, "edge list"),
        ("edges", "edge list"),
        (np.zeros((4, 4)), "no edges"),
        ([(1, 1)], "single node"),
        ([(1, 1), (2, 2)], "no edges"),
        (np.zeros((4, 5)), "shape"),
        (sparse.csr_array((3, 4)), "square"),
        (matrix().astype(complex), "type"),
        ([(0, 1, "heavy")], "no numbers"),
        ([(None, 1)], "first node"),
    ],
)
def test_what_is_no_graph_is_refused(X, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InvalidInputError, match=words):
            as_graph(X)


# ---- files ----------------------------------------------------------------------------------


def written(folder, name, text):
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


LIST = "source,target,weight\n0,1,1\n1,2,2\n0,2,0.5\n2,3,3\n3,4,1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.csv", LIST),
        ("edges.csv.gz", LIST),
        ("edges.csv", "weight,to,from\n" + "1,1,0\n2,2,1\n0.5,2,0\n3,3,2\n1,4,3\n"),
        ("edges.csv", LIST.partition("\n")[2]),
        ("edges.tsv", "# made by hand\n" + LIST.replace(",", "\t")),
        ("edges.txt", "# two comments\n# above\n" + LIST.partition("\n")[2].replace(",", "   ")),
        ("edges.txt.gz", LIST.replace(",", " ")),
        ("edges.txt", LIST.replace(",", ";")),
    ],
)
def test_lists_of_edges(tmp_path, name, text):
    graph = read_graph(written(tmp_path, name, text))
    np.testing.assert_allclose(graph.adjacency.toarray(), matrix())
    assert graph.name == "edges"


def test_matrices(tmp_path):
    io.mmwrite(tmp_path / "a.mtx", sparse.coo_array(matrix()))
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(matrix()))
    for name in ("a.mtx", "a.npz"):
        np.testing.assert_allclose(read_graph(tmp_path / name).adjacency.toarray(), matrix())


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_arrow_files(tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {"src": [0, 1, 0, 2, 3], "dst": [1, 2, 2, 3, 4], "weight": WEIGHTS, "other": list("abcde")}
    )
    path = tmp_path / f"edges.{ending}"
    getattr(frame, f"to_{ending}")(path)
    np.testing.assert_allclose(read_graph(path).adjacency.toarray(), matrix())


def test_a_first_line_of_nodes_is_an_edge(tmp_path):
    graph = read_graph(written(tmp_path, "e.csv", "ann,bob\nbob,eve\neve,ann\n"))
    assert graph.n_edges == 3
    header = read_graph(written(tmp_path, "h.csv", "person,friend\nbob,eve\neve,ann\n"))
    assert header.n_edges == 2


def test_the_first_edge_keeps_its_weight(tmp_path):
    graph = read_graph(written(tmp_path, "edges.csv", "a,b,3\nb,c,2\nc,d,1\n"))
    assert graph.ids.tolist() == ["a", "b", "c", "d"]
    assert graph.edges()[2].tolist() == [3, 2, 1]


def test_names_of_columns_are_no_edge_where_they_must_be_names(tmp_path):
    headed = written(tmp_path, "headed.csv", "a,b,weight\na,c,3\nb,c,2\n")
    assert read_graph(headed).edges()[2].tolist() == [3, 2]
    named = written(tmp_path, "named.csv", "a,b\na,c\nb,c\n")
    assert read_graph(named).n_edges == 3
    assert read_graph(named, source_column="a").n_edges == 2
    pandas = pytest.importorskip("pandas")
    pandas.read_csv(named).to_parquet(tmp_path / "named.parquet")
    assert read_graph(tmp_path / "named.parquet").n_edges == 2


def test_a_row_without_a_second_node_is_a_node(tmp_path):
    with pytest.warns(ConsilienceWarning, match="no edges"):
        graph = read_graph(written(tmp_path, "e.csv", "source,target\na,b\nc,\n"))
    assert graph.ids.tolist() == ["a", "b", "c"]


def test_columns_can_be_named(tmp_path):
    path = written(tmp_path, "e.csv", "x,y,z,n\n1,a,b,5\n2,b,c,6\n")
    graph = read_graph(path, source_column="y", target_column="z", weight_column="n")
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.adjacency[0, 1] == 5.0
    with pytest.warns(ConsilienceWarning, match="weigh 1"):
        read_graph(path, source_column="y", target_column="z")


MARKET = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("name", "text", "given", "words"),
    [
        ("e.csv", "a\n1\n2\n", {}, "one column"),
        ("e.csv", "a,b\n1,2\n", {"source_column": "c"}, "no column 'c'"),
        ("e.csv", "a,b\n1,2\n", {"source_column": "b"}, "must differ"),
        ("e.csv", "a,b,w\n1,2,x\n", {"weight_column": "w"}, "words"),
        ("e.csv", "a,b,w\n1,2,\n2,3,1\n", {}, "missing"),
        ("e.csv", "a,b\n,2\n1,2\n", {}, "without a first node"),
        ("e.csv", "a,b,w\n1,2,-3\n", {}, "negative"),
        ("e.xlsx", "PK", {}, "must end in"),
        ("e.mtx", "hello\n", {}, "MatrixMarket"),
        ("e.mtx", MARKET + "% no size\n", {}, "how many rows"),
        ("e.mtx", MARKET + "2 2 500\n1 1 1\n", {}, "promises 500 entries"),
        ("e.mtx", MARKET + "9999999999 9999999999 1\n1 2 3\n", {}, "promises 9999999999"),
        ("e.mtx", MARKET + "2 2 1\n7 7 1\n", {}, "damaged"),
        ("e.mtx", MARKET.replace("real", "complex") + "2 2 1\n1 2 1 1\n", {}, "no matrix of real"),
        ("e.mtx", MARKET + "2 3 1\n1 2 1\n", {}, "square"),
        ("e.mtx", MARKET + "2 2 1\n1 2 1\n", {"weight_column": "w"}, "no columns"),
    ],
)
def test_files_that_are_no_graph_are_refused(tmp_path, name, text, given, words):
    path = written(tmp_path, name, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ConsilienceError, match=words):
            read_graph(path, **given)


def test_a_small_packed_matrix_cannot_promise_a_large_one(tmp_path):
    text = MARKET + "1000000 1000000 900000000000\n1 2 3\n"
    with pytest.raises(InvalidInputError, match="promises"):
        read_graph(written(tmp_path, "bomb.mtx.gz", text))


def test_a_graph_says_what_it_is():
    assert repr(as_graph(EDGES)) == "Graph(5 nodes, 5 edges)"
    assert isinstance(as_graph(EDGES), Graph)


@pytest.mark.parametrize("mark", ["a;b;2,5\nb;c;1,5\nc;a;0,5\n", "a;b;2.5\nb;c;1.5\nc;a;0.5\n"])
def test_a_first_edge_has_its_weight_with_either_decimal_mark(tmp_path, mark):
    graph = read_graph(written(tmp_path, "e.csv", mark))
    assert (graph.n_edges, graph.ids.tolist()) == (3, ["a", "b", "c"])
    assert graph.adjacency.toarray().tolist() == [[0, 2.5, 0.5], [2.5, 0, 1.5], [0.5, 1.5, 0]]
