"""Behaviour of the MCP server, independent of the transport."""

import asyncio
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geosleuth.agent.locate import open_case
from geosleuth.agent.methods import method
from geosleuth.agent.setup import Resources
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.photo import Album
from geosleuth.photo.nature import add_nature_verdict, looks_like
from geosleuth.pipeline.plan import Plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.support.console import talk
from geosleuth.support.errors import BadInput, GeosleuthError, UserError
from geosleuth.tools import Case, FailureKind, Observation, Output, Tool, Toolset, image_info
from geosleuth.tools.calls import list_supplies
from geosleuth.tools.surfaces import call_mcp, mcp_result, mcp_tools
from geosleuth.tools.toolset import with_plugins

from .own_tools import (
    MAP_PAGE,
    OWN_TOOLS,
    Locating,
    Notify,
    PhotoShelf,
    PhotoSource,
    Shelved,
    Visit,
    build_locate_schema,
    build_open_photo_schema,
    new_handle,
)

if TYPE_CHECKING:
    from mcp.types import CallToolResult
    from mcp.types import Tool as ProtocolTool

    from geosleuth.tools.calls import Need

_CALLS_AT_ONCE = 8
# A photo takes much more memory while it is opened than afterwards.
_OPENED_AT_ONCE = 2
_PHOTO = {"type": "string", "description": "handle of the photo, as open_photo or a result gave it"}


def _load_toolset() -> Toolset:
    """Return all tools, those of plug-ins too; one that can't be loaded is logged."""
    tools, broken = with_plugins()
    for item in broken:
        talk(f"geosleuth: {item}")
    return tools


@dataclass(slots=True)
class McpService:
    """Opens photos, runs tools on them and locates them; the only state is the shelf of photos.

    Attributes:
        plan: the server's settings: model, services, offline or not.
        request: the same in words, for `locate`.
        source: where photos may come from.
        atlas: the world on this machine.
    """

    plan: Plan
    request: LocateRequest
    source: PhotoSource
    atlas: OfflineAtlas = field(default_factory=OfflineAtlas)
    shelf: PhotoShelf = field(default_factory=PhotoShelf)
    toolset: Toolset = field(default_factory=_load_toolset)
    _at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_CALLS_AT_ONCE))
    _opening: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_OPENED_AT_ONCE))
    _held: AsyncExitStack = field(default_factory=AsyncExitStack)
    _base: asyncio.Task[Path] | None = None
    _locating: Locating | None = None

    async def __aenter__(self) -> "McpService":
        """Begin; the base atlas, where it was never built, is built meanwhile."""
        self._base = asyncio.create_task(asyncio.to_thread(ensure_base))
        self._locating = Locating(self.plan, self.request, self.atlas, self._held)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go of models and services."""
        if self._base is not None:
            self._base.cancel()
            await asyncio.gather(self._base, return_exceptions=True)
        await _close(self.shelf.clear())
        await self._held.aclose()

    def list_tools(self) -> "list[ProtocolTool]":
        """Return the tools as clients see them: the server's own, then those that can answer, always in one order."""
        beyond = ("locate",) if self._locates_beyond else ()
        # Every opening gives a new handle, and a model's reply costs again.
        own = mcp_tools(OWN_TOOLS, open_world=beyond, not_idempotent=("open_photo", *beyond))
        for item, schema in zip(own, (build_open_photo_schema(), build_locate_schema()), strict=True):
            item.output_schema = schema
        own[-1].meta = {"ui": {"resourceUri": MAP_PAGE}}
        able = self.toolset.usable(
            list_supplies(
                self._map,
                visual=self.plan.searches.visual,
                similar=bool(self.plan.searches.images or self.plan.searches.index),
                web=self.plan.searches.web,
                offline=self.request.offline,
            )
        )
        rest = mcp_tools(able, open_world=self._open_world())
        for item, ours in zip(rest, able, strict=True):
            item.input_schema = _with_photo(ours, item.input_schema)
            if ours.outside_runs:
                item.description = f"{item.description}\n\n{ours.outside_runs}"
        return [*own, *rest]

    @property
    def _locates_beyond(self) -> bool:
        return bool(self.plan.policy.hosts) or bool(self._open_world())

    def _open_world(self) -> frozenset[str]:
        beyond: set[Need] = {"network"}
        beyond |= {"atlas", "documents"} if self.plan.searches.maps else set()
        beyond |= {"web"} if self.plan.searches.web else set()
        beyond |= {"index"} if self.plan.searches.images else set()
        return frozenset(item.name for item in self.toolset if not beyond.isdisjoint(item.needs))

    async def call(self, name: str, arguments: Mapping[str, Any] | None, notify: Notify) -> "CallToolResult":
        """Carry out one call; any error in it is reported in the result."""
        given = dict(arguments or {})
        # Half a surrogate pair passes for text, and breaks any output that contains it, our answer too.
        if halved := [key for key, value in {"name": name, **given}.items() if not _is_whole(key, value)]:
            where = repr(halved[0])[:60] if halved[0].isprintable() else "an argument's name"
            reason = f"{where} holds half of a surrogate pair, which is no character; send whole characters"
            return await mcp_result(_build_failure(name if _is_whole(name) else "unknown", reason, "bad_arguments"))
        try:
            for own in OWN_TOOLS:
                if own.name == name:
                    return await self._own(own, given, notify)
            return await self._call_shared_tool(name, given)
        except UserError as error:
            return await mcp_result(_build_failure(name, str(error), "refused"))
        except GeosleuthError as error:
            return await mcp_result(_build_failure(name, str(error), "service"))
        except Exception as error:  # noqa: BLE001  (a bug must not end the server; it is reported and logged)
            traceback.print_exc(file=sys.stderr)
            talk(f"geosleuth: a bug in {name[:60]}: {type(error).__name__}")
            return await mcp_result(
                _build_failure(name, f"something in the server broke: {type(error).__name__}", "refused")
            )

    async def _own(self, own: Tool, given: dict[str, Any], notify: Notify) -> "CallToolResult":
        arguments, unknown = own.read(given)
        if unknown:
            raise BadInput(
                f"unknown {'arguments' if len(unknown) > 1 else 'argument'} of {own.name}: {', '.join(unknown)}"
            )
        done = await own.function(Visit(self, notify), **arguments)
        handle = done.data.get("photo") if own.name == "open_photo" else None
        case = self.shelf.get(handle).case if handle else None
        images = tuple(image_info(case, image) for image in done.images) if case else ()  # type: ignore[arg-type]
        seen = Observation("mcp", own.name, done.text, done.data, images, done.sources)
        return await mcp_result(seen, case, photo=handle)

    async def _call_shared_tool(self, name: str, given: dict[str, Any]) -> "CallToolResult":
        await self._atlas_built()
        found = self.toolset.get(name)
        if found is None:
            offered = ", ".join(tool.name for tool in self.list_tools())
            return await mcp_result(
                _build_failure(name, f"there is no tool {name[:60]!r}; there are: {offered}", "unknown_tool")
            )
        if found.takes_image:
            handle = given.pop("photo", None)
            if not isinstance(handle, str):
                raise BadInput("photo is missing; it must be a handle that open_photo gave")
            case = self.shelf.get(handle).case
        else:
            given.pop("photo", None)
            handle, case = new_handle(), self._case()
        async with self._at_once:
            done = await call_mcp(self.toolset, case, name, given, photo=handle.strip())
        if case.album.handles and not found.takes_image:
            await _close(self.shelf.put(Shelved(handle, case)))
        return done

    async def open(self, path: str, data: str) -> Output:
        """Open a photo and keep it on the shelf.

        Raises:
            BadInput: it can't be opened, or may not be read.
        """
        async with self._opening:
            opened = await asyncio.to_thread(add_nature_verdict, await self.source.open(path, data))
            similar = self.plan.searches.find_similar([opened])
            made = method("default")
            resources = Resources(self._map, self.plan.searches.web, similar, self.plan.searches.visual)
            case, notes = await asyncio.to_thread(open_case, [opened], made, resources)
        shelved = Shelved(new_handle(), case, opened, notes)
        await _close(self.shelf.put(shelved))
        views = [case.album[handle] for handle in case.album.handles]
        width, height = opened.photo.size
        words = [f"Opened {shelved.handle}: a {opened.photo.kind} of {width} x {height} pixels, shown as"]
        words += [f"{', '.join(view.handle for view in views)}.", *(f"{note}." for note in notes)]
        if (nature := opened.claims.not_a_photo) is not None:
            words.append(f"It {looks_like(nature)}: what it shows may lie elsewhere, or nowhere.")
        facts = {
            "photo": shelved.handle,
            "width": width,
            "height": height,
            "kind": opened.photo.kind,
            "notes": list(notes),
            **({"not_a_photo": nature} if nature else {}),
        }
        return Output(" ".join(words), facts, tuple(views), ("photo",))

    async def locate(self, notify: Notify, handles: Sequence[str], **words: Any) -> Output:
        """Find out where the photos of some handles were taken.

        Raises:
            UserError: it can't be done as asked.
            GeosleuthError: the model failed.
        """
        if self._locating is None:
            raise RuntimeError("the service was not begun")
        if not handles:
            raise BadInput("photos names no photo; open one with open_photo, and give its handle")
        photos = []
        for handle in dict.fromkeys(item.strip() for item in handles):
            opened = self.shelf.get(handle).opened
            if opened is None:
                raise BadInput(f"{handle} is a map, not a photo; give a handle from open_photo")
            photos.append(opened)
        await self._atlas_built()
        return await self._locating.run(notify, photos, **words)

    @property
    def _map(self) -> Any:
        return self.plan.searches.maps or self.atlas

    def _case(self) -> Case:
        return Case(Album(), self._map, web=self.plan.searches.web, visual=self.plan.searches.visual)

    async def _atlas_built(self) -> None:
        if self._base is not None and not self._base.done():
            await asyncio.shield(self._base)


async def _close(gone: Iterable[Shelved]) -> None:
    """Close the image searches of photos that were dropped."""
    for item in gone:
        if close := getattr(item.case.similar, "aclose", None):
            await close()


def _with_photo(tool: Tool, schema: dict[str, Any]) -> dict[str, Any]:
    if not tool.takes_image:
        return schema
    return {
        **schema,
        "properties": {"photo": _PHOTO, **schema["properties"]},
        "required": ["photo", *schema.get("required", [])],
    }


def _is_whole(*values: Any) -> bool:
    for value in values:
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                return False
        elif isinstance(value, Mapping):
            if not _is_whole(*value.keys(), *value.values()):
                return False
        elif isinstance(value, list | tuple) and not _is_whole(*value):
            return False
    return True


def _build_failure(name: str, text: str, kind: FailureKind) -> Observation:
    return Observation("mcp", name[:60], text, failure=kind)
