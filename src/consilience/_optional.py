"""Optional packages, imported inside the function that needs them.

>>> optional("json", extra=None, what="this example").__name__
'json'
"""

import importlib
from types import ModuleType

from consilience.errors import MissingPackageError


def optional(module: str, *, extra: str | None, what: str) -> ModuleType:
    """Import ``module``, or say which extra of consilience brings it.

    Parameters
    ----------
    module : str
        Dotted name, for instance ``"matplotlib.pyplot"``.
    extra : str or None
        The extra of consilience that installs it; None where users bring it themselves.
    what : str
        The feature that needs it, as the user knows it.

    Raises
    ------
    MissingPackageError
        If the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        wanted = package if extra is None else f"'consilience[{extra}]'"
        raise MissingPackageError(
            f"{what} needs the package {package!r}, which is not installed. "
            f"Install it with:\npip install {wanted}"
        ) from error
