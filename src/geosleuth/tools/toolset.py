"""Every tool there is, the set that a run may use, and the one place where calls are carried out."""

import asyncio
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from geosleuth.atlas.redaction import redact
from geosleuth.photo import Photo, View
from geosleuth.support import plugins
from geosleuth.support.errors import BadInput, BrokenPlugin, ServiceFault, UserError
from geosleuth.support.service_use import ServiceUse, counting_services, merge_uses

from .argument_types import writable
from .calls import (
    MISSING,
    PROVIDED_BY,
    Case,
    FailureKind,
    ImageInfo,
    Mended,
    MissingTool,
    Need,
    Observation,
    Output,
    ToolCall,
)
from .declare import Tool, as_tool

_NAME_SHOWN = 60
CALL_SECONDS = 60.0

# Models are shown the tools in this order; others come last.
_ORDER = (
    "image_zoom_in_tool", "read_text", "search_image", "visual_prior", "search_web", "search_documents",
    "maps_geocode", "reverse_geocode", "nearby", "poi_input_tips", "poi_keyword_search", "poi_detail_query",
    "find_colocated", "find_crossing", "static_map_query", "satellite_map_query", "place_facts", "country_facts",
    "brand_lookup", "text_clues", "weigh_sightings", "tell_apart", "field_guide", "sun_position", "range_fix",
    "resection", "note_hypothesis", "request_map",
)  # fmt: skip


class Toolset:
    """Tools by name, in order. Tools are found by their aliases too.

    ``missing`` names those that a method would have and that can't answer in this run.
    """

    def __init__(self, tools: Iterable[Tool], missing: Iterable[MissingTool] = ()) -> None:
        """Collect the tools.

        Raises:
            ValueError: two tools answer to the same name.
        """
        self.missing = tuple(missing)
        self._tools: dict[str, Tool] = {}
        self._by_any_name: dict[str, Tool] = {}
        for tool in tools:
            self._tools[tool.name] = tool
            for name in (tool.name, *tool.aliases):
                if name in self._by_any_name:
                    raise ValueError(f"two tools answer to {name!r}")
                self._by_any_name[name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' own names, in order."""
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        """The tool of that name or alias."""
        return self._by_any_name.get(name)

    def select(self, wanted: Iterable[str | Tool]) -> "Toolset":
        """Only these tools, by name or alias, in this set's order; a tool that is given itself comes after them.

        Raises:
            BadInput: there is no such tool, or two of them answer to the same name.
        """
        chosen: dict[str, Tool] = {}
        for item in wanted:
            found = self.get(item.strip()) if isinstance(item, str) else item
            if found is None:
                raise BadInput(f"there is no tool {str(item).strip()[:_NAME_SHOWN]!r}; there are: {self._have()}")
            chosen[found.name] = found
        own = [item for item in self if chosen.get(item.name) is item]
        try:
            return Toolset([*own, *(item for item in chosen.values() if self._tools.get(item.name) is not item)])
        except ValueError as error:
            raise BadInput(f"{error}; give one of them another name, or leave it out") from error

    def _have(self) -> str:
        """Return the names of available tools, for messages."""
        return ", ".join(self.names)

    def usable(self, have: Collection[Need]) -> "Toolset":
        """Only the tools that can answer in a run that has this; the others are its ``missing``."""
        lacking = {item.name: lacks[0] for item in self if (lacks := item.lacks(have))}
        missing = (MissingTool(name, MISSING[need], PROVIDED_BY.get(need, "")) for name, need in lacking.items())
        return Toolset((item for item in self if item.name not in lacking), missing)

    async def run(
        self,
        calls: Sequence[ToolCall],
        case: Case,
        *,
        seconds: float = CALL_SECONDS,
        most_images: int | None = None,
    ) -> tuple[Observation, ...]:
        """Carry out independent calls at once; one observation for each, in order. A bad call is an observation too.

        Images get their handles in the order of the calls, whichever was done first. An exception that tools don't
        raise on purpose is a bug: it comes out as it is, once the other calls have been stopped. A call that brings
        more than ``most_images`` with those before it is told so, and its images get no handles.
        """
        tasks = [asyncio.create_task(self._attempt(call, case, seconds)) for call in calls]
        try:
            done = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        found: list[Observation] = []
        images = 0
        for call, (name, outcome, took, uses) in zip(calls, done, strict=True):
            brought = len(outcome.images) if isinstance(outcome, Output) else 0
            fits = most_images is None or not brought or images + brought <= most_images
            images += brought if fits else 0
            shown = outcome if fits else _no_room(brought, most_images or 0)
            seen = replace(_observation(call, name, shown, took, case), services=uses)
            found.append(replace(seen, mended=self._describe_corrections(call)) if seen.failure is None else seen)
        return tuple(found)

    def _describe_corrections(self, call: ToolCall) -> Mended | None:
        """Return what was corrected in a call that worked."""
        tool = self.get(call.name)
        box = None if tool is None else tool.read(call.arguments)[0].get("bbox_2d")
        swapped = isinstance(box, list) and len(box) == 4 and (box[0] > box[2] or box[1] > box[3])
        return call.mended or ("box" if swapped else None)

    async def _attempt(
        self, call: ToolCall, case: Case, seconds: float
    ) -> tuple[str, "Output | _Failure", float, tuple[ServiceUse, ...]]:
        started = time.perf_counter()
        found = self.get(call.name)
        name = found.name if found else writable(call.name[:_NAME_SHOWN])
        with counting_services() as uses:
            outcome = await _call(found, call, case, seconds) if found else self._build_unknown_failure(call)
        return name, outcome, time.perf_counter() - started, merge_uses(uses)

    def _build_unknown_failure(self, call: ToolCall) -> "_Failure":
        have = f"there are: {', '.join(self.names)}" if self._tools else "there are none"
        return _Failure("unknown_tool", f"there is no tool {call.name[:_NAME_SHOWN]!r}; {have}")


@dataclass(frozen=True, slots=True)
class _Failure:
    kind: FailureKind
    text: str


def _no_room(images: int, most: int) -> _Failure:
    brings = f"this call brings {images} image{'s' if images > 1 else ''}"
    if images > most:
        return _Failure("refused", f"{brings}, and no more than {most} can be shown at once; ask for fewer")
    return _Failure("no_room", f"{brings} more than the {most} that one turn can show; make it again in the next turn")


async def _call(found: Tool, call: ToolCall, case: Case, seconds: float) -> Output | _Failure:
    try:
        arguments, unknown = found.read(call.arguments)
    except BadInput as error:
        return _Failure("bad_arguments", str(error))
    try:
        async with asyncio.timeout(seconds) as limit:
            output = await found(case, **arguments)
    except TimeoutError:
        if not limit.expired():
            raise
        return _Failure("timeout", f"{found.name} took longer than {seconds:g} s")
    except ServiceFault as error:
        return _Failure("service", str(error))
    except UserError as error:
        return _Failure("refused", str(error))
    if not unknown:
        return output
    ignored = f"(not arguments of {found.name}, ignored: {', '.join(unknown)})"
    return replace(output, text=f"{output.text}\n{ignored}")


def _observation(call: ToolCall, name: str, outcome: Output | _Failure, seconds: float, case: Case) -> Observation:
    if isinstance(outcome, _Failure):
        return Observation(call.id, name, redact(outcome.text), failure=outcome.kind, seconds=seconds)
    images = tuple(image_info(case, _register(case, image)) for image in outcome.images)
    text, data, sources = redact(outcome.text), redact(outcome.data), redact(outcome.sources)
    return Observation(call.id, name, text, data, images, sources, seconds=seconds)


def _register(case: Case, image: View | Photo) -> View:
    return case.album.add(image) if isinstance(image, Photo) else case.album.keep(image)


def image_info(case: Case, view: View) -> ImageInfo:
    """Return the record of a view for trajectories."""
    return ImageInfo(view.handle, view.size, case.album.find_number(view), view.box_in_original)


class ToolCatalogue(Toolset):
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
        return None if named is None else _load_tool(named)

    def _have(self) -> str:
        return ", ".join((*self.names, *plugins.ids("tools")))


@cache
def all_tools() -> ToolCatalogue:
    """All tools, in the order that models are shown them: every `Tool` that a module beside this one declares."""
    package = __name__.rpartition(".")[0]
    here = import_module(package).__path__
    names = [module.name for module in iter_modules(here) if not module.ispkg]
    declared = [tool for name in names for tool in _list_declared_tools(f"{package}.{name}")]
    return ToolCatalogue(
        sorted(declared, key=lambda tool: _ORDER.index(tool.name) if tool.name in _ORDER else len(_ORDER))
    )


def with_plugins() -> tuple[Toolset, tuple[BrokenPlugin, ...]]:
    """All tools, those of installed plug-ins at the end, and why others of these can't be used."""
    tools, broken = list(all_tools()), []
    for plugin in plugins.list_installed("tools"):
        try:
            tools.append(_load_tool(plugin))
            Toolset(tools)
        except BrokenPlugin as error:
            broken.append(error)
        except ValueError as error:
            tools.pop()
            broken.append(BrokenPlugin(plugin.id, str(error)))
    return Toolset(tools), tuple(broken)


def _only(name: str) -> plugins.Plugin | None:
    """Return the only plug-in whose tool has this name."""
    found = [item for item in plugins.list_installed("tools") if item.name == name]
    return found[0] if len(found) == 1 else None


@cache
def _load_tool(plugin: plugins.Plugin) -> Tool:
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


def _list_declared_tools(module: str) -> Iterator[Tool]:
    for value in vars(import_module(module)).values():
        # A module may import another's tool to call it.
        if isinstance(value, Tool) and value.function.__module__ == module:
            yield value
