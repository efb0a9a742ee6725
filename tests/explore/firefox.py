"""A few words of Marionette, by which Firefox is driven: JSON over a socket, no other program."""

import json
import socket
import subprocess
import time
from contextlib import contextmanager

from browsers import FIREFOX

PATIENCE = 120
SETTINGS = {
    "marionette.port": 0,  # any that is free; Firefox writes which
    "webgl.force-enabled": True,
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "browser.shell.checkDefaultBrowser": False,
}


class Firefox:
    """A window of Firefox."""

    def __init__(self, port):
        self.line = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.number = 0
        self._answer()  # it says who it is
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {}})
        self.ask("WebDriver:SetTimeouts", script=1000 * PATIENCE, pageLoad=1000 * PATIENCE)
        self.ask("WebDriver:SetWindowRect", width=1280, height=1000)

    def ask(self, name, **how):
        """Have something done, and what comes back."""
        self.number += 1
        text = json.dumps([0, self.number, name, how]).encode()
        self.line.sendall(b"%d:%s" % (len(text), text))
        _, number, error, value = self._answer()
        assert number == self.number
        if error:
            raise RuntimeError(f"{name}: {error['error']}: {error['message']}")
        return value

    def _answer(self):
        """One message: its length, a colon, and JSON."""
        length = b""
        while (one := self._read(1)) != b":":
            length += one
        return json.loads(self._read(int(length)))

    def _read(self, count):
        data = b""
        while len(data) < count:
            part = self.line.recv(count - len(data))
            if not part:
                raise RuntimeError("Firefox hung up.")
            data += part
        return data

    def open(self, url):
        self.ask("WebDriver:Navigate", url=url)

    def of(self, script, *values):
        """The value of a script's `return`; `explorer` is that of the page."""
        begin = "const root = document.querySelector('[data-explored]'); "
        begin += "const explorer = root?.wrappedJSObject?.explorer ?? root?.explorer; "
        how = {"script": begin + script, "args": list(values), "newSandbox": True}
        return self.ask("WebDriver:ExecuteScript", **how)["value"]

    def until(self, script):
        """Wait for a script to return what is true."""
        end = time.monotonic() + PATIENCE
        while not (found := self.of(script)):
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.1)
        return found

    def drag(self, points):
        """Draw a line with Shift held."""
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in points]
        mouse = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:]]
        mouse.append({"type": "pointerUp", "button": 0})
        shift = [{"type": kind, "value": "\ue008"} for kind in ("keyDown", "keyUp")]
        keys = [shift[0], *({"type": "pause"} for _ in mouse[1:]), shift[1]]
        actions = [
            {"type": "key", "id": "keys", "actions": keys},
            {"type": "pointer", "id": "mouse", "actions": [{"type": "pause"}, *mouse]},
        ]
        self.ask("WebDriver:PerformActions", actions=actions)


@contextmanager
def started(profile):
    """Firefox without a window, with a profile of its own."""
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in SETTINGS.items()]
    (profile / "user.js").write_text("\n".join(lines))
    command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    with (profile / "log").open("w") as log:
        process = subprocess.Popen([*command, "about:blank"], stdout=log, stderr=log)
    try:
        window = Firefox(_port(profile, process))
        yield window
        window.line.close()
    finally:
        process.terminate()
        process.wait(30)


def _port(profile, process):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        path = profile / "MarionetteActivePort"
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.1)
    raise RuntimeError((profile / "log").read_text())
