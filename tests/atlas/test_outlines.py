"""A finding that is a whole country, and the country's outline."""

import pytest
import shapely

from geosleuth.answer import Address, Answer
from geosleuth.atlas.granular import MAX_CORNERS, country_outline, get_answer_country
from geosleuth.geo import LatLon

TOKYO = LatLon(35.689487, 139.691711)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(TOKYO, Address.create("Japan"), 0.84, 1131.0), "JP"),
        (Answer(TOKYO, Address.create("Japan"), 0.84, 40.0), None),
        (Answer(TOKYO, Address.create("Japan"), 0.84), None),
        (Answer(TOKYO, Address.create("Japan", "Tokyo"), 0.84, 1131.0), None),
        (Answer(TOKYO, Address.create("Japan", None, "Shinjuku"), 0.84, 1131.0), None),
        (Answer(TOKYO, Address.create("Atlantis"), 0.84, 1131.0), None),
        (Answer(TOKYO, probability=0.84, radius_km=1131.0), None),
        (Answer(address=Address.create("Japan"), probability=0.84), None),
    ],
)
def test_a_country_is_the_finding_where_nothing_finer_is_named_and_the_radius_is_as_large(
    answer: Answer, code: str | None
) -> None:
    assert get_answer_country(answer) == code


@pytest.mark.parametrize("code", ["JP", "RU", "ZA", "MV", "MC", "FJ", "CA"])
def test_an_outline_is_valid_and_has_few_corners(code: str) -> None:
    outline = country_outline(code)
    assert outline is not None
    assert sum(len(ring) for polygon in outline.polygons for ring in polygon) <= MAX_CORNERS
    shape = shapely.MultiPolygon([(outer, holes) for outer, *holes in outline.polygons])
    assert shape.is_valid
    assert shape.covers(shapely.Point(outline.middle.lon, outline.middle.lat))
    assert outline.box.contains(outline.middle)


def test_an_outline_holds_the_country_and_not_its_neighbours() -> None:
    outline = country_outline("ZA")
    assert outline is not None
    shape = shapely.MultiPolygon([(outer, holes) for outer, *holes in outline.polygons])
    assert shape.covers(shapely.Point(28.05, -26.2)), "Johannesburg"
    assert not shape.covers(shapely.Point(28.2, -29.5)), "Lesotho is a hole"


def test_the_box_of_an_outline_crosses_the_antimeridian_where_the_country_does() -> None:
    outline = country_outline("FJ")
    assert outline is not None
    assert outline.box.west > outline.box.east
    assert outline.box.width_deg < 10
