"""An area so small that clues tell nothing inside it apart: what they point at there is still the answer."""

from geosleuth.evidence import Clue, CluePlace, TextSeen
from geosleuth.evidence.decision import decide
from geosleuth.evidence.posterior import posterior
from geosleuth.geo import Box, LatLon

SHOP = LatLon(43.73243, 7.41979)
AROUND_IT = Box(43.729376, 7.414524, 43.735485, 7.42506)
STOPS = ((43.7318768, 7.4183406, 0.16), (43.7322355, 7.4196417, 0.16), (43.7322344, 7.4203828, 0.13))

STOP_LINE = TextSeen("Place d'Armes", "image-1", (133, 64, 484, 119), 0.98, "latin")
SHOP_LINE = TextSeen("La maison des pâtes", "image-1", (142, 229, 1110, 359), 1.0, "latin")
NUMBER_LINE = TextSeen("+377 97 77 56 21", "image-1", (104, 537, 590, 605), 0.95, "none")
BUS_LINE = TextSeen("+43 664 1234567", "image-1", (466, 861, 807, 906), 1.0, "none")


def at_the_shop(seen: str, reliability: float) -> Clue:
    spot = CluePlace("La maison des pâtes", SHOP, 0.1, 0.97, "MC")
    return Clue("business", seen, "a shop's name", reliability, spots=(spot,), where=SHOP_LINE)


def clues_of_a_street_with_a_bus() -> list[Clue]:
    stops = tuple(CluePlace("Place d'Armes", LatLon(lat, lon), 0.1, weight, "MC") for lat, lon, weight in STOPS)
    return [
        at_the_shop("La maison des pâtes", 0.75),
        at_the_shop("La maison des pâtes + Place d'Armes", 0.85),
        Clue("station", "Place d'Armes", "a stop's name", 0.65, spots=stops, where=STOP_LINE),
        Clue("phone", NUMBER_LINE.text, "a number of Monaco", 0.9, countries={"MC": 1.0}, where=NUMBER_LINE),
        Clue("phone", BUS_LINE.text, "a number of Austria", 0.9, countries={"AT": 1.0}, where=BUS_LINE),
    ]


def test_the_place_that_clues_point_at_inside_a_small_area_is_the_answer() -> None:
    clues, lines = clues_of_a_street_with_a_bus(), (STOP_LINE, SHOP_LINE, NUMBER_LINE, BUS_LINE)
    free, within = decide(posterior(clues, lines=lines)), decide(posterior(clues, lines=lines, within=AROUND_IT))
    assert (free.level, within.level) == ("spot", "spot")
    assert within.point is not None
    assert AROUND_IT.contains(within.point)
    assert within.probability_raw >= 0.99
    assert {clue.kind for clue in within.supporting} == {"business", "station"}
    assert within.kinds == 2


def test_an_area_alone_is_no_evidence() -> None:
    assert decide(posterior([], within=AROUND_IT)).level == "none"
