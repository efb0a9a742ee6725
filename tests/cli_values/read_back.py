"""What a command wrote and printed, read back; and the members that it makes."""

import csv
import json
import re
from pathlib import Path

from consilience.generate import default_generator
from consilience.workflow._data import gather

N, K, MEMBERS = 40, 3, 7
GIVEN = ["blobs.csv", "--id-column", "name", "--truth-column", "group"]


def summary_of(folder):
    return json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))


def rows_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def members_of(X, seed=0, n_members=MEMBERS):
    """The members that the command makes, on columns standardised as it does, bit for bit."""
    X = gather(X, ensemble=None, ids=None, truth=None, scale=True, owner="this test").X
    return X, default_generator(
        *X.shape, n_members=n_members, random_state=seed
    ).generator.generate(X)


def table_rows(text, *heads):
    """The rows of the printed table with these heads, as lists of cells."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split() == " ".join(heads).split())
    rows = []
    for line in lines[start + 2 :]:
        if not line.strip():
            return rows
        rows.append(re.split(r"\s{2,}", line.strip()))
    return rows
