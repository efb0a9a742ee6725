"""Defaults are promises: a changed one changes what others' code does without a word.

The list is made again, after a change that is meant, by

    python tests/test_public_defaults.py
"""

import importlib
import inspect
import pkgutil
from pathlib import Path

import consilience

LISTED = Path(__file__).with_name("public_defaults.txt")


def modules():
    """Every module whose name a user may type, and those of the command line."""
    found = [consilience]
    for one in pkgutil.walk_packages(consilience.__path__, "consilience."):
        inner = one.name.removeprefix("consilience._cli.")  # what a command does is as public
        if not any(part.startswith("_") for part in inner.split(".")):
            found.append(importlib.import_module(one.name))
    return found


def callables(thing):
    """A function; or a class and the public methods it has of us, inherited ones too."""
    yield full_name(thing), thing
    for owner in thing.__mro__ if inspect.isclass(thing) else ():
        for word, method in vars(owner).items() if "consilience" in owner.__module__ else ():
            if not word.startswith("_") and inspect.isfunction(method):
                yield f"{full_name(owner)}.{word}", method


def full_name(thing):
    return f"{thing.__module__}.{thing.__qualname__}"


def shown(value):
    """The value as text that is the same in any process."""
    plain = isinstance(value, bool | int | float | str | tuple | type(None))
    return repr(value) if plain else type(value).__name__


def exported(module):
    """Functions and classes of a module: those it lists, or else all it defines."""
    # Commands are known to users by the app that has them.
    commands = module.__name__ == "consilience._cli.commands"
    names = None if commands else getattr(module, "__all__", None)
    for name in vars(module) if names is None else names:
        thing = getattr(module, name)
        thing = getattr(thing, "py_func", thing)  # a compiled kernel
        ours = getattr(thing, "__module__", None) == module.__name__ or names is not None
        if ours and not name.startswith("_") and (inspect.isfunction(thing) or is_class(thing)):
            yield thing


def is_class(thing):
    """Whether it is a class that users make; errors are made by the package itself."""
    return inspect.isclass(thing) and not issubclass(thing, BaseException)


def defaults():
    """A line for each default of each function and class that a module exports."""
    found = set()
    for thing in {thing for module in modules() for thing in exported(module)}:
        for name, call in callables(thing) if "consilience" in thing.__module__ else ():
            for parameter in inspect.signature(call).parameters.values():
                if parameter.default is not parameter.empty:
                    found.add(f"{name} {parameter.name}={shown(parameter.default)}")
    return sorted(found)


def test_public_defaults_are_those_of_the_list():
    listed = set(LISTED.read_text(encoding="utf-8").splitlines())
    now = set(defaults())
    assert not listed ^ now, "if this is meant: python tests/test_public_defaults.py"


if __name__ == "__main__":
    LISTED.write_text("\n".join(defaults()) + "\n", encoding="utf-8")
