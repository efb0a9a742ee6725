"""The server answers its own page and nobody else."""

import json
import socket

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
testclient = pytest.importorskip("starlette.testclient")

from consilience.errors import InvalidParameterError  # noqa: E402
from consilience.explore import groups_inside, serve, special, view, why  # noqa: E402
from consilience.explore._sent import sent  # noqa: E402
from consilience.explore._serve import _hosts  # noqa: E402
from consilience.explore._server import application  # noqa: E402
from consilience.explore._wire import unpack  # noqa: E402

TOKEN = "a-token-nobody-guesses"
HOST = "127.0.0.1:8123"
OURS = {"host": HOST, "x-consilience-token": TOKEN}


@pytest.fixture(scope="module")
def shown(result):
    return view(result)


@pytest.fixture(scope="module")
def client(shown):
    app = application(shown, TOKEN, _hosts("127.0.0.1", 8123))
    return testclient.TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)


def test_the_page_asks_only_its_own_server(client):
    answer = client.get("/", params={"token": TOKEN})
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
    assert TOKEN not in answer.text


def test_arrays_travel_as_bytes(client, shown):
    answer = client.get("/view", headers=OURS)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.content == sent(shown)
    values = unpack(client.get("/column/0", headers=OURS).content)[1]["values"]
    np.testing.assert_array_equal(values, shown.columns.numbers[:, 0])
    values = unpack(client.get("/member/3", headers=OURS).content)[1]["values"]
    np.testing.assert_array_equal(values, shown.ensemble.members[3])


def test_answers_are_those_of_python(client, shown):
    rows = np.arange(60, dtype="<u4")
    said = client.post("/special", headers=OURS, content=rows.tobytes()).json()
    assert said == json.loads(json.dumps(special(shown, rows)))
    said = client.post("/inside?k=6", headers=OURS, content=rows.tobytes()).json()
    assert said == json.loads(json.dumps(groups_inside(shown, rows, 6)))
    assert client.get("/why/5", headers=OURS).json() == json.loads(json.dumps(why(shown, 5)))


PATHS = ["/", "/view", "/column/0", "/member/0", "/why/0"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x"])
def test_without_the_token_nothing_is_said(client, path, token):
    headers = {"host": HOST, "x-consilience-token": token}
    answer = client.get(path, headers=headers)
    assert answer.status_code == 403
    assert len(answer.content) < 200
    assert client.get(path, params={"token": token}, headers={"host": HOST}).status_code == 403


def test_data_are_not_had_by_the_address_alone(client):
    # An image or a script of another page could ask so.
    assert client.get("/view", params={"token": TOKEN}, headers={"host": HOST}).status_code == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "localhost.evil:8123"],
)
def test_other_names_are_not_answered(client, host):
    assert client.get("/view", headers={**OURS, "host": host}).status_code == 403


def test_the_port_that_browsers_leave_out_may_be_left_out():
    assert {"127.0.0.1", "localhost", "[::1]", "127.0.0.1:80"} <= _hosts("127.0.0.1", 80)
    assert all(name.endswith(":8080") for name in _hosts("127.0.0.1", 8080))


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8123"])
def test_other_pages_are_not_answered(client, origin):
    assert client.get("/view", headers={**OURS, "origin": origin}).status_code == 403
    answer = client.post("/special", headers={**OURS, "origin": origin}, content=b"")
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_our_own_page_is_answered(client):
    for origin in ("http://127.0.0.1:8123",):
        assert client.get("/view", headers={**OURS, "origin": origin}).status_code == 200
    assert client.get("/view", headers={**OURS, "sec-fetch-site": "cross-site"}).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        *("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/static/report.js", "/model.json"),
        *(
            "/view/",
            "/column/-1",
            "/column/4",
            "/member/20",
            "/why/x",
            "/labels.csv",
            "//etc/passwd",
        ),
    ],
)
def test_there_are_no_files_to_be_had(client, path):
    answer = client.get(path, headers=OURS)
    assert answer.status_code in (404, 307, 400)
    assert b"root:" not in answer.content


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "OPTIONS"])
def test_nothing_can_be_put_there(client, method):
    answer = client.request(method, "/view", headers=OURS, content=b"x")
    assert answer.status_code == 405


def test_a_selection_has_no_more_objects_than_there_are(client):
    too_long = np.zeros(241, "<u4").tobytes()
    assert client.post("/special", headers=OURS, content=too_long).status_code == 413
    nobody = np.array([240], "<u4").tobytes()
    answer = client.post("/special", headers=OURS, content=nobody)
    assert answer.status_code == 400
    assert "rows 0 to 239" in answer.text
    assert client.get("/why/240", headers=OURS).status_code == 400
    for k in ("0", "21", "x", "-1", "²", "9" * 9):
        assert client.get("/why/0", params={"k": k}, headers=OURS).status_code == 400


def test_it_listens_at_this_machine_alone_and_ends(shown):
    served = serve(shown)
    try:
        assert served.url.startswith("http://127.0.0.1:")
        assert len(served.url.partition("token=")[2]) >= 32
        port = int(served.url.split(":")[2].partition("/")[0])
        # The machine's other addresses do not answer.
        with socket.socket() as other:
            other.settimeout(0.5)
            assert other.connect_ex(("127.0.0.2", port)) != 0
        with pytest.raises(InvalidParameterError, match="--port"):
            serve(shown, port=port)
    finally:
        served.stop()
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", port)) != 0


def test_tokens_differ(shown):
    one, two = serve(shown), serve(shown)
    one.stop()
    two.stop()
    assert one.url.partition("token=")[2] != two.url.partition("token=")[2]


@pytest.mark.parametrize("port", [-1, 65536])
def test_ports_that_are_none_are_refused(shown, port):
    with pytest.raises(InvalidParameterError, match="port"):
        serve(shown, port=port)
