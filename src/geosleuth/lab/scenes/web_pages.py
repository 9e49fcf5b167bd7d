"""The web of a world: pages about its made-up businesses, and an atlas whose document search finds them.

Every made-up business has an entry in a directory, which tells the year it was founded in: the map does not have that.
Some are reviewed, some were in the news. Where several businesses of a country share a name, one page lists them, and
reviews of one mention the year of another. So a name and a year name one town, for a model that reads whose year it is.

Pages are in English, with names as they stand on signs. They follow from the business alone, and are written into an
index in the cache when they are first searched. Businesses of added regions are real and have none.
"""

import os
import random
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import log
from pathlib import Path
from typing import Final

from geosleuth.atlas import Document, OfflineAtlas
from geosleuth.atlas.folders import cache_dir, open_readonly
from geosleuth.names import country_name
from geosleuth.names.folding import fold_once
from geosleuth.support.errors import BadInput

from .businesses import slugify
from .scene import Business
from .towns import WorldTown
from .world import World, fingerprint

SOURCE: Final = "the web of the made-up world"
FIRST_YEAR, LAST_YEAR = 1881, 2016
# Of businesses: those that are reviewed, and that were in the news. Of reviews: those that mention a namesake.
REVIEWED, IN_THE_NEWS, MENTIONS_NAMESAKE = 0.5, 0.3, 0.6

_MIN_COVERED: Final = 0.5
_MAX_RANKED: Final = 60
_MAX_WORDS: Final = 16
_MAX_LISTED: Final = 8
_TODAY: Final = 2026


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the made-up web. ``town`` is the town that it is about; empty on lists."""

    url: str
    title: str
    text: str
    town: str = ""


@dataclass(frozen=True, slots=True)
class Door:
    """A business and the town that it stands in."""

    town: WorldTown
    business: Business


def compute_founding_year(business: Business) -> int:
    """Return the year that a business was founded in, as its pages tell it."""
    drawn = int.from_bytes(sha256(f"founded {business.id}".encode()).digest()[:4], "big")
    return FIRST_YEAR + drawn % (LAST_YEAR - FIRST_YEAR + 1)


@lru_cache(maxsize=512)
def doors_by_name(world: World, country: str) -> Mapping[str, tuple[Door, ...]]:
    """Return the made-up businesses of a country by their names."""
    found: dict[str, list[Door]] = defaultdict(list)
    for town in world.towns:
        if town.country == country and not town.real:
            for business in world.businesses(town):
                found[business.name].append(Door(town, business))
    return {name: tuple(doors) for name, doors in found.items()}


def generate_pages(door: Door, namesakes: Sequence[Door] = ()) -> Iterator[Page]:
    """Yield the pages about one business; ``namesakes`` are others of its name in the country."""
    item, town = door.business, door.town
    chance = random.Random(f"pages {item.id}")  # noqa: S311 - no secret depends on it
    what = item.kind.partition("=")[2].replace("_", " ")
    where = ", ".join(filter(None, (town.name, town.region, country_name(town.country))))
    signs = f" ({town.name_on_signs})" if town.name_on_signs != town.name else ""
    year, number = compute_founding_year(item), item.id.rpartition(":")[2]
    street = " ".join(filter(None, (item.street, item.house_number)))
    code = f", {item.postcode}" if item.postcode else ""
    yield Page(
        f"https://directory.example/{number}",
        f"{item.name}, {town.name} - business directory",
        f"{item.name}, {what} in {where}{signs}. Address: {street}{code}. Founded in {year}.",
        town.name,
    )
    others = [other for other in namesakes if other.town != town]
    if chance.random() < REVIEWED:
        aside = ""
        if others and chance.random() < MENTIONS_NAMESAKE:
            other = chance.choice(others)
            aside = (
                f" Not to be confused with {item.name} in {other.town.name}, which dates from "
                f"{compute_founding_year(other.business)}."
            )
        text = chance.choice(
            (
                f"We came to {town.name} by chance and stopped at {item.name}. A {what} as it should be, {street}.",
                f"If you are in {town.name}, try {item.name} ({street}). Friendly people, fair prices.",
            )
        )
        yield Page(
            f"https://reviews.example/{number}", f"{item.name} in {town.name}: a visit", f"{text}{aside}", town.name
        )
    if chance.random() < IN_THE_NEWS:
        age = _TODAY - year
        text = f"{item.name} in {where} was founded in {year}, {age} years ago. The {what} stays open on {item.street}."
        yield Page(
            f"https://{slugify(town.name) or 'town'}-news.example/{number}",
            f"{town.name}: {age} years of {item.name}",
            text,
            town.name,
        )


def list_page(name: str, doors: Sequence[Door]) -> Page:
    """Return the page that lists the businesses of one name in a country; it tells no years."""
    there = country_name(doors[0].town.country)
    towns = list(dict.fromkeys(door.town.name for door in doors))
    more = f" and {len(towns) - _MAX_LISTED} more" if len(towns) > _MAX_LISTED else ""
    kin = "They belong to one chain." if doors[0].business.chain else "They have nothing to do with each other."
    return Page(
        f"https://lists.example/{doors[0].business.id.rpartition(':')[2]}",
        f"{name}: which one is meant?",
        f"Several businesses in {there} are called {name}: in {', '.join(towns[:_MAX_LISTED])}{more}. {kin}",
    )


def all_pages(world: World) -> Iterator[Page]:
    """Yield every page of a world."""
    for country in sorted({town.country for town in world.towns}):
        for name, doors in doors_by_name(world, country).items():
            if len(doors) > 1:
                yield list_page(name, doors)
            for door in doors:
                yield from generate_pages(door, doors)


class PagedAtlas(OfflineAtlas):
    """The atlas of a world, whose document search finds the world's pages before what is said about countries."""

    def __init__(self, world: World, regions: Path, *, remembered: int = 0) -> None:
        """Take the world and the folder of its map."""
        super().__init__(regions, remembered=remembered)
        self._pages = ensure_pages(world)

    async def search_documents(self, text: str, *, limit: int = 10) -> list[Document]:
        """Pages about businesses, then passages about countries."""
        pages = await self._run_in_thread(lambda: search_pages(self._pages, text, limit))
        if len(pages) >= limit:
            return pages
        return [*pages, *await super().search_documents(text, limit=limit - len(pages))]


def ensure_pages(world: World) -> Path:
    """Return the index of a world's pages, which is written if it is not there yet.

    Raises:
        BadInput: the cache can't be written to.
    """
    own = sha256(Path(__file__).read_bytes() + fingerprint(world).encode()).hexdigest()[:16]
    path = cache_dir() / "worlds" / f"pages-{world.seed}-{world.noise}-{own}.sqlite"
    if not path.exists():
        _write_page_index(world, path)
    return path


def _write_page_index(world: World, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".pages-", suffix=".part")
        os.close(handle)
        part = Path(name)
        try:
            _fill(part, all_pages(world))
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except (OSError, sqlite3.OperationalError) as error:
        raise BadInput(f"{path.parent}: the index of pages can't be written: {error}") from error


def _fill(path: Path, pages: Iterator[Page]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(
            "CREATE VIRTUAL TABLE pages USING fts5(words, url UNINDEXED, title UNINDEXED, body UNINDEXED, "
            "tokenize = 'unicode61')"
        )
        connection.executemany(
            "INSERT INTO pages(words, url, title, body) VALUES (?, ?, ?, ?)",
            (
                (
                    " ".join([*_split_index_words(page.title), *_split_index_words(page.text)]),
                    page.url,
                    page.title,
                    page.text,
                )
                for page in pages
            ),
        )
        connection.execute("INSERT INTO pages(pages) VALUES ('optimize')")
        connection.commit()


def search_pages(index: Path, text: str, limit: int) -> list[Document]:
    """Return the pages that have most of a query's words, best first; rare words count for more."""
    words = list(dict.fromkeys(_split_index_words(text)))[:_MAX_WORDS]
    if limit < 1 or not words:
        return []
    with closing(open_readonly(index)) as connection:
        (total,) = connection.execute("SELECT count(*) FROM pages_docsize").fetchone()
        weights = {word: log(1 + total / (1 + _count(connection, word))) for word in words}
        query = " OR ".join(f'"{word}"' for word in words)
        rows = connection.execute(
            "SELECT words, url, title, body FROM pages WHERE pages MATCH ? ORDER BY bm25(pages), url LIMIT ?",
            (query, _MAX_RANKED),
        ).fetchall()
    found = []
    for at, (held, url, title, body) in enumerate(rows):
        has = frozenset(held.split())
        covered = sum(weight for word, weight in weights.items() if word in has) / sum(weights.values())
        if covered >= _MIN_COVERED:
            found.append((-round(covered, 6), at, Document(url, title, body, round(covered, 4), SOURCE, url)))
    return [document for _, _, document in sorted(found, key=lambda item: item[:2])[:limit]]


def _count(connection: sqlite3.Connection, word: str) -> int:
    (count,) = connection.execute("SELECT count(*) FROM pages WHERE pages MATCH ?", (f'"{word}"',)).fetchone()
    return int(count)


def _split_index_words(text: str) -> Iterator[str]:
    """Yield the folded words of a text; scripts without spaces as pairs of letters."""
    for word in fold_once(text).split():
        if len(word) > 2 and any("\u0e00" <= letter <= "\u0eff" or "\u3040" <= letter <= "\u9fff" for letter in word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word
