"""JupyterLab for the explorer's tests: started in a folder of its own, with notebooks in it."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 120
QUIET = {
    # Nothing is asked of anybody outside, not even whether there is something newer.
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}
TESTS = Path(__file__).parents[1]


def notebook(*cells):
    """A notebook of cells of code, as JSON."""
    made = [
        {
            "cell_type": "code",
            "id": f"cell{i}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for i, source in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    facts = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": made, "metadata": facts, "nbformat": 4, "nbformat_minor": 5})


def making(name):
    """Code that makes a result of `made.py`, and shows it as the last thing of its cell."""
    path = f"import sys; sys.path.insert(0, {str(TESTS)!r})"
    return f"{path}\nfrom explore.made import made_{name}\nresult = made_{name}()\nresult"


class Lab:
    """A server of JupyterLab, and the kernels that its notebooks started."""

    def __init__(self, folder, url, token):
        self.folder, self.home, self.token = folder, url, token

    def url(self, name):
        """Where a notebook is opened, one document at a time."""
        return f"{self.home}doc/tree/{name}.ipynb?token={self.token}"

    def run_all(self, page):
        """Run the cells of the notebook that a page has opened."""
        # Before the session is ready, running asks for a kernel in a box.
        ready = """() => {
          const session = window.jupyterapp?.shell.currentWidget?.sessionContext;
          return session?.isReady && session.session?.kernel?.status === 'idle';
        }"""
        page.wait_for_function(ready, timeout=1000 * PATIENCE)
        # Without its promise, whose value is half of the application.
        page.evaluate("() => void jupyterapp.commands.execute('notebook:run-all-cells')")

    def save(self, page):
        """Save it, as Ctrl+S does."""
        page.evaluate("async () => void (await jupyterapp.commands.execute('docmanager:save'))")

    def python(self, code):
        """What code prints in the kernel of the notebook that was opened last."""
        from jupyter_client import BlockingKernelClient

        files = sorted((self.folder / "runtime").glob("kernel-*.json"), key=os.path.getmtime)
        client = BlockingKernelClient(connection_file=str(files[-1]))
        client.load_connection_file()
        client.start_channels()
        printed = []

        def heard(message):
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        try:
            client.wait_for_ready(timeout=PATIENCE)
            answer = client.execute_interactive(code, output_hook=heard, timeout=PATIENCE)
        finally:
            client.stop_channels()
        assert answer["content"]["status"] == "ok", answer["content"]
        return "".join(printed).strip()


@contextmanager
def started(folder, notebooks):
    """A server whose folder has these notebooks, by name."""
    (folder / "work").mkdir()
    for name, text in notebooks.items():
        (folder / "work" / f"{name}.ipynb").write_text(text, encoding="utf-8")
    for name, values in QUIET.items():
        path = folder / "settings" / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(values))
    log = (folder / "lab.log").open("w")
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--LabApp.expose_app_in_browser=True"),
        *("--LabApp.extension_manager=readonly", f"--ServerApp.root_dir={folder / 'work'}"),
    ]
    server = subprocess.Popen(command, env=_environment(folder), stdout=log, stderr=log)
    try:
        facts = _facts(folder, server)
        yield Lab(folder, facts["url"], facts["token"])
    finally:
        server.terminate()
        server.wait(30)
        log.close()


def _environment(folder):
    """Everything of Jupyter in the folder; what is installed beside Python is found too."""
    names = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    return os.environ | {name: str(folder / place) for name, place in names.items()}


def _facts(folder, server):
    """Where the server listens, as soon as it does."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        for path in (folder / "runtime").glob("jpserver-*.json"):
            facts = json.loads(path.read_text() or "null")
            if facts and facts["port"]:
                return facts
        time.sleep(0.1)
    raise RuntimeError((folder / "lab.log").read_text())
