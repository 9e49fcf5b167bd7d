"""The replies that GeoAgent's paper prints: they lead to their conclusions, and not to those of others."""

import pytest

from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.lab.scenes.consistency import RuleReader
from geosleuth.lab.score import Truth
from geosleuth.lab.score.rewards import PRESETS, Helpers
from printed_replies import printed_replies, shuffled

NOWHERE = Truth(LatLon(0, 0))


def earned(replies: list[Address]) -> list[float]:
    answers = [Answer(address=one) for one in replies]
    rewards = PRESETS["geoagent-consistency"].score(answers, [NOWHERE] * len(answers), Helpers(judge=RuleReader()))
    return [float(value) for value in rewards.parts["consistency"]]


@pytest.mark.parametrize(("figure", "mean"), [(11, 0.9), (12, 0.7), (13, 0.5)])
def test_printed_replies_are_consistent_by_rule_and_shuffled_ones_are_not(figure: int, mean: float) -> None:
    replies = printed_replies(figure)
    assert len(replies) == 6
    own = earned(replies)
    assert sum(own) / len(own) > mean
    if figure == 11:
        assert min(own) > 0.5
    mixed = [value for shift in range(1, 6) for value in earned(shuffled(replies, shift))]
    assert sum(mixed) / len(mixed) < 0.2


def test_a_printed_reply_that_contradicts_itself_earns_nothing() -> None:
    # Figure 12: "Australia; Victoria; Melbourne" above a reasoning for Lagos, Nigeria.
    [lagos] = [one for one in printed_replies(12) if "Lagos" in (one.precise.reasoning or "")]
    assert lagos.country.conclusion == "Australia"
    assert earned([lagos]) == [0.0]
