"""The presets: each paper's own way of working, and ours, runnable with any model.

A preset is one module: ``twm.py`` declares the function ``twm``, which makes the method. Other packages add more, see
`geosleuth.support.plugins`; theirs go by ``PACKAGE:NAME``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from geosleuth.agent.method import Method
from geosleuth.photo import BoxScale
from geosleuth.support import plugins
from geosleuth.support.errors import BadInput, BrokenPlugin

from .smilegeo import (
    Comment,
    anonymous,
    build_prompt_pieces,
    discussion_prompt,
    read_comment,
    review_prompt,
    summary_prompt,
)

__all__ = [
    "METHODS",
    "Comment",
    "anonymous",
    "build_prompt_pieces",
    "discussion_prompt",
    "find_method",
    "method",
    "read_comment",
    "review_prompt",
    "summary_prompt",
]

MakeMethod = Callable[[BoxScale], Method]
# The order in which people are shown them; others come last.
_ORDER = ("default", "geovista", "spotagent", "geoagent", "twm", "smilegeo", "detective", "nano")
_NO_PRESETS = ("papers", "shared")


class _Methods(Mapping[str, MakeMethod]):
    """Factories of methods by name; each is imported on demand."""

    def __getitem__(self, name: str) -> MakeMethod:
        if name in _presets():
            make: MakeMethod = getattr(import_module(f"{__name__}.{name}"), name)
            return make
        plugin = plugins.find("methods", name) if ":" in name else None
        if plugin is None:
            raise KeyError(name)
        return _load_factory(plugin)

    def __iter__(self) -> Iterator[str]:
        return iter((*_presets(), *plugins.ids("methods")))

    def __len__(self) -> int:
        return len(_presets()) + len(plugins.ids("methods"))


METHODS: Mapping[str, MakeMethod] = _Methods()


def method(name: str | Method, *, box_scale: BoxScale = "pixels") -> Method:
    """The preset of that name, its words asking for boxes in that scale; a method is returned as it is.

    Raises:
        BadInput: there is no such method; the message lists those there are.
        BrokenPlugin: it is a plug-in that can't be loaded.
    """
    if isinstance(name, Method):
        return name
    make = METHODS.get(name.strip().casefold()) or METHODS.get(name.strip())
    if make is None:
        raise BadInput(f"there is no method {name.strip()[:40]!r}; there are: {', '.join(METHODS)}")
    return make(box_scale)


def find_method(name: str) -> Method | None:
    """The method that a run was made with, by the name that its trajectory has; None if it no longer exists."""
    try:
        make = METHODS.get(name)
        return None if make is None else make("pixels")
    except BrokenPlugin:
        return None


@cache
def _presets() -> tuple[str, ...]:
    names = [module.name for module in iter_modules(__path__) if module.name not in _NO_PRESETS]
    return tuple(sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER)))


@cache
def _load_factory(plugin: plugins.Plugin) -> MakeMethod:
    def check(given: Any) -> MakeMethod:
        if not isinstance(given, Method) and not callable(given):
            raise TypeError(f"it is a {type(given).__name__}; give a Method, or a function that makes one")
        return adapt_factory(given)

    def adapt_factory(given: Any) -> MakeMethod:
        def make(box_scale: BoxScale) -> Method:
            # Trajectories name their method: by this name it is found again.
            return replace(_make_method(plugin, given, box_scale), name=plugin.id)

        return make

    return plugin.load(check)


def _make_method(plugin: plugins.Plugin, given: Any, box_scale: BoxScale) -> Method:
    def check(_: Any) -> Method:
        made = given if isinstance(given, Method) else given(box_scale)
        if not isinstance(made, Method):
            raise TypeError(f"it makes a {type(made).__name__}, not a Method")
        return made

    return plugin.load(check)
