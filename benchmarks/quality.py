"""How good the answers are: many tables with known groups, seeds, and candidates.

    python benchmarks/quality.py run --part developing --store FOLDER --seeds 5 --jobs 2
    python benchmarks/quality.py show --store FOLDER --pictures FOLDER --page FILE
    python benchmarks/quality.py log --store FOLDER --candidate consilience --what "one line"
    python benchmarks/quality.py sets --part developing

Two questions: which groups are there, when nobody says how many, and which when the number is
known. Parts: developing and confirming (generated, of families that differ in kind), second
(confirming once more, of families drawn up after confirming had been opened), third (likewise,
after second had been), real (a folder named by --data or CONSILIENCE_DATA, and scikit-learn's
tables; real-developing and real-confirming are its two halves), yours (any folder of tables with
a column of groups).
The confirming tables are for the end: to run them takes --open-confirming, which is logged.
"""

import argparse
import csv
import sys
import time
from pathlib import Path

import quality_show as shown
import quality_store as stored
from quality_candidates import CANDIDATES, candidate
from quality_sets import generated, own_tables, real_tables, split

from consilience.consensus import CONSENSUS

RECIPES = Path(__file__).with_name("recipes.csv")
COLUMNS = (
    *("date", "commit", "kind", "name", "what", "part", "tables", "seeds"),
    *("ari", "ari_low", "ari_high", "nmi", "number_exact", "ari_below_05", "one_group"),
    *("same_number", "groupless_clear", "seconds", "note"),
)
REAL = {
    "real": ("developing", "confirming"),
    "real-developing": ("developing",),
    "real-confirming": ("confirming",),
}
CLOSED = ("confirming", "second", "third", "real", "real-confirming")
UNKNOWN = "gmm_bic,kmeans_silhouette,hdbscan,ward_silhouette,consilience"


def main(argv=None):
    """Read the command line and do what it says."""
    args = _parser().parse_args(argv)
    return args.job(args)


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    jobs = parser.add_subparsers(required=True)
    _run_options(jobs.add_parser("run", help="run candidates; goes on where it was stopped"))
    one = jobs.add_parser("show", help="means, differences, ranks; pictures and a page")
    one.add_argument("--store", required=True, type=Path)
    one.add_argument("--part", choices=list(shown.PARTS), nargs="+", default=list(shown.PARTS))
    one.add_argument("--candidates", type=_names, help="only these")
    one.add_argument("--against", default="consilience", help="whom the differences are of")
    one.add_argument("--pictures", type=Path, help="folder for the pictures")
    one.add_argument("--page", type=Path, help="write all of it as Markdown to this file")
    one.add_argument("--recipes", type=Path, default=RECIPES)
    one.set_defaults(job=show)
    one = jobs.add_parser("log", help="add a recipe and its figures to the log")
    one.add_argument("--store", required=True, type=Path)
    one.add_argument("--candidate", required=True)
    one.add_argument("--name", help="of the recipe; by default the candidate's")
    one.add_argument("--what", required=True, help="one line: what the recipe is")
    one.add_argument("--part", choices=list(shown.PARTS), default="developing")
    one.add_argument("--kind", choices=["recipe", "baseline"], default="recipe")
    one.add_argument("--note", default="")
    one.add_argument("--recipes", type=Path, default=RECIPES)
    one.set_defaults(job=log)
    one = jobs.add_parser("sets", help="list the tables of a part, or write them anew")
    one.add_argument("--part", choices=list(generated.FAMILIES), default="developing")
    one.add_argument("--write", action="store_true", help="draw the part and list it anew")
    one.set_defaults(job=sets)
    return parser


def _run_options(one):
    one.add_argument("--part", required=True, choices=[*generated.FAMILIES, *REAL, "yours"])
    one.add_argument("--store", required=True, type=Path)
    one.add_argument(
        "--candidates",
        type=_names,
        default=_names(UNKNOWN),
        help=", ".join([*CANDIDATES, "methods"]),
    )
    one.add_argument("--seeds", type=int, default=5)
    one.add_argument("--jobs", type=int, default=1, help="processes; 0: in this one")
    one.add_argument("--data", type=Path, help="folder of tables for the parts real and yours")
    one.add_argument("--limit", type=int, help="only so many tables, spread over the families")
    one.add_argument("--most-objects", type=int, help="only tables of at most so many objects")
    one.add_argument(
        "--places", type=_places, help="FIRST:LAST, of each family (of those not too large): 0:2"
    )
    one.add_argument("--groups", choices=["with", "without"], help="only tables with, or without")
    one.add_argument("--most-seconds", type=int, default=600, help="then a run has failed")
    one.add_argument("--again", action="store_true", help="also what failed before")
    one.add_argument("--open-confirming", action="store_true", help="needed once, and logged")
    one.add_argument("--recipes", type=Path, default=RECIPES)
    one.set_defaults(job=run)


def _names(text):
    names = [name.strip() for name in text.split(",") if name.strip()]
    # Every method of the package but the one that all are compared with, which is `auto_k`.
    methods = [name for name in sorted(CONSENSUS) if name != "autoconsensus"]
    wide = [one for name in names for one in (methods if name == "methods" else [name])]
    return list(dict.fromkeys(wide))


def _places(text):
    first, _, last = text.partition(":")
    return slice(int(first or 0), int(last) if last else None)


# ---- run -----------------------------------------------------------------------------------


def run(args):
    """Run what is missing, and keep it."""
    for name in args.candidates:
        candidate(name)
    if args.part in CLOSED:
        _open(args)
    tables = spread(selected(_tables(args), args), args.limit)
    added = stored.run(
        stored.Store(args.store),
        tables,
        args.candidates,
        args.seeds,
        jobs=args.jobs,
        most_seconds=args.most_seconds,
        again=args.again,
    )
    print(f"{added} runs added, on {len(tables)} tables; kept in {args.store}")


def _tables(args):
    if args.part == "yours":
        if args.data is None:
            raise SystemExit("--part yours needs --data FOLDER.")
        return own_tables(args.data)
    if args.part in REAL:
        return [one for part in REAL[args.part] for one in real_tables(part, args.data)]
    return split(args.part)


def selected(tables, args):
    """The tables of the size, the place in their family and the kind that was asked for."""
    if args.groups is not None:
        tables = [one for one in tables if one.has_groups == (args.groups == "with")]
    if args.most_objects is not None:
        tables = [one for one in tables if one.n_objects <= args.most_objects]
    if args.places is None:
        return tables
    families = {}
    for table in tables:
        families.setdefault(table.family, []).append(table)
    wanted = {one.name for its in families.values() for one in its[args.places]}
    return [one for one in tables if one.name in wanted]


def spread(tables, limit):
    """So many tables, from all families in turn."""
    if limit is None or limit >= len(tables):
        return tables
    place, turns = {}, []
    for table in tables:
        place[table.family] = place.get(table.family, -1) + 1
        turns.append(place[table.family])
    first = sorted(range(len(tables)), key=lambda i: (turns[i], i))[:limit]
    return [tables[i] for i in sorted(first)]


def _open(args):
    """Refuse confirming tables unless told so and all code is committed; write it down."""
    if not args.open_confirming:
        raise SystemExit(
            f"--part {args.part} holds confirming tables, which are for recipes that are fixed. "
            "Pass --open-confirming if yours is: it will be logged with the commit."
        )
    changed = stored.uncommitted()
    if changed:
        raise SystemExit(
            "Commit the recipe before the confirming tables are opened. Not committed: "
            f"{', '.join(changed)}."
        )
    _append(
        args.recipes,
        kind="opened",
        name=",".join(args.candidates),
        what="confirming tables opened",
        part=args.part,
        seeds=args.seeds,
        commit=stored.code_state()["commit"],
    )


# ---- show and log --------------------------------------------------------------------------


def show(args):
    """Print, and write if asked, what the store holds."""
    rows = stored.Store(args.store).rows()
    if not rows:
        raise SystemExit(f"{args.store} holds no runs.")
    text = shown.page(
        rows,
        args.part,
        names=args.candidates,
        against=args.against,
        pictures=args.pictures,
        head=_head(rows, args),
    )
    print(text)
    if args.page is not None:
        args.page.write_text(text, encoding="utf-8")


def _head(rows, args):
    rows = [row for row in rows if row["part"] in args.part]
    names = list(dict.fromkeys(row["candidate"] for row in rows))
    if args.candidates is not None:
        names = [name for name in names if name in args.candidates]
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    n_recipes = tried(args.recipes)
    parts = [part for part in args.part if any(row["part"] == part for row in rows)]
    lines = [
        f"Runs of commit {commits}; {n_recipes} recipe{'s' * (n_recipes != 1)} logged so far in "
        f"`benchmarks/{RECIPES.name}`. Made by",
        "```text\n"
        + "\n".join(
            f"python benchmarks/quality.py run --part {part} --store FOLDER"
            f" --candidates {','.join(names)}" + " --open-confirming" * (part in CLOSED)
            for part in parts
        )
        + "\npython benchmarks/quality.py show --store FOLDER\n```",
        "\n".join(f"- `{name}`: {candidate(name).what}." for name in names),
    ]
    return "\n\n".join(lines)


def log(args):
    """Add a line with a recipe's figures to the log."""
    rows = [row for row in stored.Store(args.store).rows() if row["candidate"] == args.candidate]
    asked = candidate(args.candidate)
    found = shown.figures(rows, args.part, asked.knows_number)
    if found is None:
        raise SystemExit(f"{args.store} holds no runs of {args.candidate!r} on {args.part}.")
    low, high = shown.interval(found.ari[:, 0])
    stated = [
        row["clarity"] == "clear"
        for row in rows
        if row["part"] == args.part and row["truth"] == 1 and row["clarity"] is not None
    ]
    figures = {
        "ari": found.ari.mean(),
        "ari_low": low,
        "ari_high": high,
        "nmi": found.nmi.mean(),
        "number_exact": found.exact.mean(),
        "one_group": found.one.mean(),
        "same_number": found.same.mean() if found.n_seeds > 1 else None,
        "seconds": found.seconds.mean(),
    }
    _append(
        args.recipes,
        kind=args.kind,
        name=args.name or args.candidate,
        what=args.what,
        part=args.part,
        commit="/".join(sorted({row["commit"] for row in rows if row["part"] == args.part})),
        tables=len(found.sets),
        seeds=found.n_seeds,
        ari_below_05=int((found.ari < 0.05).sum()),
        groupless_clear=f"{sum(stated)} of {len(stated)}" if stated else "",
        note=args.note,
        **{key: "" if value is None else f"{value:.3f}" for key, value in figures.items()},
    )


def _append(path, **cells):
    """A line at the end of the log, dated."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow({"date": time.strftime("%Y-%m-%d", time.gmtime())} | cells)


def tried(path=RECIPES):
    """How many recipes are logged: one of a name and commit counts once, whatever its parts."""
    rows = [row for row in logged(path) if row["kind"] == "recipe"]
    return len({(row["name"], row["commit"]) for row in rows})


def logged(path=RECIPES):
    """Every line of the log."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sets(args):
    """Print the tables of a part; with --write draw them and list them anew."""
    if args.write:
        for one in generated.write(args.part):
            print(f"left out as hopeless: {one.name} ({one.oracle})")
        return
    for one in split(args.part):
        print(f"{one.name:28} {one.n:5} x {one.d:<3} {one.k:3} groups, told apart: {one.oracle}")


if __name__ == "__main__":
    sys.exit(main())
