"""Small changes to the code that its tests should notice, found in its syntax tree.

Only what stands inside functions is changed; docstrings, annotations, decorators, messages of
errors and warnings, and text are left alone. So are assertions, ``strict=`` of zip among them, what
decides only about time and memory (``copy=False``, ``checks=False`` of squareform, how many threads
are used or are the default), and what only another system runs. Nor is anything changed that means
the same: the order of errors in ``suppress``, nothing instead of ``False`` where a function answers
yes or no, digits of a time. A change is cut into the source where it stands, so that the rest of
the file keeps its lines.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["Mutant", "mutants_of"]

_COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
}  # fmt: skip
_LEFT_ALONE = (
    "warn",
    "add_note",
    "cast",
    "optional",
    "suppress",
    "threadpool_limits",
    "one_thread",
)
_TEXT = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Set, ast.Dict)


@dataclass(frozen=True)
class Mutant:
    """One change: where, in which function, of what kind, and the lines before and after."""

    file: Path
    line: int
    function: str
    kind: str
    before: str
    after: str
    source: bytes

    def key(self, root: Path) -> tuple[str, str, str]:
        """What names it in the list of equivalents; line numbers move, so they are not in it."""
        return (self.file.relative_to(root).as_posix(), self.before, self.after)


@dataclass(frozen=True)
class _Change:
    node: ast.AST
    kind: str
    text: str
    function: str = ""


def mutants_of(file: Path) -> list[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    source = file.read_bytes()
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for change in _changes(tree):
        node = change.node
        a = starts[node.lineno - 1] + node.col_offset
        b = starts[node.end_lineno - 1] + node.end_col_offset
        changed = source[:a] + change.text.encode() + source[b:]
        first, last = source.rfind(b"\n", 0, a) + 1, source.find(b"\n", b)
        before = b" ".join(source[first:last].split()).decode()
        end = last + len(changed) - len(source)
        after = b" ".join(changed[first:end].split()).decode()
        if before != after:
            found.append(
                Mutant(file, node.lineno, change.function, change.kind, before, after, changed)
            )
    return found


def _changes(tree: ast.AST) -> Iterator[_Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[bool(ast.get_docstring(node)) :]
            found = (change for statement in body for change in _inside(statement))
            for change in (*_changed_defaults(node), *found):
                if not (_is_no(change.node) and _name(node.returns) == "bool"):
                    yield replace(change, function=node.name)


def _inside(node: ast.AST) -> Iterator[_Change]:
    """Changes at a node and below it, but for what is only words or types."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return  # a function inside is met by itself
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Call) and _name(node.func) in _LEFT_ALONE:
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "os.name == 'nt'":
        for statement in node.orelse:  # the rest is run by another system only
            yield from _inside(statement)
        return
    if isinstance(node, ast.keyword) and _only_guards_or_spares(node):
        return
    if isinstance(node, ast.Call) and _name(node.func) == "round" and _is_time(node):
        yield from _inside(node.args[0])
        return
    for kind, change in _KINDS.items():
        text = change(node)
        if text is not None:
            yield _Change(node, kind, text)
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare):
        yield _Change(node.test, "condition negated", f"(not ({ast.unparse(node.test)}))")
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _inside(child)


def _only_guards_or_spares(node: ast.keyword) -> bool:
    """Whether a keyword is an assertion about lengths, or only spares a copy, a look or threads."""
    value = node.value.value if isinstance(node.value, ast.Constant) else None
    spares = ((name, False) for name in ("copy", "checks", "check_finite", "use_threads"))
    return (node.arg, value) in (("strict", True), *spares)


def _changed_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Change]:
    places = [*function.args.posonlyargs, *function.args.args]
    places = places[len(places) - len(function.args.defaults) :] + function.args.kwonlyargs
    defaults = (*function.args.defaults, *function.args.kw_defaults)
    for place, default in zip(places, defaults, strict=True):
        if default is None or place.arg == "n_jobs":
            continue
        text = _constant(default) or _boolean(default)
        if text is not None:
            yield _Change(default, "default changed", text)


def _comparison(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    other = ast.Compare(node.left, [_COMPARE[type(node.ops[0])]()], node.comparators)
    return f"({ast.unparse(other)})"


def _sum(node: ast.AST) -> str | None:
    if not isinstance(node, ast.BinOp) or type(node.op) not in _ARITHMETIC:
        return None
    if any(isinstance(side, _TEXT) or _is_text(side) for side in (node.left, node.right)):
        return None
    return f"({ast.unparse(ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right))})"


def _constant(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return None
    if isinstance(node.value, int):
        return repr(node.value + 1)
    return repr(node.value * 2 if node.value else 1.0) if isinstance(node.value, float) else None


def _boolean(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return repr(not node.value)
    return None


def _logic(node: ast.AST) -> str | None:
    if isinstance(node, ast.BoolOp) and "n_jobs" not in ast.unparse(node):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return f"({ast.unparse(ast.BoolOp(other, node.values))})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"({ast.unparse(node.operand)})"
    return None


def _dropped(node: ast.AST) -> str | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return "pass"
    if isinstance(node, ast.AugAssign | ast.Continue | ast.Break):
        return "pass"
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript | ast.Attribute):
        return "pass"
    return None


def _swapped(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return None
    first, second = node.args[:2]
    names = (ast.Name, ast.Attribute)
    if not isinstance(first, names) or not isinstance(second, names):
        return None
    if _name(node.func) in ("isinstance", "max", "min", "maximum", "minimum"):
        return None
    return ast.unparse(ast.Call(node.func, [second, first, *node.args[2:]], node.keywords))


def _returned(node: ast.AST) -> str | None:
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        return "return None"
    return None


_KINDS: dict[str, Callable[[ast.AST], str | None]] = {
    "comparison": _comparison,
    "arithmetic": _sum,
    "constant": _constant,
    "boolean": _boolean,
    "logic": _logic,
    "statement dropped": _dropped,
    "arguments swapped": _swapped,
    "value returned": _returned,
}


def _name(node: ast.AST) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _is_time(node: ast.AST) -> bool:
    return any(word in ast.unparse(node) for word in ("time.", "seconds"))


def _is_no(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Return) else None
    return isinstance(value, ast.Constant) and value.value is False


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
