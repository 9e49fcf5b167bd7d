"""Text placed by its parts, by the offline atlas and by a service that knows no streets."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from geosleuth.atlas import Hit, OfflineAtlas
from geosleuth.atlas.base import BasePlaces
from geosleuth.atlas.placing import Placement, Placer


def place(atlas: OfflineAtlas, words: str) -> Placement | None:
    return asyncio.run(Placer(atlas).place(words))


class Service(OfflineAtlas):
    """Answers whole queries or none, as services do."""

    def __init__(self, base: Path) -> None:
        super().__init__(base.parent / "none")
        self._places = BasePlaces(sqlite3.connect(f"file:{base}?mode=ro&immutable=1", uri=True))
        self.asked: list[str] = []

    async def geocode(
        self, text: str, *, limit: int = 5, within: object = None, country: str | None = None
    ) -> list[Hit]:
        self.asked.append(text)
        assert within is None
        return self._places.geocode(text, limit=limit, country=country, guesses=0, partly=False)


@pytest.mark.parametrize(
    ("text", "name", "country", "level"),
    [
        ("Schöneberger Straße, 22149 Hamburg", "Hamburg", "DE", "town"),
        ("Sunset Boulevard, Los Angeles", "Los Angeles", "US", "town"),
        ("Reeperbahn 1, 20359 Hamburg, Germany", "Hamburg", "DE", "town"),
        ("Avenida Paulista 1578, São Paulo, Brazil", "São Paulo", "BR", "town"),
        ("Nowhere Lane, Bavaria, Germany", "Bavaria", "DE", "region"),
        ("Kein Ort, Deutschland", "Germany", "DE", "country"),
        ("東京都渋谷区", "Shibuya", "JP", "town"),
    ],
)
def test_the_finest_known_part_in_the_named_country(
    atlas_home: Path, base_file: Path, tmp_path: Path, text: str, name: str, country: str, level: str
) -> None:
    assert atlas_home.is_dir()
    offline = place(OfflineAtlas(tmp_path), text)
    assert offline is not None
    assert (offline.place.country, offline.level) == (country, level)
    if "," in text:
        service = Service(base_file)
        served = place(service, text)
        assert served is not None
        assert (served.place.name, served.place.country) == (name, country)
        assert len(service.asked) == 1 + len([part for part in text.split(",") if part.strip() in served.missing])


def test_what_nobody_knows_has_no_place(atlas_home: Path, base_file: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    for atlas in (OfflineAtlas(tmp_path), Service(base_file)):
        assert place(atlas, "Xqzvkkw, Jjqpz") is None
        assert place(atlas, "") is None
