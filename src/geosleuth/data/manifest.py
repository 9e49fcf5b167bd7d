"""The manifest of a store: what the set is, and which shards count."""

import json
import re
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from geosleuth import __version__
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically

from .model import About

FORMAT = "geosleuth-store"
VERSION = 1
SHARDS = "shards"
SCENES = "scenes"
"""The setting that grows with what is added: a list of which scenes samples were made of."""
_SHARD = re.compile(rf"{SHARDS}/[0-9]{{5,}}\.parquet")


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard that counts: its file below the store, its rows, its bytes and their checksum."""

    file: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A store in a few lines; ``geosleuth`` is the version that began it."""

    about: About
    shards: tuple[Shard, ...]
    geosleuth: str = __version__

    def with_shard(self, shard: Shard) -> "Manifest":
        """The manifest once one more shard counts."""
        return replace(self, shards=(*self.shards, shard))


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write it whole or not at all, safe on the disk.

    Raises:
        BadInput: it can't be written, or JSON can't hold a setting.
    """
    about = {field.name: getattr(manifest.about, field.name) for field in fields(About)}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "geosleuth": manifest.geosleuth,
        "about": about | {"settings": dict(manifest.about.settings)},
        "shards": [asdict(shard) for shard in manifest.shards],
    }
    try:
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"the settings of a set must be JSON ({error})") from error
    write_text_atomically(path, f"{text}\n")


def read_manifest(path: Path) -> Manifest:
    """Read what `write_manifest` wrote.

    Raises:
        BadInput: it can't be read, is no store's, or is of another version.
    """
    try:
        document: Any = json.loads(path.read_bytes())
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BadInput(f"{path}: this is not the manifest of a store of trajectories")
        if document.get("version") != VERSION:
            raise BadInput(
                f"{path}: is of version {str(document.get('version'))[:20]}; this geosleuth reads version {VERSION}"
            )
        told = document["about"]
        lists = {name: tuple(str(one) for one in told[name]) for name in ("sources", "faults")}
        about = About(**{**told, **lists})
        shards = tuple(_shard(**one) for one in document["shards"])
        return Manifest(about, shards, str(document["geosleuth"]))
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: this is not JSON; put it back from a copy") from error
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: is damaged ({error}); put it back from a copy") from error


def _shard(*, file: str, rows: int, bytes: int, sha256: str) -> Shard:  # noqa: A002  (the names of the file)
    """A shard as the file says it, which may be anybody's: it must lie in the store.

    Raises:
        TypeError: it does not.
    """
    if not _SHARD.fullmatch(file):
        raise TypeError(f"no shard is called {file[:60]!r}")
    return Shard(file, int(rows), int(bytes), str(sha256))


def check_same(path: Path, stored: About, wanted: About) -> None:
    """Complain where a store holds another set than the one that is to be added to.

    Raises:
        BadInput: it does.
    """
    if stored.name != wanted.name:
        raise BadInput(f"{path}: holds the set {stored.name[:60]!r}, not {wanted.name[:60]!r}; choose another folder")
    settings = json.loads(json.dumps(dict(wanted.settings)))
    for name in sorted((stored.settings.keys() | settings.keys()) - {SCENES}):
        if stored.settings.get(name) != settings.get(name):
            raise BadInput(
                f"{path}: was begun with {name} = {str(stored.settings.get(name))[:60]}, "
                f"not {str(settings.get(name))[:60]}; use the same settings, or choose another folder"
            )


def with_scenes(stored: About, wanted: About) -> About:
    """What is stored, with the scenes that are made use of now among those that were before."""
    before, now = (list(one.settings.get(SCENES) or ()) for one in (stored, wanted))
    new = [one for one in now if one not in before]
    return replace(stored, settings={**stored.settings, SCENES: [*before, *new]}) if new else stored
