"""Every tool there is: those of this package, and those that other packages add (see `geosleuth.plugins`)."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from geosleuth import plugins
from geosleuth.errors import BrokenPlugin

from .declare import Tool, as_tool
from .toolset import Toolset

# Models are shown the tools in this order of their modules; those of other modules come last.
_ORDER = (
    "zoom", "reading", "image_search", "visual", "searching", "maps", "pictures", "facts", "telling", "sun", "ranges",
    "notes",
)  # fmt: skip


class Catalogue(Toolset):
    """The tools of this package; those of other packages are found by name, and loaded when they are asked for."""

    def get(self, name: str) -> Tool | None:
        """The tool of that name or alias, or the plug-in of that name, which ``PACKAGE:NAME`` makes sure of.

        Raises:
            BrokenPlugin: it is a plug-in that can't be loaded.
        """
        own = super().get(name)
        if own is not None:
            return own
        named = plugins.find("tools", name) if ":" in name else _only(name)
        return None if named is None else _loaded(named)

    def _have(self) -> str:
        return ", ".join((*self.names, *plugins.ids("tools")))


@cache
def all_tools() -> Catalogue:
    """All tools, in the order that models are shown them: every `Tool` that a module beside this one declares."""
    package = __name__.rpartition(".")[0]
    here = import_module(package).__path__
    names = [one.name for one in iter_modules(here) if not one.ispkg]
    ordered = sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
    return Catalogue(tool for name in ordered for tool in _declared_in(f"{package}.{name}"))


def with_plugins() -> tuple[Toolset, tuple[BrokenPlugin, ...]]:
    """All tools, those of installed plug-ins at the end, and why others of these can't be used."""
    tools, broken = list(all_tools()), []
    for plugin in plugins.installed("tools"):
        try:
            tools.append(_loaded(plugin))
            Toolset(tools)
        except BrokenPlugin as error:
            broken.append(error)
        except ValueError as error:
            tools.pop()
            broken.append(BrokenPlugin(plugin.id, str(error)))
    return Toolset(tools), tuple(broken)


def _only(name: str) -> plugins.Plugin | None:
    """The one plug-in whose tool goes by this name."""
    found = [one for one in plugins.installed("tools") if one.name == name]
    return found[0] if len(found) == 1 else None


@cache
def _loaded(plugin: plugins.Plugin) -> Tool:
    def check(given: Any) -> Tool:
        made = as_tool(given)
        if made.name != plugin.name:
            raise ValueError(f"its tool is called {made.name}; call the entry point the same")
        taken = [name for name in (made.name, *made.aliases) if Toolset.get(all_tools(), name) is not None]
        if taken:
            raise ValueError(f"geosleuth has a tool {taken[0]} already")
        made.data_schema()
        return made

    return plugin.load(check)


def _declared_in(module: str) -> Iterator[Tool]:
    for value in vars(import_module(module)).values():
        # A module may import another's tool to call it.
        if isinstance(value, Tool) and value.function.__module__ == module:
            yield value
