"""Keys of model services, in memory or the system's keyring, and the models and regions that a server offers.

Nothing here returns a key over HTTP; workers get them as the environment of one run.
"""

import os
import shlex
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from geosleuth.models.registry import KEYRING as SERVICE_NAME
from geosleuth.models.registry import SERVICES
from geosleuth.server.model_discovery import within_reach
from geosleuth.support.errors import BadInput

from .schemas import ModelShown

Keep = Literal["memory", "keyring"]
Where = Literal["memory", "keyring", "environment"]

_LONGEST = 4096

_NO_KEYRING = "this system has no keyring; keep the key in memory, or set it in the environment of geosleuth serve"
# Seconds for which the list of local model servers is cached: a page asks more often than they change.
CACHE_S = 5.0
_known: dict[bool, tuple[float, list[ModelShown]]] = {}
_PLACES = {"memory": "this server's memory", "keyring": "the system's keyring"}


@dataclass(frozen=True, slots=True)
class KeyState:
    """Presence of a service's key and where it is kept; never the key itself."""

    service: str
    title: str
    where: Where | None


class Keys:
    """The keys that were given, by service."""

    def __init__(self) -> None:
        self._held: dict[str, str] = {}
        self._from_keyring: dict[str, str] | None = None

    def __repr__(self) -> str:
        return f"Keys({', '.join(sorted(self._held))})"

    def states(self) -> list[KeyState]:
        """Return every service that takes a key. May wait for the keyring: call it in a thread."""
        ringed = self._read_keyring()
        return [KeyState(prefix, one.title, self._where(prefix, ringed)) for prefix, one in SERVICES.items()]

    def put(self, service: str, key: str, keep: Keep) -> None:
        """Store a key.

        Raises:
            BadInput: there is no such service, the key can't be one, or there is no keyring.
        """
        _check_service(service)
        value = key.strip()
        if not value or len(value) > _LONGEST or not (value.isascii() and value.isprintable()):
            raise BadInput("that is no key; it has to be printable, without line breaks")
        if keep == "memory":
            self._held[service] = value
            return
        ring = _keyring()
        try:
            ring.set_password(SERVICE_NAME, service, value)
        except Exception as error:  # backends raise what they like, and their words may hold the key
            raise BadInput("the system's keyring did not take the key; keep it in memory instead") from error
        self._held.pop(service, None)
        self._read_keyring()[service] = value

    def forget(self, service: str) -> None:
        """Delete a key, from memory and from the keyring.

        Raises:
            BadInput: there is no such service.
        """
        _check_service(service)
        self._held.pop(service, None)
        if self._read_keyring().pop(service, None) is not None:
            try:
                _keyring().delete_password(SERVICE_NAME, service)
            except Exception as error:
                raise BadInput("the system's keyring did not delete the key; delete it there yourself") from error

    def environment(self) -> dict[str, str]:
        """Return the keys under the names that models look for them by. May wait for the keyring."""
        known = {**self._read_keyring(), **self._held}
        return {
            SERVICES[service].key_variables[0]: key for service, key in known.items() if SERVICES[service].key_variables
        }

    def _where(self, service: str, ringed: dict[str, str]) -> Where | None:
        if service in self._held:
            return "memory"
        if service in ringed:
            return "keyring"
        return "environment" if any(os.environ.get(name) for name in SERVICES[service].key_variables) else None

    def _read_keyring(self) -> dict[str, str]:
        """Return what the keyring has for us, read once: some systems ask the user at every reading."""
        if self._from_keyring is None:
            try:
                ring = _keyring()
                found = {prefix: ring.get_password(SERVICE_NAME, prefix) for prefix in SERVICES}
            except Exception:  # noqa: BLE001 -- locked, absent or broken: there are no keys in it for us
                found = {}
            self._from_keyring = {prefix: key for prefix, key in found.items() if key}
        return self._from_keyring


def keyring_there() -> bool:
    """Return whether this system has a keyring."""
    try:
        _keyring()
    except BadInput:
        return False
    return True


def _keyring() -> Any:
    try:
        ring = import_module("keyring").get_keyring()
    except Exception as error:  # a backend that can't be looked up counts as none
        raise BadInput(_NO_KEYRING) from error
    if getattr(ring, "priority", 0) <= 0:
        raise BadInput(_NO_KEYRING)
    return ring


def _check_service(service: str) -> None:
    if service not in SERVICES:
        raise BadInput(f"there is no service {service[:40]!r}; there are {', '.join(SERVICES)}")


def models_within_reach(keys: Keys, *, offline: bool) -> list[ModelShown]:
    """Return the models available now, the detective first. May block: call it in a thread."""
    found = [ModelShown(model="detective", base_url=None, words="no model: a rule-based detective on this machine")]
    found += _discover_models(offline=offline)
    if not offline:
        known = {item.model.partition(":")[0] for item in found}
        found += [
            ModelShown(model=f"{state.service}:NAME", base_url=None, words=f"its key is in {_PLACES[state.where]}")
            for state in keys.states()
            if state.where in _PLACES and not SERVICES[state.service].own and state.service not in known
        ]
    return found


def region_names() -> list[str]:
    """Return names of the regions that were added to the atlas. Reads a folder: call it in a thread."""
    from geosleuth.atlas.offline import regions_dir
    from geosleuth.atlas.regions.region_store import RegionStore

    return RegionStore(regions_dir()).names()


def _discover_models(*, offline: bool) -> list[ModelShown]:
    now = time.monotonic()
    at, found = _known.get(offline, (0.0, []))
    if not at or now - at > CACHE_S:
        found = [_build_model_shown(item.flag, item.where) for item in within_reach(offline=offline)]
        _known[offline] = now, found
    return found


def _build_model_shown(flags: str, where: str) -> ModelShown:
    words = shlex.split(flags)
    given = dict(zip(words[::2], words[1::2], strict=False))
    return ModelShown(model=given.get("--model", ""), base_url=given.get("--base-url"), words=where)
