"""Postcodes as signs have them: found by the addresses that carry them, and by others that begin alike."""

import asyncio
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.regions import RegionInfo, Regions
from geosleuth.geo import Box, distance_km


@pytest.mark.parametrize("text", ["98000", " 98000 ", "980-00", "98000, Monaco"])
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


@pytest.mark.parametrize("text", ["12345", "9", "980", "Monaco", "AB", "98000000000000", "9" * 500, "' OR 1=1 --", ""])
def test_what_is_no_code_of_the_region_finds_none(regions: Regions, text: str) -> None:
    assert not [hit for hit in regions.geocode(text) if hit.place.kind == "postcode"]


def test_an_extent_and_a_country_narrow(regions: Regions, monaco: RegionInfo) -> None:
    assert regions.geocode("98000", within=Box(43.70, 7.38, 43.76, 7.45))[0].place.kind == "postcode"
    assert not regions.geocode("98000", within=Box(0, 0, 1, 1))
    atlas = OfflineAtlas(monaco.path.parent)
    assert asyncio.run(atlas.geocode("98000", country="MC"))[0].place.name == "98000 Monaco"
    assert not [hit for hit in asyncio.run(atlas.geocode("98000", country="DE")) if hit.place.kind == "postcode"]


def test_no_ground_is_found_under_an_unknown_id(regions: Regions) -> None:
    for number in ("postcode/1/2/3", "postcode/", "postcode/98000//Nowhere"):
        assert regions.poi(f"osm:monaco:{number}") is None


def test_a_folder_without_regions(tmp_path: Path) -> None:
    assert Regions(tmp_path).geocode("98000") == []
