"""A clue in the words that fit the place in question."""

from geosleuth.evidence import Clue, CluePlace
from geosleuth.evidence.areas import brought_into, farthest_km
from geosleuth.evidence.text_clue import specify_country, specify_place
from geosleuth.geo import Box, Disc, LatLon

PRIORO = CluePlace("Prioro", LatLon(42.89, -4.96), 1.0, 0.3, "ES")
DOVER = CluePlace("Dover Priory", LatLon(51.126, 1.305), 0.5, 0.2, "GB")
LANCASTER = CluePlace("Priory Church", LatLon(54.05, -2.806), 0.5, 0.25, "GB")
NAME = Clue("station", "pRIORY", '"pRIORY" is like the name of Prioro, Spain, one of 4 places found', 0.5)


def test_a_name_is_worded_for_the_spot_that_is_meant() -> None:
    clue = Clue(NAME.kind, NAME.seen, NAME.says, NAME.reliability, {}, (PRIORO, DOVER, LANCASTER))
    assert specify_country(clue, "ES") is clue
    assert specify_country(clue, "GB", DOVER.point).says == '"pRIORY" may be Dover Priory, United Kingdom'
    assert specify_country(clue, "GB").says == '"pRIORY" may be Priory Church, United Kingdom'
    assert specify_place(clue, "FR") is clue


def test_words_about_another_reading_are_not_kept() -> None:
    strongest = CluePlace(DOVER.name, DOVER.point, 0.5, 0.6, "GB")
    clue = Clue(NAME.kind, NAME.seen, NAME.says, NAME.reliability, {}, (PRIORO, strongest))
    assert specify_country(clue, "GB").says == '"pRIORY" may be Dover Priory, United Kingdom'


def test_of_two_spots_in_a_country_the_one_at_the_point_is_named() -> None:
    says = '"pRIORY" is like the name of Priory Church, United Kingdom, one of 2 places found'
    clue = Clue("station", "pRIORY", says, 0.5, {}, (LANCASTER, DOVER))
    assert specify_country(clue, "GB", LANCASTER.point) is clue
    assert specify_country(clue, "GB") is clue
    assert "Dover Priory" in specify_country(clue, "GB", DOVER.point).says


def test_a_place_that_reaches_into_an_area_stands_inside_it() -> None:
    town = LatLon(44.058, 12.565)
    small = Box(44.10, 12.60, 44.11, 12.61)
    assert brought_into(small, town, 10.0) == small.centre
    assert brought_into(small, town, 1.0) is None
    assert brought_into(Box(44.0, 12.5, 44.1, 12.6), town, 1.0) == town
    wide = Disc(LatLon(45.0, 12.5), 100.0)
    edge = brought_into(wide, LatLon(44.05, 12.5), 20.0)
    assert edge is not None
    assert wide.contains(edge)
    assert farthest_km(wide, wide.centre) == 100.0
    over_the_line = Box(-18.0, 179.0, -17.0, -179.0)
    brought = brought_into(over_the_line, LatLon(-17.5, 178.9), 20.0)
    assert brought is not None
    assert over_the_line.contains(brought)
