"""The manifest of a run: everything that determines its answers, written when it begins.

Which services failed is added whenever the run stops.
"""

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec

from geosleuth import __version__
from geosleuth.agent.trajectory import new_id, now
from geosleuth.support.errors import BadInput
from geosleuth.support.service_use import ServiceUse

from .journal import Moment, new_key

FORMAT = "geosleuth-run"
VERSION = 1
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class DataInfo:
    """The data set of a run: its name, number of photos, fingerprint, and selection."""

    name: str
    count: int
    sha256: str
    selection: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A run's manifest.

    ``settings`` is all that determines an answer, as plain JSON values: no key, no path of a photo. What may change
    when the run is continued (how many at once, limits of the whole run) is not in it. ``name_key`` makes the names of
    photos; anybody who has it can map names to ids. ``services`` says how often each service was asked, failed, and was
    stood in for, as of the last time the run stopped.
    """

    data: DataInfo
    settings: Mapping[str, Any]
    seed: int | None = None
    mask: str | None = None
    id: str = field(default_factory=new_id)
    created: Moment = field(default_factory=now)
    geosleuth: str = __version__
    python: str = field(default_factory=platform.python_version)
    platform: str = field(default_factory=platform.platform)
    name_key: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{2})+$")] = field(default_factory=new_key, repr=False)
    services: tuple[ServiceUse, ...] = ()

    @property
    def settings_sha256(self) -> str:
        """Return the fingerprint of the settings."""
        return hashlib.sha256(_canonical(self.settings).encode()).hexdigest()


def manifest_to_dict(manifest: Manifest) -> dict[str, Any]:
    """Return the manifest as written."""
    plain = msgspec.to_builtins(manifest, enc_hook=str)
    return {"format": FORMAT, "version": VERSION, **plain, "settings_sha256": manifest.settings_sha256}


def manifest_from_dict(plain: Any) -> Manifest:
    """Read what `manifest_to_dict` wrote.

    Raises:
        BadInput: it is not a manifest, has another version, or was changed by hand.
    """
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise BadInput(f"not a run's manifest: its format is not {FORMAT!r}")
    if plain.get("version") != VERSION:
        raise BadInput(
            f"this run is of version {str(plain.get('version'))[:20]}, written by geosleuth "
            f"{str(plain.get('geosleuth'))[:20]}; geosleuth {__version__} reads version {VERSION}"
        )
    try:
        manifest = msgspec.convert(plain, Manifest)
    except (msgspec.ValidationError, ValueError) as error:
        raise BadInput(f"this manifest can't be read: {str(error)[:100]}") from error
    if plain.get("settings_sha256") != manifest.settings_sha256:
        raise BadInput("this manifest was changed by hand: its settings do not match their fingerprint")
    return manifest


def check_same(stored: Manifest, wanted: Manifest) -> None:
    """Check that a run can be continued with these settings and data.

    Raises:
        BadInput: the settings or data differ; the message says how.
    """
    differing: list[str] = []
    if stored.settings_sha256 != wanted.settings_sha256:
        differing += _differences("", stored.settings, wanted.settings)
    for name in ("seed", "mask"):
        differing += _differences(name, getattr(stored, name), getattr(wanted, name))
    if differing:
        more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
        raise BadInput(
            f"this run was begun with other settings: {'; '.join(differing[:5])}{more}; "
            "give the same ones, or another folder"
        )
    if stored.data.sha256 != wanted.data.sha256:
        raise BadInput(
            f"this run was begun on other photos: {_data_words(stored.data)}, now {_data_words(wanted.data)}; "
            "give the same data set and selection, or another folder"
        )


def _data_words(data: DataInfo) -> str:
    chosen = "".join(f", {name} {_short(value)}" for name, value in data.selection.items() if value not in (None, []))
    return f"{data.name}{chosen}, {data.count} photos, fingerprint {data.sha256[:12]}"


def _differences(name: str, stored: Any, wanted: Any) -> Iterator[str]:
    if isinstance(stored, Mapping) and isinstance(wanted, Mapping):
        for key in sorted({*stored, *wanted}, key=str):
            yield from _differences(f"{name}.{key}" if name else str(key), stored.get(key), wanted.get(key))
    elif _is_words(stored) and _is_words(wanted) and set(stored) != set(wanted):
        parts = (("without", set(stored) - set(wanted)), ("with", set(wanted) - set(stored)))
        yield f"{name} is now " + " and ".join(f"{how} {', '.join(sorted(some))}" for how, some in parts if some)
    elif _canonical(stored) != _canonical(wanted):
        yield f"{name} was {_short(stored)}, now {_short(wanted)}"


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _short(value: Any) -> str:
    text = _canonical(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
