"""A real Nominatim 5 with a PostgreSQL of its own, on Monaco: the atlas's questions, and its end in mid-run."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.online import BackedAtlas, announcing_takeovers
from geosleuth.atlas.protocol import Hit, Place, Reverse
from geosleuth.atlas.regions import import_osm
from geosleuth.geo import LatLon, distance_km
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.searches import online_maps
from nominatim_server import Missing, Nominatim, Served, nominatim_of

pytestmark = pytest.mark.slow

MONACO = Path(__file__).resolve().parents[3] / "examples" / "regions" / "monaco.osm.pbf"
PALACE = LatLon(43.7314, 7.4202)


@pytest.fixture(scope="module")
def nominatim() -> Iterator[Nominatim]:
    try:
        with nominatim_of([MONACO]) as made:
            yield made
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def served(nominatim: Nominatim) -> Iterator[Served]:
    with nominatim.serving() as one:
        yield one


def asked(served: Served, work: Callable[[BackedAtlas], Any], offline: OfflineAtlas | None = None) -> Any:
    """What comes of work on the atlas that ``--maps nominatim --maps-url URL`` gives."""

    async def go() -> Any:
        made = online_maps(LocateRequest(maps="nominatim", maps_url=(served.url,)))
        assert isinstance(made, BackedAtlas)
        made.offline = offline or made.offline
        async with made as atlas:
            return await work(atlas)

    return asyncio.run(go())


def test_search_reverse_and_details_give_the_atlas_types_with_sources(served: Served) -> None:
    async def work(atlas: BackedAtlas) -> tuple[list[Hit], Reverse, Place | None]:
        hits = await atlas.geocode("Rue Grimaldi, Monaco")
        return hits, await atlas.reverse(PALACE), await atlas.poi(hits[0].place.id)

    hits, here, place = asked(served, work)
    assert (hits[0].place.name, hits[0].place.kind, hits[0].level) == ("Rue Grimaldi", "street", "street")
    assert {hit.place.source for hit in hits} == {"nominatim"}
    assert distance_km(hits[0].place.point, LatLon(43.7366, 7.4206)) < 0.5
    assert (here.point, here.country, here.country_name) == (PALACE, "MC", "Monaco")
    assert here.places[0].match == "near"
    assert "nominatim" in here.source
    assert place is not None
    assert (place.id, place.name, place.source, place.country) == (hits[0].place.id, "Rue Grimaldi", "nominatim", "MC")
    assert place.address is not None
    assert place.address.endswith("Monaco")


def test_features_by_name_and_kind(served: Served) -> None:
    async def work(atlas: BackedAtlas) -> list[Hit]:
        return await atlas.search_pois("Casino", near=PALACE, category="amenity=casino")

    hits = asked(served, work)
    assert hits
    assert {hit.place.kind for hit in hits} == {"amenity=casino"}
    assert all(hit.distance_km is not None and hit.distance_km < 3 for hit in hits)


def test_beyond_the_extract_the_offline_atlas_answers(served: Served) -> None:
    async def work(atlas: BackedAtlas) -> tuple[list[Hit], Reverse]:
        return await atlas.geocode("Yokohama"), await atlas.reverse(LatLon(35.45, 139.63))

    hits, here = asked(served, work)
    assert (hits[0].place.name, hits[0].place.source) == ("Yokohama", "GeoNames")
    assert here.country == "JP"


def test_stopped_in_mid_run_the_atlas_takes_over_and_says_so(served: Served, tmp_path: Path) -> None:
    import_osm(MONACO, folder=tmp_path)
    said: list[str] = []

    async def work(atlas: BackedAtlas) -> tuple[list[Hit], list[Hit], Reverse, Place | None]:
        with announcing_takeovers(said.append):
            before = await atlas.geocode("Rue Plati")
            served.stop()
            after = await atlas.geocode("Rue Grimaldi, Monaco")
            here = await atlas.reverse(PALACE)
            # The service's own id means the same object of the extract.
            return before, after, here, await atlas.poi(before[0].place.id)

    before, after, here, place = asked(served, work, OfflineAtlas(tmp_path))
    assert before[0].place.source == "nominatim"
    assert (after[0].place.name, after[0].level) == ("Rue Grimaldi", "street")
    assert "OpenStreetMap" in after[0].place.source
    assert here.country == "MC"
    assert place is not None
    assert place.name == "Rue Plati"
    assert len(said) == 1, said
    assert said[0].startswith("127.0.0.1: can't be reached")
    assert said[0].endswith("the offline atlas answers in place of nominatim")
