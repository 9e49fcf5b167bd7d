"""Models that are within reach already: named with the flag that uses them, and never used unasked.

A key is only looked for, not looked at. Servers on this machine are asked for the names of their models, briefly, and
for nothing else; the photo has no part in that.
"""

import json
import os
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geosleuth.net import host_of, is_loopback
from geosleuth.policies.services import SERVICES

SECONDS = 0.3
"""How long a server on this machine may take to say what it has."""

_MOST_BYTES = 1_000_000
_MOST_WEIGHTS = 50
_USUAL = {"vllm": "http://127.0.0.1:8000/v1", "server": "http://127.0.0.1:8080/v1"}


@dataclass(frozen=True, slots=True)
class Reachable:
    """A model that could be asked: the words to add to the command, and where it is."""

    flag: str
    where: str


def within_reach(*, offline: bool) -> list[Reachable]:
    """Every model that could be asked as things stand, those on this machine first."""
    found = list(_weights())
    if not offline:
        found += [*_served(), *_keyed()]
    return found


def reach_line(found: list[Reachable]) -> str | None:
    """One line for people; None where there is no model."""
    if not found:
        return None
    listed = "; ".join(f"{one.flag} ({one.where})" for one in found[:4])
    return f"a model that sees could tell more, and these are within reach: {listed}"


def command_with(found: list[Reachable], photo: Path) -> str | None:
    """The command that asks the first model within reach about a photo; None where there is no model."""
    return f"geosleuth locate {shlex.quote(str(photo))} {found[0].flag}" if found else None


def _keyed() -> Iterator[Reachable]:
    for prefix, service in SERVICES.items():
        named = next((name for name in service.key_variables if os.environ.get(name)), None)
        if named is not None and not service.own:
            yield Reachable(f"--model {prefix}:NAME", f"{named} is set")


def _served() -> list[Reachable]:
    addresses = {
        prefix: os.environ.get(service.base_url_variable or "", "") or service.base_url or _USUAL.get(prefix)
        for prefix, service in SERVICES.items()
        if service.own
    }
    own = [(prefix, url) for prefix, url in addresses.items() if url and is_loopback(host_of(url))]
    with ThreadPoolExecutor(max(1, len(own))) as threads:
        return [one for found in threads.map(lambda pair: _ask(*pair), own) for one in found]


def _ask(prefix: str, url: str) -> list[Reachable]:
    import httpx

    try:
        # No proxy and no redirect: what is meant for this machine stays on it.
        with (
            httpx.Client(timeout=SECONDS, trust_env=False, follow_redirects=False) as client,
            client.stream("GET", f"{url.rstrip('/')}/models") as reply,
        ):
            body = b""
            for piece in reply.iter_bytes():
                body += piece
                if len(body) > _MOST_BYTES:
                    return []
            rows: Any = json.loads(body)["data"] if reply.status_code == 200 else []
            names = [row["id"] for row in rows if isinstance(row["id"], str)]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, OSError):
        return []
    where = f"served at {urlsplit(url).netloc}"
    usual = SERVICES[prefix].base_url is not None
    address = "" if usual else f" --base-url {url}"
    return [Reachable(f"--model {prefix}:{_plain(name)}{address}", where) for name in names[:2]]


def _plain(name: str) -> str:
    """A model's name as a server gives it, which may be anything."""
    return "".join(letter for letter in name[:80] if letter.isalnum() or letter in "-_.:/@")


def _weights() -> Iterator[Reachable]:
    """Models that see, in the folder that Hugging Face's tools keep downloads in."""
    home = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or "~/.cache/huggingface") / "hub"
    try:
        configs = sorted(Path(home).expanduser().glob("models--*/snapshots/*/config.json"))[:_MOST_WEIGHTS]
    except OSError:
        return
    for path in configs:
        try:
            config = json.loads(path.read_bytes()[:_MOST_BYTES])
        except (OSError, ValueError):
            continue
        whole = any(path.parent.glob("*.safetensors"))
        if whole and isinstance(config, dict) and "vision_config" in config and _speaks(config):
            yield Reachable(f"--model hf:{path.parent}", "weights on this disk")


def _speaks(config: dict[str, Any]) -> bool:
    return any("ConditionalGeneration" in str(one) for one in config.get("architectures") or ())
