"""What a finding says of a claimed place."""

import pytest

from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.geo.distance import destination
from geosleuth.pipeline.result import check_country, check_distance

HERE = LatLon(43.7330, 7.4188)


@pytest.mark.parametrize(
    ("radius_km", "away_km", "verdict", "words"),
    [
        (0.64, 0.6, "for", "whose radius is 640 m"),
        (0.64, 0.68, "for", "whose radius is 640 m"),
        (0.64, 0.76, "undecided", "near, but outside the radius"),
        (0.2, 0.99, "undecided", "near, but outside the radius"),
        (0.64, 1.4, "against", "from the finding"),
        (5.0, 9.9, "undecided", "near, but outside the radius"),
        (5.0, 10.1, "against", "from the finding"),
    ],
)
def test_a_place_outside_of_the_radius_is_not_endorsed(
    radius_km: float, away_km: float, verdict: str, words: str
) -> None:
    claimed = destination(HERE, 90.0, away_km)
    told, reason = check_distance(claimed, Answer(HERE, probability=0.99, radius_km=radius_km))
    assert told == verdict
    assert words in reason


def test_an_unlikely_finding_speaks_neither_for_nor_against() -> None:
    answer = Answer(HERE, probability=0.4, radius_km=1.0)
    assert check_distance(HERE, answer)[0] == "undecided"
    assert check_distance(destination(HERE, 0.0, 50.0), answer)[0] == "undecided"


@pytest.mark.parametrize(
    ("claimed", "verdict", "words"),
    [
        (LatLon(43.8, 87.6), "undecided", "it lies in China, and the finding says no more"),
        (LatLon(37.57, 126.98), "against", "it lies in South Korea, and the finding is China"),
        (LatLon(20.0, 160.0), "against", "it lies at sea"),
    ],
)
def test_a_country_is_held_against_by_its_border(claimed: LatLon, verdict: str, words: str) -> None:
    """The point that stands for China is in Shanghai: Seoul is nearer to it than most of China."""
    answer = Answer(LatLon(31.22, 121.46), probability=0.83, radius_km=1908.0)
    told, reason = check_country(claimed, answer, "CN")
    assert told == verdict
    assert words in reason
