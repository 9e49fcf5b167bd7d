"""Text placed by its parts, by the offline atlas and by a service that knows no streets."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from geosleuth.answer import Address, Answer
from geosleuth.atlas import Hit, OfflineAtlas
from geosleuth.atlas.base import BasePlaces
from geosleuth.atlas.parts import feature_names, town_names, unit_names
from geosleuth.atlas.placing import Placement, Placer, with_point
from geosleuth.geo import LatLon


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


@pytest.mark.parametrize(
    ("text", "name", "country", "level"),
    [
        ("Bayern (Norden)", "Bavaria", "DE", "region"),
        ("Texas (NE)", "Texas", "US", "region"),
        ("North East, Pennsylvania", "North East", "US", "town"),
        ("Salzburg (probably)", "Salzburg", "AT", "town"),
        ("Cologne (Köln), Germany", "Köln", "DE", "town"),
        ("Glass Cave (Slovenia)", "Slovenia", "SI", "country"),
        ("near Reykjavik, Iceland", "Reykjavík", "IS", "town"),
        ("Innsbruck area, Austria", "Innsbruck", "AT", "town"),
        ("downtown Nairobi, Kenya", "Nairobi", "KE", "town"),
        ("eastern Poland", "Poland", "PL", "country"),
        ("South Korea", "South Korea", "KR", "country"),
        ("Western Australia", "Western Australia", "AU", "region"),
        ("West Virginia, USA", "West Virginia", "US", "region"),
        ("sur de Chile", "Chile", "CL", "country"),
        ("Umgebung von Graz, Österreich", "Graz", "AT", "town"),
        ("Albany, WA", "Albany", "AU", "town"),
        ("Spokane, WA", "Spokane", "US", "town"),
        ("Recife, PE", "Recife", "BR", "town"),
        ("长沙, 湖南, 中国", "Changsha", "CN", "town"),
        ("不明な山, 湖南, 中国", "Hunan", "CN", "region"),
        ("广东, 中国", "Guangdong", "CN", "region"),
        ("長崎県, 日本", "Nagasaki", "JP", "region"),
        ("Kraków, Małopolskie", "Kraków", "PL", "town"),
        ("Catalunya", "Catalonia", "ES", "region"),
        ("Qqzx, PR, USA", "Puerto Rico", "PR", "country"),
        ("Ponce, PR, United States", "Ponce", "PR", "town"),
        ("Nagpur -Ward 7, Maharashtra, India", "Nagpur", "IN", "town"),
        ("北海道札幌市", "Sapporo", "JP", "town"),
    ],
)
def test_words_beside_a_name_only_qualify_it(
    atlas_home: Path, tmp_path: Path, text: str, name: str, country: str, level: str
) -> None:
    assert atlas_home.is_dir()
    placed = place(OfflineAtlas(tmp_path), text)
    assert placed is not None
    assert (placed.place.name, placed.place.country, placed.level) == (name, country, level)


def test_the_first_of_two_places_wins_and_the_other_is_listed(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    for text in ("Turin or Genoa, Italy", "Turin, Italy or Genoa, Italy"):
        placed = place(OfflineAtlas(tmp_path), text)
        assert placed is not None
        assert (placed.place.name, placed.missing) == ("Turin", ())
        assert "Genoa" in [other.place.name for other in placed.others]
    unknown_first = place(OfflineAtlas(tmp_path), "Qqzx or Genoa, Italy")
    assert unknown_first is not None
    assert (unknown_first.place.name, unknown_first.missing) == ("Italy", ("Qqzx",))
    assert unknown_first.others[0].place.name == "Genoa"


@pytest.mark.parametrize("words", ["Corsica, France", "Tuscany, Italy", "Norway", "Vietnam", "New Zealand", "Croatia"])
def test_a_country_or_region_is_placed_in_the_middle_of_its_ground(
    atlas_home: Path, tmp_path: Path, words: str
) -> None:
    assert atlas_home.is_dir()
    atlas = OfflineAtlas(tmp_path)
    placed = place(atlas, words)
    assert placed is not None
    inside = asyncio.run(atlas.reverse(placed.point))
    assert inside.country == placed.place.country
    assert placed.level == "country" or inside.region == placed.place.name
    assert placed.extent.contains(placed.point)


@pytest.mark.parametrize("name", ["Luxembourg", "Singapore", "Monaco", "Hong Kong"])
def test_a_city_named_as_its_country_has_a_point(atlas_home: Path, tmp_path: Path, name: str) -> None:
    assert atlas_home.is_dir()
    placer = Placer(OfflineAtlas(tmp_path))
    placed = asyncio.run(placer.place_address(Address.create(name, None, name)))
    assert placed is not None
    assert with_point(Answer(), placed).point is not None
    assert with_point(Answer(), asyncio.run(placer.place_address(Address.create("France")))).point is None


def test_a_namesake_near_the_point_fits(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    placer, springfield = Placer(OfflineAtlas(tmp_path)), Address.create("United States", None, "Springfield")
    for lat, lon in ((37.2, -93.3), (42.1, -72.6), (39.9, -83.8), (44.05, -123.0), (43.3, -72.5)):
        assert asyncio.run(placer.fits(springfield, LatLon(lat, lon), 50.0))
    assert not asyncio.run(placer.fits(springfield, LatLon(61.2, -149.9), 100.0))
    assert not asyncio.run(placer.fits(Address.create(None, None, "Xqzvkkw"), LatLon(0.0, 0.0), 100.0))


@pytest.mark.parametrize(
    ("part", "names"),
    [
        (
            "Parc national de la Vanoise",
            ["la Vanoise National Park", "la Vanoise", "Vanoise National Park", "Vanoise"],
        ),
        ("Lago d'Iseo", ["Lake Iseo", "Iseo"]),
        ("Isla Margarita", ["Margarita Island", "Margarita"]),
        ("гора Белуха", ["Mount Белуха", "Белуха"]),
        ("Van Gölü", ["Lake Van", "Van"]),
        ("対馬島", ["対馬 Island", "対馬"]),
        ("Lakeview", []),
        ("Kreisau", []),
        ("Islamabad", []),
    ],
)
def test_feature_words_of_other_languages_come_off_a_name(part: str, names: list[str]) -> None:
    assert feature_names(part) == names


@pytest.mark.parametrize(
    ("part", "units", "towns"),
    [
        ("Landkreis Oberallgäu", ["Oberallgäu County", "Oberallgäu"], []),
        ("Province of La Union", ["La Union County", "La Union", "Union County", "Union"], []),
        ("Nusaybin İlçesi", ["Nusaybin County", "Nusaybin"], []),
        ("阳朔县", ["阳朔 County", "阳朔"], []),
        ("Comune di Siena", [], ["Siena"]),
        ("鎌倉市", [], ["鎌倉"]),
        ("Kreisau", [], []),
        ("Cityville", [], []),
    ],
)
def test_words_for_units_and_towns_come_off_a_name(part: str, units: list[str], towns: list[str]) -> None:
    assert (unit_names(part), town_names(part)) == (units, towns)


@pytest.mark.parametrize(
    ("words", "name", "level", "missing"),
    [
        ("Kreis Mettmann, Nordrhein-Westfalen", "Landkreis Mettmann", "feature", ()),
        ("Provincia di Firenze, Italia", "Florence", "feature", ()),
        ("Comune di Alberobello, Puglia, Italia", "Alberobello", "town", ()),
        ("鎌倉市, 神奈川県, 日本", "Kamakura", "town", ()),
        ("Município de Altamira, Pará, Brasil", "Altamira", "feature", ()),
        ("Lake Titicaca, Bolivia", "Lake Titicaca", "feature", ()),
        ("霧裂村, 長野県, 日本", "Nagano", "region", ("霧裂村",)),
        ("Landkreis Wumpertal, Bayern", "Bavaria", "region", ("Landkreis Wumpertal",)),
        ("Comune di Vallescrana, Puglia, Italia", "Apulia", "region", ("Comune di Vallescrana",)),
        ("County Ballyfloogh, Ireland", "Ireland", "country", ("County Ballyfloogh",)),
        ("Huyện Bún Thịt, Việt Nam", "Vietnam", "country", ("Huyện Bún Thịt",)),
        ("乌龟尾县, 湖南, 中国", "Hunan", "region", ("乌龟尾县",)),
        ("Gemeente Klompendrecht, Nederland", "The Netherlands", "country", ("Gemeente Klompendrecht",)),
        ("Amsterdram, Noord-Holland", "North Holland", "region", ("Amsterdram",)),
        ("Château de Brouillamini, Loire, France", "Loire", "feature", ("Château de Brouillamini",)),
    ],
)
def test_units_are_placed_by_local_words_and_unknown_ones_stay_open(
    atlas_home: Path, tmp_path: Path, words: str, name: str, level: str, missing: tuple[str, ...]
) -> None:
    assert atlas_home.is_dir()
    found = asyncio.run(Placer(OfflineAtlas(tmp_path)).place(words))
    assert found is not None
    assert (found.place.name, found.level, found.missing) == (name, level, missing)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Isola di Torino, Italia", "Isola di Torino"),
        ("Lac de Lyon, France", "Lac de Lyon"),
        ("Kreis Hamburg, Deutschland", "Kreis Hamburg"),
    ],
)
def test_a_feature_that_is_not_known_is_no_town_of_its_name(
    atlas_home: Path, tmp_path: Path, text: str, missing: str
) -> None:
    assert atlas_home.is_dir()
    placed = place(OfflineAtlas(tmp_path), text)
    assert placed is not None
    assert (placed.level, placed.missing) == ("country", (missing,))


@pytest.mark.parametrize(("words", "name"), [("PR, USA", "Puerto Rico"), ("GU, USA", "Guam")])
def test_a_territory_by_its_code_is_no_part_of_it(tmp_path: Path, words: str, name: str) -> None:
    found = place(OfflineAtlas(tmp_path), words)
    assert found is not None
    assert (found.level, found.place.name) == ("country", name)
