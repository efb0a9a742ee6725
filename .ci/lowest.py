"""Print the lowest version of every package that pyproject.toml allows, as pip constraints.

``python .ci/lowest.py test`` prints those of the package and of its extra ``test``, one a line:
``numpy==2.2``. There is no second list that could differ.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,-]+)\])?(>=(?P<low>[\w.]+))?\s*(?P<marker>;.*)?"
)


def requirements(project, extras):
    """What the project and these extras ask for; what extras ask of the project is followed."""
    yield from project["dependencies"]
    waiting, seen = list(extras), set()
    while waiting:
        extra = waiting.pop(0)
        if extra in seen:
            continue
        seen.add(extra)
        for requirement in project["optional-dependencies"][extra]:
            own = REQUIREMENT.fullmatch(requirement)
            if own and own["name"] == project["name"]:
                waiting += own["extras"].split(",")
            else:
                yield requirement


def lowest(project, extras):
    """The lowest version of each of them, each package once."""
    found = {}
    for requirement in requirements(project, extras):
        part = REQUIREMENT.fullmatch(requirement)
        if part is None or part["low"] is None:
            raise SystemExit(f"pyproject.toml names no lowest version of {requirement!r}.")
        found[part["name"]] = f"{part['name']}=={part['low']}{part['marker'] or ''}"
    return list(found.values())


if __name__ == "__main__":
    print(*lowest(tomllib.loads(PYPROJECT.read_text())["project"], sys.argv[1:]), sep="\n")
