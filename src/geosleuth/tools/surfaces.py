"""The ways tools are offered: native calls, tagged text, MCP, a training environment; each derived from ``Tool``.

TRL makes one object per rollout, calls ``reset`` with the columns of the data set, lists every public method as a tool
(its schema read from the signature and the docstring) and calls them with what the model wrote.

They promise what is always there and no more: a reader must expect further keys.
"""

import asyncio
import inspect
import json
import keyword
import threading
import weakref
from base64 import b64encode
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from geosleuth.photo import View, encode
from geosleuth.support.errors import BadInput, require

from .argument_types import without_none
from .calls import Case, ImageInfo, Observation, ToolCall
from .declare import Schema, Tool
from .toolset import CALL_SECONDS, Toolset

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock
    from mcp.types import Tool as ProtocolTool

_T = TypeVar("_T")
_TAKEN = ("reset", "get_reward")

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
YES_NO: Schema = {"type": "boolean"}
POINT = {"lat": NUMBER, "lon": NUMBER}
_MIN_SIDE_PX = 64
_MIN_QUALITY = 30
# Maximum size of all pictures in one result: clients reject messages over one mebibyte, and JSON enlarges pictures.
PICTURE_BYTES = 560_000


class EnvironmentBase:
    """Common part of all environments; a subclass gets the tools from `tool_methods`.

    Attributes:
        case: what the tools work on, made anew by every ``reset``; None before the first.
        observations: the outcomes of all calls since, for rewards to look at.
    """

    case: Case | None = None
    observations: tuple[Observation, ...] = ()

    def _carry_out(self, call: ToolCall) -> Observation:
        """Return the outcome of a call; the name keeps trainers from taking it for a tool."""
        raise NotImplementedError


def own_words(seen: Observation) -> str:
    """Return a tool's own words without additions."""
    return seen.text


def tool_methods(
    tools: Iterable[Tool], *, words: Callable[[Observation], str] = own_words
) -> dict[str, Callable[..., Any]]:
    """A method for each tool, by name, for classes of `EnvironmentBase`; each lets ``_carry_out`` make its call.

    A method returns what the tool says; where there are pictures too, a list of text and image parts. A bad call is
    answered as in any other run, by the words of its observation. ``words`` is what a model reads of an observation;
    give what the wire of later runs uses, so that training sees the same.

    Raises:
        ValueError: a tool's name can't be that of a method.
    """
    methods = {}
    for tool in tools:
        if (
            not tool.name.isidentifier()
            or keyword.iskeyword(tool.name)
            or tool.name.startswith("_")
            or tool.name in _TAKEN
        ):
            raise ValueError(f"the tool {tool.name!r} can't be a method of a training environment")
        methods[tool.name] = _method(tool, words)
    return methods


def _method(tool: Tool, words: Callable[[Observation], str]) -> Callable[..., Any]:
    def method(self: EnvironmentBase, /, **arguments: Any) -> str | list[dict[str, Any]]:
        seen = self._carry_out(ToolCall(f"call-{len(self.observations) + 1}", tool.name, arguments))
        self.observations += (seen,)
        return content_parts(seen, words(seen), self.case)

    method.__name__ = tool.name
    method.__qualname__ = f"ToolEnvironment.{tool.name}"
    method.__doc__ = _docstring(tool)
    # The schema is read from these. No return type is given and no type says None: either would add to the schema.
    hints = {parameter.name: without_none(parameter.type) for parameter in tool.visible_parameters}
    method.__annotations__ = hints
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [
            inspect.Parameter(
                parameter.name,
                # A required argument may come after one that is not, which only keyword arguments allow.
                inspect.Parameter.KEYWORD_ONLY,
                default=parameter.default,
                annotation=hints[parameter.name],
            )
            for parameter in tool.visible_parameters
        ]
    )
    return method


def _docstring(tool: Tool) -> str:
    if not tool.visible_parameters:
        return tool.description
    lines = (f"    {parameter.name}: {parameter.description}" for parameter in tool.visible_parameters)
    return "\n".join((tool.description, "", "Args:", *lines))


def content_parts(seen: Observation, text: str, case: Case | None) -> str | list[dict[str, Any]]:
    """The words alone or, where pictures came with them, a list of text and image parts as chat templates take it."""
    if not seen.images or case is None:
        return text
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for info in seen.images:
        parts += [
            {"type": "text", "text": f"\n{info.caption}"},
            {"type": "image", "image": case.album[info.handle].image},
        ]
    return parts


class Background:
    """An event loop in a thread of its own: the methods are plain functions, and may be called from anywhere."""

    def __init__(self) -> None:
        """Nothing is started until the first call."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do the work there, and wait for it."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=(self._loop,), name="tool-environment", daemon=True).start()
                weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.close()


def native_tools(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """The tools in the form that OpenAI's interface made common."""
    return [{"type": "function", "function": tool.schema()} for tool in tools]


def describe_tagged(tools: Iterable[Tool]) -> str:
    """The tools as Qwen and Hermes models are used to see them: one JSON line each, between ``<tools>`` tags.

    The lines are those that a chat template writes for the same tools, to the letter.
    """
    lines = [json.dumps(entry, ensure_ascii=False) for entry in native_tools(tools)]
    return "\n".join(("<tools>", *lines, "</tools>"))


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def many(item: Schema, length: int | None = None) -> Schema:
    """A list of such."""
    exact = {} if length is None else {"minItems": length, "maxItems": length}
    return {"type": "array", "items": item, **exact}


def record(properties: dict[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """An object with these keys, all of them always there but the optional ones."""
    left_out = frozenset(optional)
    required = [name for name in properties if name not in left_out]
    return {"type": "object", "properties": properties, "required": required}


def table(value: Schema) -> Schema:
    """An object whose keys are data too."""
    return {"type": "object", "additionalProperties": value}


def envelope(data: Schema) -> Schema:
    """The structured result of one call: the data, where it came from, and the pictures that came with it."""
    return record({"data": data, "sources": many(TEXT), "images": many(IMAGE)})


def output_schema(tool: Tool) -> Schema:
    """The schema of the structured result of a tool."""
    return envelope(tool.data_schema())


IMAGE = record(
    {
        "handle": TEXT,
        "photo": {**TEXT, "description": "the photo that the handle belongs to, where photos are opened by handle"},
        "width": WHOLE,
        "height": WHOLE,
        "box": {**many(WHOLE, 4), "description": "left, top, right, bottom of what it shows, in the original's pixels"},
    },
    optional=("photo",),
)


def mcp_tools(
    tools: Iterable[Tool], *, open_world: Collection[str] = (), not_idempotent: Collection[str] = ()
) -> "list[ProtocolTool]":
    """The tools as an MCP server lists them, with what they take, what comes back, and how far they reach.

    None of our tools changes anything. Those named in ``open_world`` ask beyond this machine; calling those in
    ``not_idempotent`` again is not the same as calling them once.

    Raises:
        MissingExtra: the SDK is not installed.
    """
    types = require("mcp.types", extra="serve")
    return [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=tool.schema()["parameters"],
            output_schema=output_schema(tool),
            annotations=types.ToolAnnotations(
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=tool.name not in not_idempotent,
                open_world_hint=tool.name in open_world,
            ),
        )
        for tool in tools
    ]


async def call_mcp(
    toolset: Toolset,
    case: Case,
    name: str,
    arguments: Mapping[str, Any] | None,
    *,
    seconds: float = CALL_SECONDS,
    photo: str | None = None,
) -> "CallToolResult":
    """Carry out one call of an MCP client, see `mcp_result`; ``photo`` is what the client calls this case.

    Raises:
        MissingExtra: the SDK is not installed.
    """
    (seen,) = await toolset.run([ToolCall("mcp", name, arguments or {})], case, seconds=seconds)
    return await mcp_result(seen, case, photo=photo)


async def mcp_result(seen: Observation, case: Case | None = None, *, photo: str | None = None) -> "CallToolResult":
    """Return an observation as a result for MCP clients.

    What the tool says comes first, then each picture behind its caption; beside it the same for programs, as
    `output_schema` describes it. A call that gave nothing is a result marked as an error, so that the model behind the
    client reads what would be right. Where it came from is in the metadata too, under "sources".

    Raises:
        MissingExtra: the SDK is not installed.
    """
    types = require("mcp.types", extra="serve")
    content: list[ContentBlock] = [types.TextContent(text=seen.text)]
    if case is not None:
        for info in seen.images:
            content += await asyncio.to_thread(
                _build_image_blocks, info, case, photo, PICTURE_BYTES // len(seen.images)
            )
    meta = {"sources": list(seen.sources)}
    if seen.failure is not None:
        failed: CallToolResult = types.CallToolResult(content=content, is_error=True, _meta=meta)
        return failed
    structured = {
        "data": seen.data,
        "sources": list(seen.sources),
        "images": [_image_data(info, photo) for info in seen.images],
    }
    # By way of JSON: tools may hold numbers of other libraries.
    done: CallToolResult = types.CallToolResult(
        content=content, structured_content=json.loads(json.dumps(structured, allow_nan=False)), _meta=meta
    )
    return done


def _build_image_blocks(info: ImageInfo, case: Case, photo: str | None, max_bytes: int) -> "list[ContentBlock]":
    types = require("mcp.types", extra="serve")
    data, smaller = _fitting(case.album[info.handle], max_bytes)
    caption = info.caption if photo is None else f"{photo} {info.caption}"
    if smaller:
        caption = f"{caption} shown smaller than it is; boxes count in these pixels all the same:"
    picture = types.ImageContent(data=b64encode(data).decode(), mime_type="image/jpeg")
    return [types.TextContent(text=caption), picture]


def _fitting(view: View, max_bytes: int) -> tuple[bytes, bool]:
    """Return a view as a file of limited size, and whether it was reduced for that."""
    shown = view
    while True:
        try:
            return encode(shown, max_bytes=max_bytes), shown is not view
        except BadInput:
            width, height = shown.size
            if min(width, height) < _MIN_SIDE_PX:
                return encode(shown, quality=_MIN_QUALITY), True
            less = shown.image.resize((width * 2 // 3, height * 2 // 3))
            shown = View(view.handle, less, view.box_in_original, view.photo_handle)


def _image_data(info: ImageInfo, photo: str | None) -> dict[str, Any]:
    return {
        "handle": info.handle,
        **({} if photo is None else {"photo": photo}),
        "width": info.size[0],
        "height": info.size[1],
        "box": list(info.box_in_original),
    }
