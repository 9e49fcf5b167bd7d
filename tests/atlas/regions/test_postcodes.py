"""Postcodes as signs have them: found by the addresses that carry them, and by others that begin alike."""

import asyncio
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.regions import RegionInfo, Regions
from geosleuth.atlas.regions.region_writer import FeatureRow, open_writer
from geosleuth.atlas.regions.tags import encode_kept_tags, format_address, index_names
from geosleuth.geo import Box, LatLon, distance_km


@pytest.mark.parametrize(
    "text", ["98000", " 98000 ", "980-00", "98000, Monaco", "98000 Monaco", "MC-98000", "MC-98000 Monaco", "〒98000"]
)
def test_a_code_is_where_its_addresses_are(regions: Regions, text: str) -> None:
    best = regions.geocode(text)[0]
    assert (best.place.name, best.place.kind, best.match, best.score) == ("98000 Monaco", "postcode", "exact", 1.0)
    assert best.place.extent.contains(best.place.point)
    assert regions.poi(best.place.id) == best.place


def test_a_code_that_nobody_has_leads_to_those_that_begin_alike(regions: Regions) -> None:
    exact = regions.geocode("98000")[0]
    alike = [hit for hit in regions.geocode("98019", limit=50) if hit.place.kind == "postcode"]
    assert alike
    assert all(hit.match == "fuzzy" and hit.place.name.startswith("980") for hit in alike)
    assert all(hit.score < exact.score for hit in alike)
    # One ground for each town and code, however its addresses are tagged.
    assert len({hit.place.id for hit in alike}) == len(alike)
    assert all(distance_km(hit.place.point, exact.place.point) < 20 for hit in alike)


@pytest.mark.parametrize(
    "text",
    [
        "12345",
        "9",
        "980",
        "Monaco",
        "AB",
        "98000000000000",
        "9" * 500,
        "' OR 1=1 --",
        "",
        "98000 Nice",
        "CAFE 1905",
        "ROUTE 66",
    ],
)
def test_what_is_no_code_of_the_region_finds_none(regions: Regions, text: str) -> None:
    assert not [hit for hit in regions.geocode(text) if hit.place.kind == "postcode"]


def test_an_extent_and_a_country_narrow(regions: Regions, monaco: RegionInfo) -> None:
    assert regions.geocode("98000", within=Box(43.70, 7.38, 43.76, 7.45))[0].place.kind == "postcode"
    assert not regions.geocode("98000", within=Box(0, 0, 1, 1))
    atlas = OfflineAtlas(monaco.path.parent)
    assert asyncio.run(atlas.geocode("98000", country="MC"))[0].place.name == "98000 Monaco"
    assert not [hit for hit in asyncio.run(atlas.geocode("98000", country="DE")) if hit.place.kind == "postcode"]


def written(folder: Path, name: str, rows: list[tuple[float, float, dict[str, str]]]) -> None:
    """A region of addresses."""
    with open_writer(folder, name) as writer:
        for number, (lat, lon, tags) in enumerate(rows):
            told = {"shop": "bakery", "name": f"Shop {number}", **{f"addr:{key}": text for key, text in tags.items()}}
            at = (lat, lon)
            row = FeatureRow(
                f"n{number}", told["name"], "shop=bakery", at, (*at, *at), 0.5, format_address(told),
                encode_kept_tags(told),
                index_names(told),
            )  # fmt: skip
            writer.add_feature(row, told)
        about = ("name", "kind", "source", "sha256", "licence", "attribution", "created")
        writer.finish({key: "osm" if key == "kind" else name if key == "name" else "-" for key in about})


def codes(folder: Path, text: str) -> list[tuple[str, float, float]]:
    found = Regions(folder).geocode(text, limit=20)
    return [(hit.place.name, round(hit.place.point.lat, 1), round(hit.place.point.lon, 1))
            for hit in found if hit.place.kind == "postcode"]  # fmt: skip


def test_a_code_of_several_countries_is_none_of_the_places_between_them(tmp_path: Path) -> None:
    madrid, far = [(40.42, -3.70, {"postcode": "28013"})] * 3, [(48.0, 8.8, {"postcode": "28013"})] * 2
    written(tmp_path, "a", [*madrid, *far])
    written(tmp_path, "b", [(52.5, 13.4, {"postcode": "28013"})])
    assert sorted(codes(tmp_path, "28013")) == [("28013", 40.4, -3.7), ("28013", 48.0, 8.8), ("28013", 52.5, 13.4)]


def test_a_code_across_the_antimeridian_is_there(tmp_path: Path) -> None:
    rows = [(-16.8, lon, {"postcode": "4321", "city": "Waiyevo"}) for lon in (179.99, 179.98, -179.99)]
    written(tmp_path, "a", rows)
    assert codes(tmp_path, "4321") == [("4321 Waiyevo", -16.8, 180.0)]


def test_addresses_without_a_town_count_to_the_one_around_them_and_slips_to_none(tmp_path: Path) -> None:
    here = [(60.17 + at / 1000, 24.94, {"postcode": "00100", **({"city": "Helsinki"} if at % 2 else {})})
            for at in range(99)]  # fmt: skip
    written(tmp_path, "a", [*here, (65.0, 25.5, {"postcode": "00100", "city": "Oulu"})])
    assert codes(tmp_path, "00100") == [("00100 Helsinki", 60.2, 24.9)]
    place = Regions(tmp_path).geocode("00100")[0].place
    assert all(place.extent.contains(LatLon(lat, lon)) for lat, lon, _ in here)
