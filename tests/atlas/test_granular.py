"""The places that answers are rounded to: real countries, regions and cities."""

import asyncio
from pathlib import Path

import pytest

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.formats import FORMATS, LocatedAnswer, render_as
from geosleuth.answer.granularity import GRANULARITIES, Granularity, cap
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.geo import LatLon, distance_km
from homes import add_region
from marked import HOME, MARKER, holds_digits_of, holds_marker, marked_answer, marked_context

pytestmark = pytest.mark.usefixtures("atlas_home")

MONACO = Path(__file__).resolve().parents[2] / "examples" / "regions" / "monaco.osm.pbf"
TIMES_SQUARE = LatLon(40.758, -73.9855)


@pytest.fixture
def gazetteer() -> OfflineGazetteer:
    return OfflineGazetteer()


def capped(gazetteer: OfflineGazetteer, level: Granularity, point: LatLon | None, *names: str | None) -> Answer:
    return asyncio.run(
        cap(Answer(point, Address.create(*names), 0.5, None if point is None else 0.2), level, gazetteer)
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("level", GRANULARITIES[:-1])
def test_the_marker_street_is_in_no_file(gazetteer: OfflineGazetteer, level: Granularity, name: str) -> None:
    entry = LocatedAnswer(asyncio.run(cap(marked_answer(), level, gazetteer)), marked_context().coarsen(level))
    text = render_as(name, [entry])
    assert not holds_marker(text)
    assert level == "street" or not holds_digits_of(HOME, text)
    assert "Monaco" in text


def test_a_city_keeps_its_name_its_centre_and_its_size(gazetteer: OfflineGazetteer) -> None:
    found = capped(gazetteer, "city", LatLon(60.1699, 24.9384), "Finland", "Uusimaa", "Mannerheimintie 12, Helsinki")
    assert str(found.address) == "Helsinki, Uusimaa, Finland"
    assert found.point is not None
    assert distance_km(found.point, LatLon(60.1695, 24.9355)) < 1
    assert found.radius_km is not None
    assert 5 < found.radius_km < 20


def test_a_quarter_is_told_as_its_city(gazetteer: OfflineGazetteer) -> None:
    found = capped(gazetteer, "city", TIMES_SQUARE, "USA", "New York", "Times Square")
    assert found.address.precise.conclusion == "New York City"


def test_a_region_and_a_country_are_told_by_their_own_centre(gazetteer: OfflineGazetteer) -> None:
    region = capped(gazetteer, "region", TIMES_SQUARE, "USA", "New York", "Times Square")
    country = capped(gazetteer, "country", TIMES_SQUARE, "USA", "New York", "Times Square")
    assert str(region.address) == "New York, United States"
    assert str(country.address) == "United States"
    hawaii = capped(gazetteer, "country", LatLon(21.3, -157.85), "USA")
    assert (hawaii.point, hawaii.radius_km) == (country.point, country.radius_km)
    assert country.point is not None
    assert country.radius_km is not None
    for place in (TIMES_SQUARE, LatLon(21.3, -157.85), LatLon(64.8, -147.7)):
        assert distance_km(country.point, place) < country.radius_km


def test_no_name_is_added_that_the_answer_did_not_give(gazetteer: OfflineGazetteer) -> None:
    found = asyncio.run(cap(Answer(LatLon(46.5, 2.5), Address.create("France"), 0.5, 500.0), "city", gazetteer))
    assert str(found.address) == "France"
    assert found.radius_km is not None
    assert found.radius_km > 500


def test_a_country_by_whose_border_the_point_lies_is_believed(gazetteer: OfflineGazetteer) -> None:
    beausoleil = LatLon(43.7433, 7.4186)
    assert capped(gazetteer, "country", beausoleil, "Monaco").address == Address.create("Monaco")
    assert capped(gazetteer, "country", beausoleil, "France").address == Address.create("France")
    assert capped(gazetteer, "country", LatLon(48.85, 2.35), "Monaco").address == Address.create("France")


def test_names_alone_are_checked_and_cut(gazetteer: OfflineGazetteer) -> None:
    found = capped(gazetteer, "city", None, "Finland", None, f"{MARKER}, Helsinki")
    assert (found.point, str(found.address)) == (None, "Helsinki, Uusimaa, Finland")
    assert not capped(gazetteer, "city", None, None, None, MARKER).address
    nice = Answer(candidates=(Candidate("Nice, Provence-Alpes-Côte d'Azur, France"),))
    assert asyncio.run(cap(nice, "city", gazetteer)).candidates == (Candidate("Nice, France"),)


def test_the_open_sea_has_no_name(gazetteer: OfflineGazetteer) -> None:
    found = capped(gazetteer, "city", LatLon(0.02, -30.03), None, None, MARKER)
    assert not found.address
    assert found.point is not None
    assert 0 < distance_km(found.point, LatLon(0.02, -30.03)) < 20


@pytest.mark.parametrize("level", GRANULARITIES[:-1])
@pytest.mark.parametrize(
    "answer",
    [
        marked_answer(),
        Answer(TIMES_SQUARE, Address.create("USA", None, "Times Square, New York"), 0.5, 1.0),
        Answer(None, Address.create("Finland", None, "Helsinki"), 0.5),
        Answer(LatLon(0, -30)),
    ],
)
def test_capping_twice_is_capping_once(gazetteer: OfflineGazetteer, answer: Answer, level: Granularity) -> None:
    once = asyncio.run(cap(answer, level, gazetteer))
    assert asyncio.run(cap(once, level, gazetteer)) == once


def test_a_street_is_named_only_if_an_added_region_has_it(tmp_path: Path) -> None:
    add_region(MONACO, tmp_path)
    gazetteer = OfflineGazetteer(OfflineAtlas(tmp_path))
    point = LatLon(43.7335, 7.4180)
    found = capped(gazetteer, "street", point, "Monaco", None, "12 Rue Grimaldi, Monaco")
    assert found.address.precise.conclusion == "Rue Grimaldi, Monaco"
    unknown = capped(gazetteer, "street", point, "Monaco", None, f"{MARKER}, Monaco")
    assert unknown.address.precise.conclusion == "Monaco"
