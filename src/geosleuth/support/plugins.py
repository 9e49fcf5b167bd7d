"""Parts that other installed packages add: tools, methods, policies, data sets, exporters and commands.

A package names its parts as entry points, in its own ``pyproject.toml``::

    [project.entry-points."geosleuth.tools"]
    moon_phase = "geosleuth_moon.tools:moon_phase"

A part goes by ``PACKAGE:NAME``, such as ``geosleuth-moon:moon_phase``. Nothing of a package is imported before a caller
asks for the part. One that can't be loaded is told in one line that names it, and the others go on without it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, distributions
from typing import Any, Literal, TypeVar

from geosleuth.support.errors import BrokenPlugin

Kind = Literal["tools", "methods", "policies", "datasets", "exporters", "commands"]
"""What a package can add."""

# Package whose components need no prefix: the lab's commands and baselines are discovered as plug-ins are.
OWN_PACKAGE = "geosleuth"

KINDS: tuple[Kind, ...] = ("tools", "methods", "policies", "datasets", "exporters", "commands")

_T = TypeVar("_T")
_WHY_CHARS = 200


@dataclass(frozen=True, slots=True)
class Plugin:
    """A part of another package, not loaded yet."""

    kind: Kind
    package: str
    name: str
    _point: "EntryPoint | _Unreadable" = field(repr=False)

    @property
    def id(self) -> str:
        """Return the name for users; parts of geosleuth itself go by their name alone."""
        return self.name if self.package == OWN_PACKAGE else f"{self.package}:{self.name}"

    def load(self, check: Callable[[Any], _T]) -> _T:
        """Import it, and return what ``check`` makes of it.

        Args:
            check: gets what the entry point names; raises TypeError or ValueError where that is not what it should be.

        Raises:
            BrokenPlugin: it can't be imported, or is not what its entry point says.
        """
        try:
            return check(self._point.load())
        except (Exception, SystemExit) as error:  # another package may raise anything at import; the others go on
            raise BrokenPlugin(self.id, why(error)) from error


def why(error: BaseException) -> str:
    """Return what went wrong in another package's code, on a single line."""
    said = " ".join(str(error).split())[:_WHY_CHARS]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


@cache
def list_installed(kind: Kind) -> tuple[Plugin, ...]:
    """The parts of a kind that installed packages name, by package and name; none of them is loaded."""
    found: dict[tuple[str, str], Plugin] = {}
    for package, points in _list_named_parts():
        parts = (
            [points]
            if isinstance(points, _Unreadable)
            else [point for point in points if point.group == f"geosleuth.{kind}"]
        )
        found |= {(package, part.name): Plugin(kind, package, part.name, part) for part in parts}
    return tuple(found[key] for key in sorted(found))


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Stand-in for the parts of a package whose metadata is unreadable."""

    why: str
    name: str = "entry_points.txt"

    def load(self) -> Any:
        raise ValueError(f"this file of its metadata can't be read: {self.why}; install the package again")


def _list_named_parts() -> Iterator[tuple[str, "tuple[EntryPoint, ...] | _Unreadable"]]:
    """Yield each installed package of which a part is named, once, as Python would import it."""
    seen = set[str]()
    for distribution in distributions():
        try:
            text = distribution.read_text("entry_points.txt") or ""
        except (OSError, ValueError) as error:
            text, failed = "geosleuth.", why(error)
        else:
            failed = ""
        if "geosleuth." not in text:
            continue
        package = _normal(distribution.name or "")
        if package in seen:
            continue
        seen.add(package)
        try:
            # Half of what a spoilt file names may be no entry point at all.
            points = () if failed else tuple(point for point in distribution.entry_points if point.name)
            _ = [(point.module, point.attr) for point in points if point.group.startswith("geosleuth.")]
        except Exception as error:  # noqa: BLE001  # the parser of metadata raises what it likes
            failed = why(error)
        yield package, _Unreadable(failed) if failed else points


def find(kind: Kind, name: str) -> Plugin | None:
    """Return the part that a user calls ``PACKAGE:NAME``, or ``NAME`` where it is one of geosleuth itself."""
    package, colon, own = name.strip().partition(":")
    wanted = (_normal(package), own) if colon else (OWN_PACKAGE, package)
    return next((item for item in list_installed(kind) if (item.package, item.name) == wanted), None)


def ids(kind: Kind) -> tuple[str, ...]:
    """Return the ids of the parts of a kind, as users write them."""
    return tuple(item.id for item in list_installed(kind))


def each(kind: Kind, check: Callable[[Any], _T]) -> Iterator[tuple[Plugin, _T | BrokenPlugin]]:
    """Every part of a kind, loaded; in place of one that can't be, why not."""
    for item in list_installed(kind):
        try:
            yield item, item.load(check)
        except BrokenPlugin as error:
            yield item, error


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package.strip()).lower()
