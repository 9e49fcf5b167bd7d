"""The row "learning" in small: a team of stand-in experts learns whom to trust, and is held against its rivals."""

import asyncio

import numpy as np
import pytest

from expert_learning import CachedEncoder, elected, taught
from expert_pictures import Drawn, draw_pictures
from experts import Known, StandInExpert, expert_team, identical_team
from geosleuth.atlas.placing import Placer
from geosleuth.lab.score.metrics import mean_estimate
from geosleuth.lab.teams.compare import Example, Measured, RememberedSociety, measure, ready
from geosleuth.teams import Member, Society, StrangersSociety
from geosleuth.teams.network import TrainedSociety
from geosleuth.teams.swarm import SwarmSettings
from no_atlas import NoAtlas

pytestmark = pytest.mark.slow
PLACER = Placer(NoAtlas())


@pytest.fixture(scope="module")
def encoder() -> CachedEncoder:
    return CachedEncoder()


@pytest.fixture(scope="module")
def train() -> list[Drawn]:
    return draw_pictures(90, seed=31, size=(256, 192))


@pytest.fixture(scope="module")
def test() -> list[Drawn]:
    return draw_pictures(42, seed=32, size=(256, 192))


@pytest.fixture(scope="module")
def team(train: list[Drawn], test: list[Drawn]) -> list[Member]:
    return expert_team(Known([*train, *test]))


@pytest.fixture(scope="module")
def learned(team: list[Member], train: list[Drawn], encoder: CachedEncoder) -> TrainedSociety:
    return taught(team, train, encoder)


def run(
    way: str, team: list[Member], pictures: list[Drawn], society: Society, settings: SwarmSettings | None = None
) -> Measured:
    ask = ready(way, team, placer=PLACER, society=RememberedSociety(society), settings=settings)
    examples = [Example(picture.truth, picture.photo) for picture in pictures]
    return asyncio.run(measure(ask, examples, placer=PLACER, seed=0))


def test_the_right_expert_is_elected_by_the_pixels(
    learned: TrainedSociety, team: list[Member], test: list[Drawn]
) -> None:
    experts = [member for member in team if isinstance(member, StandInExpert)]
    right = [one.region.name in experts[elected(learned, one.photo)].homes for one in test]
    # Whoever does not look elects the same member for all, and is right for one region in six.
    assert np.mean(right) >= 0.9


def test_the_learned_swarm_beats_strangers_and_rivals(
    learned: TrainedSociety, team: list[Member], test: list[Drawn]
) -> None:
    swarm, strangers = (run(way, team, test, learned) for way in ("swarm", "strangers"))
    alone = run("swarm", team, test, learned, SwarmSettings(1, 0, 0))
    assert swarm.accuracy.value >= strangers.accuracy.value + 0.1
    for way in ("single", "majority", "debate"):
        rival = run(way, team, test, learned)
        assert swarm.accuracy.value > rival.accuracy.value
        cheaper = alone if way != "debate" else swarm
        assert cheaper.accuracy.value > rival.accuracy.value
        assert cheaper.tokens_per_query <= 1.01 * rival.tokens_per_query


def test_with_identical_agents_learning_neither_helps_nor_harms(
    train: list[Drawn], test: list[Drawn], encoder: CachedEncoder
) -> None:
    copies = identical_team(Known([*train, *test]))
    society = taught(copies, train[:36], encoder)
    helped, plain = run("swarm", copies, test, society), run("swarm", copies, test, StrangersSociety(6))
    moved = np.array(helped.right, dtype=np.float64) - np.array(plain.right, dtype=np.float64)
    difference = mean_estimate(moved)
    assert difference.low <= 0.0 <= difference.high
