"""Tools of MCP servers that the user names, as tools of an agent: only those on the user's list.

    {"mcpServers": {"tides": {"command": "uvx", "args": ["tide-tables"], "env": {"KEY": "${TIDES_KEY}"}},
                    "parks": {"url": "https://parks.example/mcp", "headers": {"Authorization": "Bearer ${PARKS}"}}}}

``${NAME}`` in a value of ``env`` or ``headers`` is taken from the environment, so that no key need stand in the file.
"""

import asyncio
import binascii
import json
import os
import re
import shlex
import tempfile
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from geosleuth.atlas.redaction import redact
from geosleuth.photo import Photo, PhotoLimits, open_photo
from geosleuth.support.errors import BadInput, ServiceFault, require
from geosleuth.support.files import read_json
from geosleuth.support.net import parse_host

from .argument_types import writable
from .calls import Case, Output
from .declare import Tool, parse_object
from .viewer import one_line

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

    from geosleuth.atlas.online.access import Secret

_MAX_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,23}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET = re.compile("auth|key|token|secret|password", re.IGNORECASE)
_FORM = '{"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}, or {"url": "https://…"} in place of the command'

# Timeout in seconds for a server to start and list its tools.
OPEN_TIMEOUT_S = 30.0
CALL_SECONDS = 45.0
_CLOSE_SECONDS = 8.0
_PAGES = 20
_TOOLS = 500
_LAST_WORDS = 200
_NAME_CHARS = 64
_SCHEMA_CHARS = 20_000
_DESCRIPTION_CHARS = 1500
_ANY_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
TEXT_CHARS = 8_000
DATA_CHARS = 100_000
IMAGES = 4
_LIMITS = PhotoLimits(max_bytes=8 * 1024 * 1024, max_pixels=16_000_000)
_REFUSAL_CHARS = 500
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Lender:
    """A server: a program that is started here, or an address. What is secret about it is never shown."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    folder: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    def keys(self) -> "list[Secret]":
        """Return the words of headers and variables whose names say that they hold a key."""
        from geosleuth.atlas.online.access import Secret

        given = [*self.env.items(), *self.headers.items()]
        return [Secret(word, name) for name, value in given if _SECRET.search(name) for word in value.split()]

    @property
    def where(self) -> str:
        """The host, or the program; arguments may hold keys and are left out."""
        if self.url is None:
            return f"the program {shlex.quote(one_line(self.command or '', 80))}, started on this machine"
        parts = urlsplit(self.url)
        host = parse_host(self.url)
        shown = f"[{host}]" if ":" in host else host
        return f"{shown}{f':{parts.port}' if parts.port else ''}{'' if parts.scheme == 'https' else ', unencrypted'}"


@dataclass(frozen=True, slots=True)
class Borrowing:
    """The servers of a file, and those of their tools that may be used, as (server, tool)."""

    lenders: tuple[Lender, ...]
    allowed: tuple[tuple[str, str], ...]

    @property
    def consent(self) -> str:
        """One line that says who gets to know what."""
        used = [
            lender
            for lender in self.lenders
            if not self.allowed or any(name == lender.name for name, _ in self.allowed)
        ]
        told = "; ".join(f"the MCP server {item.name} ({item.where})" for item in used)
        return f"{told} gets what the model asks of its tools, and can do whatever a program or a host can"


def read_borrowing(file: Path, allow: Iterable[str]) -> Borrowing:
    """Read the file of servers and the list of tools, each as SERVER.TOOL.

    Raises:
        BadInput: the user must fix the file or the list; nothing has been started or asked.
    """
    lenders = read_lenders(file)
    known = {lender.name for lender in lenders}
    allowed = []
    for word in allow:
        server, dot, name = word.strip().partition(".")
        if not dot or not name:
            raise BadInput(f"--mcp-allow {word[:60]!r} is no SERVER.TOOL; the servers are: {', '.join(sorted(known))}")
        if server not in known:
            raise BadInput(
                f"--mcp-allow {word[:60]!r}: {file} has no server {server!r}, but: {', '.join(sorted(known))}"
            )
        allowed.append((server, name))
    return Borrowing(lenders, tuple(dict.fromkeys(allowed)))


def read_lenders(file: Path) -> tuple[Lender, ...]:
    """The servers that a file names.

    Raises:
        BadInput: it can't be read as such a file.
    """
    try:
        document = read_json(file.expanduser(), _MAX_BYTES)
    except FileNotFoundError as error:
        raise BadInput(f"{file}: there is no such file; write {_FORM}") from error
    except OSError as error:
        raise BadInput(f"{file}: can't be read: {error.strerror or 'not a usable path'}") from error
    except ValueError as error:
        raise BadInput(f"{file}: this is not JSON; write {_FORM}") from error
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict) or not servers:
        raise BadInput(f"{file}: names no MCP server; write {_FORM}")
    return tuple(_lender(file, name, entry) for name, entry in servers.items())


def _lender(file: Path, name: str, entry: Any) -> Lender:
    here = f"{file}: the server {name[:40]!r}"
    if not _NAME.fullmatch(name):
        raise BadInput(f"{here} needs another name: up to 24 letters, digits and hyphens")
    if not isinstance(entry, dict) or isinstance(entry.get("command"), str) == isinstance(entry.get("url"), str):
        raise BadInput(f"{here} needs a command or a url, one of the two; write {_FORM}")
    url, command = entry.get("url"), entry.get("command")
    if url is not None:
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parse_host(url)) and (parts.port or 1) > 0
        except ValueError:
            usable = False
        if not usable:
            raise BadInput(f"{here} has no address that can be asked; write https://HOST/mcp")
        return Lender(name, url=url, headers=_texts(here, "headers", entry.get("headers")))
    args, folder = entry.get("args", []), entry.get("cwd")
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        raise BadInput(f"{here}: args must be a list of texts")
    if folder is not None and not isinstance(folder, str):
        raise BadInput(f"{here}: cwd must be the name of a folder")
    return Lender(name, command, tuple(args), _texts(here, "env", entry.get("env")), folder)


def _texts(here: str, key: str, given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise BadInput(f"{here}: {key} must be an object of texts")
    return {name: _fill_variables(here, value) for name, value in given.items()}


def _fill_variables(here: str, value: str) -> str:
    def look_up(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise BadInput(f"{here}: the variable {match[1]} is not set; set it, or write the value itself")
        return found

    return _VARIABLE.sub(look_up, value)


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as its server describes it."""

    name: str
    description: str | None
    input_schema: Mapping[str, Any]


class Connection:
    """A server that is asked.

    Attributes:
        lender: which one.
        offered: its tools, once it is open.
        trouble: why it can't be asked; None where it can.
    """

    def __init__(self, lender: Lender) -> None:
        """Nothing is started before `open`."""
        self.lender = lender
        self.offered: tuple[Offered, ...] = ()
        self.trouble: str | None = None
        self._client: Client | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        # Held for as long as the server may repeat them.
        self._keys = lender.keys()

    async def open(self) -> None:
        """Start or reach the server and ask what it has; where that fails, ``trouble`` says why.

        Raises:
            MissingExtra: the SDK is not installed.
        """
        require("mcp", extra="serve")
        opened = asyncio.Event()
        self._keeper = asyncio.create_task(self._hold_connection(opened))
        waiting = asyncio.create_task(opened.wait())
        try:
            await asyncio.wait({self._keeper, waiting}, timeout=OPEN_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if not opened.is_set() and self.trouble is None:
            self.trouble = f"it said nothing for {OPEN_TIMEOUT_S:g} s"
            self._keeper.cancel()

    async def call(self, name: str, arguments: dict[str, Any]) -> "CallToolResult":
        """Ask for one call.

        Raises:
            ServiceFault: the server can't be asked, took too long, or answered nonsense.
        """
        if self._client is None:
            raise self._fault(self.trouble or "it is gone")
        asking = asyncio.create_task(self._client.session.call_tool(name, arguments))
        ends = {asking, self._keeper} if self._keeper else {asking}
        try:
            done, _ = await asyncio.wait(ends, timeout=CALL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise self._fault(f"it took longer than {CALL_SECONDS:g} s", retryable=True)
            if asking not in done:
                raise self._fault(self.trouble or "it is gone")
            return asking.result()
        except ServiceFault:
            raise
        except Exception as error:
            raise self._fault(_summarize_error(error)) from error
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def close(self) -> None:
        """Let go of it; a program that was started is ended."""
        self._leave.set()
        if self._keeper is None:
            return
        done, _ = await asyncio.wait({self._keeper}, timeout=_CLOSE_SECONDS)
        if not done:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)

    async def _hold_connection(self, opened: asyncio.Event) -> None:
        """Keep the connection to the server open until it is to be closed or fails."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            try:
                async with AsyncExitStack() as held:
                    client = await held.enter_async_context(_client(self.lender, said))
                    self.offered = await _list_tools(client)
                    self._client = client
                    opened.set()
                    await self._leave.wait()
            except Exception as error:  # noqa: BLE001  (reported to the next caller that asks the server)
                self.trouble = redact(_last_line(said) or _summarize_error(error))
            finally:
                self._client = None

    def _fault(self, trouble: str, *, retryable: bool = False) -> ServiceFault:
        return ServiceFault(f"the MCP server {self.lender.name}", trouble, retryable=retryable)


@asynccontextmanager
async def _client(lender: Lender, said: IO[str]) -> "AsyncIterator[Client]":
    """Yield a client of the official SDK; the stderr of a program goes to ``said``."""
    import httpx2
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as held:
        if lender.url is None:
            program = StdioServerParameters(
                command=lender.command or "", args=list(lender.args), env=dict(lender.env), cwd=lender.folder
            )
            transport: Any = stdio_client(program, errlog=said)  # type: ignore[arg-type]
        else:
            limits = httpx2.Timeout(OPEN_TIMEOUT_S, read=CALL_SECONDS)
            http = await held.enter_async_context(httpx2.AsyncClient(headers=dict(lender.headers), timeout=limits))
            transport = streamable_http_client(lender.url, http_client=http)
        yield await held.enter_async_context(Client(transport))


async def _list_tools(client: "Client") -> tuple[Offered, ...]:
    found: list[Offered] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [Offered(tool.name, tool.description, tool.input_schema) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None or len(found) >= _TOOLS:
            break
    return tuple(found[:_TOOLS])


def _summarize_error(error: BaseException) -> str:
    """Return the innermost error of a chain or group, on one line."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return one_line(f"{error}" or type(error).__name__, _LAST_WORDS)


def _last_line(said: IO[str]) -> str | None:
    """Return the last line that a program wrote, which usually explains why it ended."""
    with suppress(OSError, ValueError):
        said.seek(0)
        lines = [line for line in said.read(100_000).splitlines() if line.strip()]
        return one_line(lines[-1], _LAST_WORDS) if lines else None
    return None


@dataclass(frozen=True, slots=True)
class GivenTool(Tool):
    """A tool with a JSON schema of its own in place of typed parameters.

    Arguments go to the function as they came, in one mapping: whether they fit is for the one to say who wrote the
    schema. Only that they are an object, and that nothing required is missing, is seen to here.
    """

    input_schema: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def schema(self) -> dict[str, Any]:
        """Name, description and the schema of the arguments, as it was given."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.input_schema)}

    def read(self, arguments: Mapping[str, Any] | str) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A model's arguments, under the one name that the function takes them by.

        Raises:
            BadInput: they are no object, or something required is missing.
        """
        found = parse_object(arguments, self._right_way)
        if missing := [name for name in self._list_mandatory_names() if name not in found]:
            raise BadInput(f"{', '.join(missing)} is missing; {self._right_way()}")
        return {"arguments": dict(found)}, ()

    def _list_mandatory_names(self) -> list[str]:
        required = self.input_schema.get("required")
        return [name for name in required if isinstance(name, str)][:20] if isinstance(required, list) else []

    def _right_way(self) -> str:
        inside = ", ".join(f'"{name}": …' for name in self._list_mandatory_names())
        return f"write one object: {{{inside}}}"


def tool_name(server: str, name: str) -> str:
    """Return the name by which models call a server's tool: only letters, digits, hyphens and underscores."""
    return f"{server}__{re.sub(r'[^A-Za-z0-9_-]', '_', name)}"[:_NAME_CHARS]


def usable_schema(schema: Any) -> dict[str, Any]:
    """A schema as models may be given it; one that describes no object, or is endless, is any object."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return dict(_ANY_OBJECT)
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return dict(_ANY_OBJECT)
    if len(text) > _SCHEMA_CHARS:
        return dict(_ANY_OBJECT)
    usable: dict[str, Any] = json.loads(text)
    # A service would refuse every request with such a tool in it, and the run would fail with it.
    if not isinstance(usable.setdefault("properties", {}), dict):
        return dict(_ANY_OBJECT)
    return usable


def usable_description(server: str, text: str | None) -> str:
    """A server's own words about its tool, said to be that, and not endless."""
    words = " ".join(writable(text or "").split()) or "It says nothing about it."
    cut = words if len(words) <= _DESCRIPTION_CHARS else f"{words[: _DESCRIPTION_CHARS - 1]}…"
    return f"A tool of the MCP server {server}, in its own words: {cut}"


def build_output(server: str, result: "CallToolResult") -> Output:
    """Return a result for models and reports: quoted, shortened if it is too long, with the server as its source."""
    from mcp.types import ImageContent

    images: list[Photo] = []
    remarks: list[str] = []
    for part in result.content:
        if not isinstance(part, ImageContent):
            continue
        if len(images) == IMAGES:
            remarks.append(f"(only the first {IMAGES} pictures are taken)")
            break
        try:
            images.append(_open_picture(part.data))
        except BadInput as error:
            remarks.append(f"(a picture was left out: {one_line(str(error))})")
    data = _limit_data(result.structured_content)
    text = _extract_text(result) or ("" if data is None else json.dumps(data, ensure_ascii=False))
    told = text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}… (cut: {len(text) - TEXT_CHARS} more characters)"
    title = f"From the MCP server {server}, as it came:" if told else f"The MCP server {server} said nothing."
    words = "\n".join([title, *([told] if told else []), *remarks])
    return Output(words, {"server": server, "result": data}, tuple(images), (f"MCP server {server}",))


def build_refusal(server: str, result: "CallToolResult") -> str:
    """Return a server's explanation of why its tool could not do what was asked."""
    return f"the MCP server {server} says: {one_line(_extract_text(result), _REFUSAL_CHARS) or 'it could not be done'}"


def _extract_text(result: "CallToolResult") -> str:
    from mcp.types import EmbeddedResource, ResourceLink, TextContent, TextResourceContents

    parts = []
    for part in result.content:
        match part:
            case TextContent():
                parts.append(part.text)
            case EmbeddedResource(resource=TextResourceContents() as resource):
                parts.append(resource.text)
            case ResourceLink():
                parts.append(str(part.uri))
            case _:
                pass
    return "\n".join(_readable(text) for text in parts).strip()


def _readable(text: str) -> str:
    """Return lines without control characters."""
    kept = text[: 4 * TEXT_CHARS].splitlines()
    return "\n".join(
        "".join(char for char in line if char == "\t" or char.isprintable()) for line in map(writable, kept)
    )


def _limit_data(data: Any) -> Any:
    """Return JSON data, or None if it is too large."""
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return json.loads(text) if len(text) <= DATA_CHARS else None


def _open_picture(data: str) -> Photo:
    if len(data) * 3 // 4 > _LIMITS.max_bytes:
        raise BadInput("it is too large")
    try:
        content = b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput("it is not base64") from error
    return open_photo(content, _LIMITS, kind="photo").photo


@asynccontextmanager
async def lent_tools(borrowing: Borrowing) -> AsyncIterator[tuple[GivenTool, ...]]:
    """The tools that may be used, while their servers are held; only servers with such a tool are started or asked.

    A server that can't be reached lends tools that say so when they are called: a run goes on without it.

    Raises:
        BadInput: the list allows nothing, or something that its server does not have; the message says what there is.
    """
    allowed = {
        lender.name: [name for server, name in borrowing.allowed if server == lender.name]
        for lender in borrowing.lenders
    }
    wanted = [lender for lender in borrowing.lenders if allowed[lender.name] or not borrowing.allowed]
    connections = [Connection(item) for item in wanted]
    try:
        await asyncio.gather(*(connection.open() for connection in connections))
        if not borrowing.allowed:
            raise BadInput(f"no tool of these servers is allowed yet; add --mcp-allow for each: {_all(connections)}")
        tools = [tool for connection in connections for tool in _lent(connection, allowed[connection.lender.name])]
        names = [item.name for item in tools]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise BadInput(f"two of the allowed tools would both be called {twice}; allow one of them")
        yield tuple(tools)
    finally:
        await asyncio.gather(*(connection.close() for connection in connections))


def _lent(connection: Connection, names: list[str]) -> list[GivenTool]:
    offered = {item.name: item for item in connection.offered}
    server = connection.lender.name
    if connection.trouble is None and (unknown := [name for name in names if name not in offered]):
        raise BadInput(f"the MCP server {server} has no tool {unknown[0][:60]!r}; it has: {_all([connection])}")
    made = []
    for name in names:
        own = offered.get(name) or Offered(name, "It could not be asked what this tool does.", {})
        made.append(
            GivenTool(
                tool_name(server, name),
                usable_description(server, own.description),
                (),
                partial(_call, connection, name),
                input_schema=usable_schema(own.input_schema),
            )
        )
    return made


async def _call(connection: Connection, name: str, case: Case, *, arguments: Mapping[str, Any]) -> Output:  # noqa: ARG001  # every tool takes the case
    server = connection.lender.name
    result = await connection.call(name, dict(arguments))
    if result.is_error:
        raise BadInput(build_refusal(server, result))
    return await asyncio.to_thread(build_output, server, result)


def _all(connections: list[Connection]) -> str:
    listed = [
        f"{connection.lender.name}.{one_line(tool.name, 60)}"
        for connection in connections
        for tool in connection.offered
    ]
    silent = [
        f"{connection.lender.name} can't be asked ({connection.trouble})"
        for connection in connections
        if connection.trouble
    ]
    more = [f"and {len(listed) - _SHOWN} more"] if len(listed) > _SHOWN else []
    return ", ".join([*listed[:_SHOWN], *more, *silent]) or "there is none"
