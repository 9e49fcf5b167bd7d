"""The user's MCP servers, from a JSON file of the usual form, and the list of their tools that may be used.

    {"mcpServers": {"tides": {"command": "uvx", "args": ["tide-tables"], "env": {"KEY": "${TIDES_KEY}"}},
                    "parks": {"url": "https://parks.example/mcp", "headers": {"Authorization": "Bearer ${PARKS}"}}}}

``${NAME}`` in a value of ``env`` or ``headers`` is taken from the environment, so that no key need stand in the file.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from geosleuth.errors import BadInput
from geosleuth.tools.wording import one_line

if TYPE_CHECKING:
    from geosleuth.atlas.online.access import Secret

_MOST_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,23}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET = re.compile("auth|key|token|secret|password", re.IGNORECASE)
_FORM = '{"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}, or {"url": "https://…"} in place of the command'


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
        return f"{parts.netloc.rpartition('@')[2]}{'' if parts.scheme == 'https' else ', unencrypted'}"


@dataclass(frozen=True, slots=True)
class Borrowing:
    """The servers of a file, and those of their tools that may be used, as (server, tool)."""

    lenders: tuple[Lender, ...]
    allowed: tuple[tuple[str, str], ...]

    @property
    def consent(self) -> str:
        """One line that says who gets to know what."""
        used = [one for one in self.lenders if not self.allowed or any(name == one.name for name, _ in self.allowed)]
        told = "; ".join(f"the MCP server {one.name} ({one.where})" for one in used)
        return f"{told} gets what the model asks of its tools, and can do whatever a program or a host can"


def borrowing_of(file: Path, allow: Iterable[str]) -> Borrowing:
    """Read the file of servers and the list of tools, each as SERVER.TOOL.

    Raises:
        BadInput: the file or the list must be mended; nothing has been started or asked.
    """
    lenders = read_lenders(file)
    known = {one.name for one in lenders}
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
        with file.expanduser().open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise BadInput(f"{file}: too large for a list of MCP servers; write {_FORM}")
        document = json.loads(data)
    except FileNotFoundError as error:
        raise BadInput(f"{file}: there is no such file; write {_FORM}") from error
    except OSError as error:
        raise BadInput(f"{file}: can't be read: {error.strerror or 'not a usable path'}") from error
    except (ValueError, RecursionError) as error:
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
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            usable = False
        if not usable:
            raise BadInput(f"{here} has no address that can be asked; write https://HOST/mcp")
        return Lender(name, url=url, headers=_texts(here, "headers", entry.get("headers")))
    args, folder = entry.get("args", []), entry.get("cwd")
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        raise BadInput(f"{here}: args must be a list of texts")
    if folder is not None and not isinstance(folder, str):
        raise BadInput(f"{here}: cwd must be the name of a folder")
    return Lender(name, command, tuple(args), _texts(here, "env", entry.get("env")), folder)


def _texts(here: str, key: str, given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise BadInput(f"{here}: {key} must be an object of texts")
    return {name: _filled(here, value) for name, value in given.items()}


def _filled(here: str, value: str) -> str:
    def look_up(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise BadInput(f"{here}: the variable {match[1]} is not set; set it, or write the value itself")
        return found

    return _VARIABLE.sub(look_up, value)
