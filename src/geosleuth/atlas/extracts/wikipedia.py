"""Find, download and keep Wikipedia as Kiwix files (.zim), one per language."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from geosleuth.atlas.folders import data_dir
from geosleuth.atlas.online.http import OnlineClient, ServiceRequest
from geosleuth.support.errors import BadInput, ServiceFault, require
from geosleuth.support.net import parse_host

from .download import missing_file_fault

# Kiwix's own mirror. Its main address redirects to other hosts, to which the user has not consented.
KIWIX: Final = "https://mirror.download.kiwix.org/zim/wikipedia"

Edition = Literal["mini", "nopic", "maxi"]
_FILE: Final = re.compile(r"wikipedia_([a-z]{2,12}(?:-[a-z]{2,12})?)_all_(mini|nopic|maxi)_(\d{4}-\d\d)\.zim\b")
_MAX_LISTING_BYTES: Final = 4 << 20
_LANGUAGES_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class WikipediaFile:
    """A Wikipedia as one file; ``edition`` is mini (first paragraphs), nopic (all text) or maxi (with pictures)."""

    language: str
    edition: Edition
    month: str
    url: str

    @property
    def file(self) -> str:
        """The file's name."""
        return self.url.rpartition("/")[2]


def zim_dir() -> Path:
    """Return the folder of the Kiwix files that ``atlas documents`` searches."""
    return data_dir() / "zim"


def zim_files() -> list[Path]:
    """Return the Kiwix files on this machine."""
    return sorted(zim_dir().glob("*.zim"))


async def find_wikipedia(client: OnlineClient, source: str, language: str, edition: Edition) -> WikipediaFile:
    """Return the newest file of a language, given by its code.

    Raises:
        BadInput: the server has no Wikipedia in that language.
        ServiceFault: the server fails or lists no such files.
    """
    listed = await client.ask(ServiceRequest(url=f"{source}/", absent=(404,)), partial(_read_listing, source=source))
    if listed is None:
        raise missing_file_fault(f"{source}/")
    wanted = language.strip().lower()
    found = [file for file in listed if file.edition == edition and file.language == wanted]
    if found:
        return max(found, key=lambda file: file.month)
    languages = sorted({file.language for file in listed if file.edition == edition})
    if not languages:
        raise ServiceFault(parse_host(source), "lists no Wikipedia files")
    more = f" and {len(languages) - _LANGUAGES_SHOWN} more" if len(languages) > _LANGUAGES_SHOWN else ""
    raise BadInput(
        f"{parse_host(source)} has no Wikipedia {wanted[:20]!r} ({edition}); give the code of a language, such as "
        f"{', '.join(languages[:_LANGUAGES_SHOWN])}{more}"
    )


def _read_listing(body: bytes, *, source: str) -> list[WikipediaFile]:
    """Return the Wikipedia files in a folder listing; only file names are used, never its addresses."""
    text = body[:_MAX_LISTING_BYTES].decode("latin-1")
    editions: dict[str, Edition] = {"mini": "mini", "nopic": "nopic", "maxi": "maxi"}
    return [
        WikipediaFile(language, editions[edition], month, f"{source}/wikipedia_{language}_all_{edition}_{month}.zim")
        for language, edition, month in dict.fromkeys(_FILE.findall(text))
    ]


def keep_zim(path: Path, wikipedia: WikipediaFile) -> Path:
    """Verify a download by the checksum inside it, move it to `zim_dir`, and delete older files of that edition.

    Raises:
        ServiceFault: it is not a complete ZIM file.
        MissingExtra: libzim is not installed.
    """
    reader = require("libzim.reader", extra="atlas")
    try:
        sound = bool(reader.Archive(path).check())
    except (RuntimeError, ValueError, OSError) as error:
        host = parse_host(wikipedia.url)
        raise ServiceFault(
            host, f"sent {wikipedia.file}, which is not a complete ZIM file; nothing was changed"
        ) from error
    if not sound:
        raise ServiceFault(
            parse_host(wikipedia.url), f"sent {wikipedia.file}, and the checksum in it is wrong; nothing was changed"
        )
    zim_dir().mkdir(parents=True, exist_ok=True)
    kept = zim_dir() / wikipedia.file
    path.replace(kept)
    for other in zim_dir().glob(f"wikipedia_{wikipedia.language}_all_{wikipedia.edition}_*.zim"):
        if other != kept:
            other.unlink()
    return kept
