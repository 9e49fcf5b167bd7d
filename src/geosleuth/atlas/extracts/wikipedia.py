"""Wikipedia by language: which Kiwix file a server has, and where the files of this machine lie."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from geosleuth.atlas.folders import data_dir
from geosleuth.atlas.online.http import OnlineClient, Question
from geosleuth.errors import BadInput, ServiceFault, require
from geosleuth.net import host_of

from .download import has_no

KIWIX: Final = "https://mirror.download.kiwix.org/zim/wikipedia"
"""Kiwix's own copy of the files; its main address leads to other hosts, which nobody has agreed to."""

Edition = Literal["mini", "nopic", "maxi"]
_FILE: Final = re.compile(r"wikipedia_([a-z]{2,12}(?:-[a-z]{2,12})?)_all_(mini|nopic|maxi)_(\d{4}-\d\d)\.zim\b")
_MOST_BYTES: Final = 4 << 20
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Edited:
    """A Wikipedia as one file; ``edition`` is mini (first paragraphs), nopic (all text) or maxi (with pictures)."""

    language: str
    edition: Edition
    month: str
    url: str

    @property
    def file(self) -> str:
        """What the file is called."""
        return self.url.rpartition("/")[2]


def zim_dir() -> Path:
    """Where the files lie that ``documents`` searches."""
    return data_dir() / "zim"


def zim_files() -> list[Path]:
    """The Kiwix files of this machine."""
    return sorted(zim_dir().glob("*.zim"))


async def find_wikipedia(client: OnlineClient, source: str, language: str, edition: Edition) -> Edited:
    """Return the newest file of a language, by its code.

    Raises:
        BadInput: the server has no Wikipedia in that language.
        ServiceFault: its list can't be had.
    """
    listed = await client.ask(Question(url=f"{source}/", absent=(404,)), partial(_read, source=source))
    if listed is None:
        raise has_no(f"{source}/")
    wanted = language.strip().lower()
    found = [one for one in listed if one.edition == edition and one.language == wanted]
    if found:
        return max(found, key=lambda one: one.month)
    known = sorted({one.language for one in listed if one.edition == edition})
    if not known:
        raise ServiceFault(host_of(source), "lists no Wikipedia files")
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    raise BadInput(
        f"{host_of(source)} has no Wikipedia {wanted[:20]!r} ({edition}); give the code of a language, such as "
        f"{', '.join(known[:_SHOWN])}{more}"
    )


def _read(body: bytes, *, source: str) -> list[Edited]:
    """The files that a list of a folder names; of an address only the name is used."""
    text = body[:_MOST_BYTES].decode("latin-1")
    editions: dict[str, Edition] = {"mini": "mini", "nopic": "nopic", "maxi": "maxi"}
    return [
        Edited(language, editions[edition], month, f"{source}/wikipedia_{language}_all_{edition}_{month}.zim")
        for language, edition, month in dict.fromkeys(_FILE.findall(text))
    ]


def keep_zim(path: Path, edited: Edited) -> Path:
    """Verify a downloaded file by the checksum in it, and put it in the place of older ones.

    Raises:
        ServiceFault: it is no whole ZIM file.
        MissingExtra: libzim is not installed.
    """
    reader = require("libzim.reader", extra="zim")
    try:
        sound = bool(reader.Archive(path).check())
    except (RuntimeError, ValueError, OSError) as error:
        host = host_of(edited.url)
        raise ServiceFault(host, f"sent {edited.file}, which is no whole ZIM file; nothing was changed") from error
    if not sound:
        raise ServiceFault(
            host_of(edited.url), f"sent {edited.file}, and the checksum in it is wrong; nothing was changed"
        )
    zim_dir().mkdir(parents=True, exist_ok=True)
    kept = zim_dir() / edited.file
    path.replace(kept)
    for other in zim_dir().glob(f"wikipedia_{edited.language}_all_{edited.edition}_*.zim"):
        if other != kept:
            other.unlink()
    return kept
