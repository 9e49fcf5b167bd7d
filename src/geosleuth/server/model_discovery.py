"""Models within reach: servers on this machine, weights on its disk, keys. They are named and never used unasked.

A key is only looked for, not looked at. Servers on this machine are asked for the names of their models, briefly, and
whether these see pictures; a photo has no part in that.
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

from geosleuth.models.registry import SERVICES, keyring_key
from geosleuth.support.net import is_loopback, parse_host

# Timeout in seconds for a local server to list its models.
LISTING_TIMEOUT_S = 0.3

# Timeout in seconds if a user is waiting for the list.
PATIENT_TIMEOUT_S = 3.0

_MAX_BYTES = 1_000_000
_MAX_WEIGHTS = 50
_MAX_MODELS = 20
_USUAL = {"vllm": "http://127.0.0.1:8000/v1", "server": "http://127.0.0.1:8080/v1"}


@dataclass(frozen=True, slots=True)
class Reachable:
    """A model that could be asked.

    Attributes:
        model: its name, as ``--model`` takes it; NAME stands for one that the user has to choose.
        where: where it is, in words.
        base_url: its address, where that is not the usual one.
        sees: whether it takes pictures; None where its server does not say.
        sent_to: the host that gets photos; None where they stay on this machine.
    """

    model: str
    where: str
    base_url: str | None = None
    sees: bool | None = None
    sent_to: str | None = None

    @property
    def flag(self) -> str:
        """The words to add to the command."""
        return f"--model {self.model}" + (f" --base-url {self.base_url}" if self.base_url else "")


@dataclass(frozen=True, slots=True)
class Broken:
    """A server on this machine that is there and does not do what such a server does."""

    title: str
    where: str
    trouble: str


def within_reach(*, offline: bool) -> list[Reachable]:
    """Every model that could be asked as things stand, those on this machine first."""
    found = list(_weights())
    if not offline:
        served = [model for model in _find_served_models(LISTING_TIMEOUT_S, look=False) if isinstance(model, Reachable)]
        shown = dict.fromkeys(item.where for item in served)
        # Two of each server: this is one line.
        found += [item for where in shown for item in [each for each in served if each.where == where][:2]]
        found += list_keyed_services()
    return found


def look_around(*, ask: bool = True) -> tuple[list[Reachable], list[Broken]]:
    """Return every model within reach, with what is known of it, and the servers that are there and broken.

    Without ``ask`` no server is asked: weights and keys alone.
    """
    served = _find_served_models(PATIENT_TIMEOUT_S, look=True) if ask else []
    models = [item for item in served if isinstance(item, Reachable)]
    return [*models, *_weights(), *list_keyed_services(ringed=True)], [
        item for item in served if isinstance(item, Broken)
    ]


def reach_line(found: list[Reachable]) -> str | None:
    """One line for people; None where there is no model."""
    if not found:
        return None
    listed = "; ".join(f"{item.flag} ({item.where})" for item in found[:4])
    return f"a model that sees could tell more, and these are within reach: {listed}"


def build_locate_command(found: list[Reachable], photo: Path) -> str | None:
    """The command that asks the first model within reach about a photo; None where there is no model."""
    return f"geosleuth locate {shlex.quote(str(photo))} {found[0].flag}" if found else None


def list_keyed_services(*, ringed: bool = False) -> Iterator[Reachable]:
    """Services of others whose key is in the environment; with ``ringed`` also those in the system's keyring."""
    for prefix, service in SERVICES.items():
        if service.own:
            continue
        named = next((name for name in service.key_variables if os.environ.get(name)), None)
        where = f"{named} is set" if named else None
        if where is None and ringed and keyring_key(prefix):
            where = "its key is in the system's keyring"
        if where is not None:
            yield build_hosted(prefix, where)


def build_hosted(prefix: str, where: str) -> Reachable:
    """Return a service of others, any model of it."""
    service = SERVICES[prefix]
    host = parse_host(service.base_url or "") or f"{service.title}'s servers"
    return Reachable(f"{prefix}:NAME", where, sees=None, sent_to=host)


def _find_served_models(seconds: float, *, look: bool) -> list[Reachable | Broken]:
    addresses = {
        prefix: os.environ.get(service.base_url_variable or "", "") or service.base_url or _USUAL.get(prefix)
        for prefix, service in SERVICES.items()
        if service.own
    }
    own = [(prefix, url) for prefix, url in addresses.items() if url and is_loopback(parse_host(url))]
    with ThreadPoolExecutor(max(1, len(own))) as threads:
        asked = threads.map(lambda pair: _ask_model_server(pair[0], pair[1], seconds, look=look), own)
        return [item for found in asked for item in found]


def _ask_model_server(prefix: str, url: str, seconds: float, *, look: bool) -> list[Reachable | Broken]:
    import httpx

    service, address, place = SERVICES[prefix], url.rstrip("/"), urlsplit(url).netloc

    def broken(trouble: str) -> list[Reachable | Broken]:
        return [Broken(service.title, place, trouble)]

    try:
        # No proxy and no redirect: what is meant for this machine stays on it.
        with httpx.Client(timeout=seconds, trust_env=False, follow_redirects=False) as client:
            rows = _json(client, f"{address}/models")["data"]
            names = [row["id"] for row in rows if isinstance(row["id"], str)][:_MAX_MODELS]
            seen = _that_see(client, prefix, address, names) if look else {}
    except (httpx.ConnectError, httpx.ConnectTimeout):
        return []  # no server is running there
    except httpx.TimeoutException:
        return broken("took the connection and did not answer")
    except httpx.HTTPStatusError as error:
        return broken(f"answered with status {error.response.status_code}")
    except (httpx.HTTPError, httpx.InvalidURL, OSError):
        return broken("broke off its answer")
    except (ValueError, KeyError, TypeError):
        return broken("answered something that is no list of models")
    # The environment says so for this command; what is kept for later must say it itself.
    known = service.base_url == address if look else service.base_url is not None
    base_url = None if known else url
    return [
        Reachable(
            f"{prefix}:{_clean_model_name(name)}",
            f"served at {place}",
            base_url,
            seen.get(name),
            _find_cloud_host(prefix, name),
        )
        for name in names
    ]


def _find_cloud_host(prefix: str, name: str) -> str | None:
    # An Ollama on this machine hands models of this name to its makers' own machines.
    return "ollama.com" if prefix == "ollama" and name.endswith("-cloud") else None


def _json(client: Any, url: str, asked: Any = None) -> Any:
    with client.stream("GET" if asked is None else "POST", url, json=asked) as reply:
        if reply.status_code != 200:
            reply.raise_for_status()
            raise ValueError("not what was asked for")
        body = b""
        for piece in reply.iter_bytes():
            body += piece
            if len(body) > _MAX_BYTES:
                raise ValueError("too long")
    return json.loads(body)


def _that_see(client: Any, prefix: str, address: str, names: list[str]) -> dict[str, bool]:
    """Return which models take pictures, as far as the kind of server tells; no other kind is asked."""
    import httpx

    root = address.removesuffix("/v1")
    try:
        if prefix == "ollama":
            told = {name: _json(client, f"{root}/api/show", {"model": name}) for name in names}
            return {name: "vision" in one["capabilities"] for name, one in told.items() if "capabilities" in one}
        if prefix == "lmstudio":
            return {row["id"]: row["type"] == "vlm" for row in _json(client, f"{root}/api/v0/models")["data"]}
        if prefix == "server":
            sees = bool(_json(client, f"{root}/props")["modalities"]["vision"])
            return dict.fromkeys(names, sees)
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        pass  # older versions do not say
    return {}


def _clean_model_name(name: str) -> str:
    return "".join(letter for letter in name[:80] if letter.isalnum() or letter in "-_.:/@")


def _weights() -> Iterator[Reachable]:
    home = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or "~/.cache/huggingface") / "hub"
    try:
        configs = sorted(Path(home).expanduser().glob("models--*/snapshots/*/config.json"))[:_MAX_WEIGHTS]
    except OSError:
        return
    for path in configs:
        try:
            config = json.loads(path.read_bytes()[:_MAX_BYTES])
        except (OSError, ValueError):
            continue
        whole = any(path.parent.glob("*.safetensors"))
        if whole and isinstance(config, dict) and "vision_config" in config and _speaks(config):
            yield Reachable(f"hf:{path.parent}", "weights on this disk", sees=True)


def _speaks(config: dict[str, Any]) -> bool:
    return any("ConditionalGeneration" in str(item) for item in config.get("architectures") or ())
