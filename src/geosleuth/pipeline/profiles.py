"""Profiles: a set-up by its name, so that one word stands for many options of ``geosleuth locate``.

Those of the papers lie in ``profiles.toml`` beside this module. The user's own, written by ``geosleuth setup --profile
NAME``, are files ``profiles/NAME.toml`` beside the default model's, and go before a paper's of the same name. Keys are
never among them: they stay in the environment or the system's keyring.
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geosleuth.support.decode import decode
from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_toml, write_text_atomically

from .defaults import config_file

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_MIN_KEY = 8
_KEY_VARIABLE = re.compile(r".*(KEY|TOKEN|SECRET|PASSWORD)(_ID)?")

_ABOUT = ("hosts", "keys")
_GO_WITH = {
    "model": ("base_url",),
    "maps": ("maps_url",),
    "mcp": ("mcp_allow",),
    "team": ("model", "base_url", "method", "parallel", "verifier", "chains"),
}
_PATHS = ("team", "prompts", "policy_card", "mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saved:
    """Fields of a profile, named as those of `LocateRequest`; ``hosts`` need the user's consent."""

    model: str = ""
    base_url: str = ""
    parallel: int = 1
    verifier: str = ""
    chains: str = ""
    team: str = ""
    turns: int = 0
    calls: int = 0
    tokens: int = 0
    reply_tokens: int = 0
    thinking_tokens: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    temperature: float = 0.0
    seed: int = 0
    method: str = ""
    prompts: str = ""
    policy_card: str = ""
    tools: str = ""
    wire: str = ""
    panorama: str = ""
    boxes: str = ""
    force_answer: bool = False
    maps: str = ""
    maps_url: tuple[str, ...] = ()
    web_search: str = ""
    image_search: str = ""
    prior: str = ""
    allow: tuple[str, ...] = ()
    mcp: str = ""
    mcp_allow: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


# Options that a profile may contain.
SAVED_OPTIONS = tuple(field.name for field in fields(_Saved) if field.name not in _ABOUT)


@dataclass(frozen=True, slots=True)
class Profile:
    """A set-up: options by the names of `LocateRequest`; hosts that it asks, and the variables of their keys."""

    name: str
    options: Mapping[str, Any]
    hosts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    def beside(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Return the profile's options that hold beside those that the caller gives: what is given wins.

        What belongs to an option that is given goes with it: the address of another model or map, the verifier where
        one try is wanted, a model where a team is, and online services where nothing may be asked.
        """
        gone = {*told, *(name for item in told if told[item] is not None for name in _GO_WITH.get(item, ()))}
        if told.get("parallel") == 1:
            gone |= {"verifier", "chains"}
        if told.get("offline"):
            gone |= {"maps", "maps_url", "web_search"}
            gone |= set() if Path(self.options.get("image_search", "")).is_file() else {"image_search"}
        return {name: value for name, value in self.options.items() if name not in gone}

    @property
    def missing_keys(self) -> tuple[str, ...]:
        """The variables that are not set."""
        return tuple(name for name in self.keys if not os.environ.get(name))


def list_profiles() -> tuple[str, ...]:
    """Return the names of all profiles."""
    own = (path.stem for path in _get_profiles_folder().glob("*.toml")) if _get_profiles_folder().is_dir() else ()
    return tuple(sorted({*_papers(), *own}))


def read_profile(name: str) -> Profile:
    """Return a profile: the user's own of that name, or else a paper's.

    Raises:
        BadInput: there is none of that name, or the user must fix its file.
    """
    path = _get_profiles_folder() / f"{name}.toml"
    if _NAME.fullmatch(name) and path.exists():
        try:
            return _build_profile(name, read_toml(path))
        except (OSError, BadInput) as error:
            why = (getattr(error, "strerror", None) or str(error)).removeprefix(str(path)).removeprefix(": ")
            separator = "" if why.startswith(", line") else ": "
            raise BadInput(
                f"{path}{separator}{why}; correct it, or write it anew with: geosleuth setup --profile {name}"
            ) from error
    if name not in _papers():
        there = ", ".join(list_profiles())
        raise BadInput(
            f"there is no profile {name[:40]!r}; there are {there}; save your own with: geosleuth setup --profile NAME"
        )
    return _build_profile(name, _papers()[name])


def write_profile(profile: Profile) -> Path:
    """Write a profile, and return where it is.

    Raises:
        BadInput: its name can't be one, something in it may be a key, or it can't be written.
    """
    if not _NAME.fullmatch(profile.name):
        raise BadInput(f"{profile.name[:40]!r} can't name a profile; take lower-case letters, digits, dots and dashes")
    lines = [f"# Written by geosleuth setup --profile {profile.name}. Keys stay in the environment."]
    for name, value in {**profile.options, "hosts": profile.hosts, "keys": profile.keys}.items():
        plain = [*value] if isinstance(value, tuple) else str(value.absolute()) if isinstance(value, Path) else value
        for text in plain if isinstance(plain, list) else [plain]:
            _check_no_key(name, str(text))
        lines.append(f"{name} = {json.dumps(plain, ensure_ascii=False)}")
    path = _get_profiles_folder() / f"{profile.name}.toml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error
    write_text_atomically(path, "\n".join(lines) + "\n")
    return path


def _get_profiles_folder() -> Path:
    return config_file().parent / "profiles"


def _papers() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _build_profile(name: str, stored: Mapping[str, Any]) -> Profile:
    read = decode(stored, _Saved)
    told = {item: getattr(read, item) for item in stored if item in SAVED_OPTIONS}
    paths = {item: Path(told[item]) for item in _PATHS if item in told}
    return Profile(name, told | paths, read.hosts, read.keys)


def _check_no_key(name: str, text: str) -> None:
    """Refuse what would put a key into a file: in an address, or spelled out.

    Raises:
        BadInput: it may be one.
    """
    address = urlsplit(text) if "://" in text else None
    secrets = (value for one, value in os.environ.items() if _KEY_VARIABLE.fullmatch(one) and len(value) >= _MIN_KEY)
    in_address = address is not None and bool(address.username or address.password or address.query)
    if in_address or any(secret in text for secret in secrets):
        option = f"--{name.replace('_', '-')}"
        raise BadInput(f"{option} may hold a key, and a profile must not; set keys in the environment")
