"""Lazy values, created at first use so that a command starts with what it needs: names of packages, patterns."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, cast


def export_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names lie in modules that are imported when a name is asked for.

    Type checkers and readers see the same names in the package under ``if TYPE_CHECKING``.
    """
    homes = {name: module for module, names in modules.items() for name in names}
    if shared := homes.keys() & modules.keys():
        # Python puts a module into its package once it is imported, over any attribute of that name.
        raise ValueError(f"{package}: names of modules can't be exported: {', '.join(sorted(shared))}")

    def load_attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        vars(import_module(package))[name] = value
        return value

    return load_attribute


class _Pattern:
    """A regular expression that is compiled when one of its methods is asked for."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        # The next call finds it here, as fast as in a compiled one.
        self.__dict__[name] = found
        return found


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression to call methods of, compiled when it is first used.

    For long ones, in modules that every command imports: compiling 300 took a tenth of a second of each start. It is
    no argument for the functions of `re`.
    """
    return cast("re.Pattern[str]", _Pattern(source, flags))
