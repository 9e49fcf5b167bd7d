"""Places that replies name, or that images are often taken at, are elected beside the agents' points."""

import random

import numpy as np
import pytest

from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.lab.teams.recorded import Panel, PanelReply, number_groups, trust_from_json, trust_to_json
from geosleuth.lab.teams.recorded.learn_trust import LEARNED, SINGLE, KnownTrust, learn, replay
from geosleuth.lab.teams.recorded.panel import towns_named
from geosleuth.lab.teams.recorded.places import convert_vectors, find_common_places, unit_vectors
from geosleuth.lab.teams.recorded.trust import PLACES

TOWNS = {
    "Harbin": LatLon(45.75, 126.65), "Qingdao": LatLon(36.07, 120.37), "Kunming": LatLon(25.04, 102.72),
    "Zhengzhou": LatLon(34.75, 113.65),
}  # fmt: skip
SHANGHAI = LatLon(31.23, 121.47)


def near(point: LatLon, chance: random.Random) -> LatLon:
    return LatLon(point.lat + chance.uniform(-0.05, 0.05), point.lon + chance.uniform(-0.05, 0.05))


def images(count: int, *, names: float) -> KnownTrust:
    """Two agents that mostly say Shanghai; with the chance ``names`` a reply names the right town all the same."""
    chance = random.Random(3)
    truths, said = [], {"ann": [], "bob": []}  # type: ignore[var-annotated]
    for _ in range(count):
        town, point = chance.choice(list(TOWNS.items()))
        truths.append(Truth(near(point, chance)))
        for replies in said.values():
            point_said = near(point, chance) if chance.random() < 0.3 else near(SHANGHAI, chance)
            told = town if chance.random() < names else "some town"
            replies.append(PanelReply(f"The shop signs suggest {told}, but I can't be sure.", Answer(point_said)))
    groups = number_groups([[row] for row in range(count)])
    return KnownTrust.from_panel(Panel.from_answers(said), truths, groups)


def right(distances: np.ndarray) -> float:
    return float((np.nan_to_num(distances, nan=np.inf) <= 25).mean())


def test_towns_that_a_reply_names_are_found_in_its_own_words_and_script() -> None:
    found = towns_named("It resembles Harbin or 沈阳; the river may be the Seine. Paris is unlikely.")
    assert [(round(lat), round(lon)) for lat, lon in found] == [(46, 127), (42, 123), (49, 2)]
    assert towns_named("I can't tell. No clear landmark is visible.") == []


def test_places_of_many_images_are_known_and_others_are_not() -> None:
    lat = np.array([10.0] * 9 + [50.0] * 3)
    [place] = find_common_places(unit_vectors(lat, np.full(12, 20.0)))
    assert convert_vectors(place) == pytest.approx((10.0, 20.0))


def test_a_town_that_replies_name_is_elected_over_points_that_are_mostly_wrong() -> None:
    result = replay(images(200, names=0.9), folds=4)
    assert right(result.rows[SINGLE]) < 0.5
    assert right(result.rows[LEARNED]) > 0.8
    assert (PLACES,) in result.followed
    row = result.followed.index((PLACES,))
    answer = result.answers[row]
    assert answer.point is not None
    assert "no agent points there" in (answer.explanation or "")
    assert 0.0 < (answer.probability or 0.0) <= 1.0
    assert np.all(np.diff(result.within, axis=1) >= -1e-12)


def test_what_was_learned_about_places_is_stored_with_the_rest() -> None:
    known = images(120, names=0.9)
    trust = learn(known)
    again = trust_from_json(trust_to_json(trust))
    one, other = trust.judge(known.panel), again.judge(known.panel)
    assert one.chosen.tolist() == other.chosen.tolist()
    assert one.within == pytest.approx(other.within)
    assert (one.chosen == 2).any()
