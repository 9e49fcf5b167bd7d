"""The swarm as its members see it: who is asked what, in which order, and what comes of it."""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from geosleuth.answer import Address, Answer
from geosleuth.geo import Box, Disc, LatLon
from geosleuth.models import Usage
from geosleuth.photo import OpenedPhoto
from geosleuth.support.errors import BadInput
from geosleuth.teams import Member, Reply, Request, StrangersSociety, TeamOutcome, TrustWeights
from geosleuth.teams.swarm import SwarmSettings, run_swarm
from geosleuth.teams.swarm.swarm import draw_reviewers, election_order
from members import ScriptedMember, comment, place
from named_places import FRANCE, NamedPlaces, placement
from virtual_time import run_virtually

NICE, GENOA, ROME = (43.70, 7.27), (44.41, 8.93), (41.89, 12.49)


PLACES = {
    "France": FRANCE,
    "Alpes-Maritimes, France": placement("Alpes-Maritimes", Box(43.4, 6.6, 44.4, 7.8), "region"),
    "Nice, France": placement("Nice", Disc(LatLon(*NICE), 8.0)),
    "Nizza": placement("Nice", Disc(LatLon(*NICE), 8.0)),
    "Nice, Iowa": placement("Nice", Disc(LatLon(41.6, -93.6), 8.0)),
    "Sky Arch, Utah": placement("Utah", Box(37.0, -114.1, 42.0, -109.0), "region", ("Sky Arch",)),
    "Red Hole, Arizona": placement("Arizona", Box(31.3, -114.8, 37.0, -109.0), "region", ("Red Hole",)),
    "Utah": placement("Utah", Box(37.0, -114.1, 42.0, -109.0), "region"),
    "Arizona": placement("Arizona", Box(31.3, -114.8, 37.0, -109.0), "region"),
}


class Known:
    """A society that has made up its mind."""

    def __init__(self, election: Sequence[float], links: Sequence[Sequence[float]] | None = None) -> None:
        equal = TrustWeights.equal(len(election)).links
        self._trust_weights = TrustWeights(tuple(election), tuple(tuple(row) for row in links) if links else equal)

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:  # noqa: ARG002
        return self._trust_weights


def swarm(
    members: Sequence[Member],
    election: Sequence[float] | None = None,
    *,
    links: Sequence[Sequence[float]] | None = None,
    seed: int = 0,
    request: Request | None = None,
    **settings: Any,
) -> TeamOutcome:
    falling = [0.9 - 0.1 * index for index in range(len(members))]
    return run_virtually(
        run_swarm(
            members,
            request or Request(()),
            society=Known(election or falling, links),
            placer=NamedPlaces(PLACES),
            settings=SwarmSettings(**settings),
            rng=random.Random(seed),
        )
    )


def by_stage(answer: Reply, note: Reply, *later: Reply) -> Callable[[Request], Reply]:
    """Answers, reviews with the note, and says the later lines in summaries and discussions, the last for ever."""
    left = list(later)

    def line(request: Request) -> Reply:
        if request.stage in ("answer", "review"):
            return answer if request.stage == "answer" else note
        return (left.pop(0) if len(left) > 1 else left[0]) if left else answer

    return line


def steady(name: str, spot: tuple[float, float], **more: Any) -> ScriptedMember:
    """A member that always means the same place."""
    says = place(*spot, because=f"I, {name}, see it")
    return ScriptedMember(name, then=by_stage(says, comment(f"{name} doubts it.\nConfidence: 40%")), **more)


def named(*parts: str | None) -> Reply:
    address = Address.create(*parts)
    return Reply(f"It is {address}.", Answer(address=address, probability=0.6, explanation="it looks like it"))


def said(outcome: TeamOutcome, *stages: str) -> list[str]:
    return [turn.member for turn in outcome.turns if turn.stage in stages]


def test_the_most_trusted_answer_and_the_rest_is_never_asked() -> None:
    members = [steady("Ada", ROME), steady("Bob", NICE), steady("Cy", NICE)]
    outcome = swarm(members, (0.1, 0.8, 0.9), reviewers=0)
    assert said(outcome, "answer") == ["Cy", "Bob"]
    assert members[0].asked == []
    assert (outcome.decided, outcome.voice) == ("consensus of 2", "Cy")
    assert outcome.answer.point == LatLon(*NICE)
    assert outcome.tokens == sum(turn.reply.tokens for turn in outcome.turns) > 0


def test_ties_are_drawn_and_the_draw_repeats_with_the_seed() -> None:
    trust_weights = TrustWeights.equal(4)
    firsts = Counter(election_order(trust_weights, random.Random(seed))[0] for seed in range(400))
    assert set(firsts) == {0, 1, 2, 3}
    assert min(firsts.values()) > 60
    assert election_order(trust_weights, random.Random(7)) == election_order(trust_weights, random.Random(7))


@pytest.mark.parametrize("walk", ["onward", "neighbours"])
def test_reviewers_are_drawn_along_the_links(walk: Any) -> None:
    links = [[0, 3, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    first = Counter(draw_reviewers(links, 0, 1, random.Random(seed), walk=walk)[0] for seed in range(2000))
    assert first[1] / 2000 == pytest.approx(0.75, abs=0.03)
    assert set(first) == {1, 2}
    for seed in range(200):
        drawn = draw_reviewers(links, 0, 3, random.Random(seed), walk=walk)
        assert 0 not in drawn
        assert len(drawn) == len(set(drawn)) == (3 if walk == "onward" else 2)


@pytest.mark.parametrize("walk", ["onward", "neighbours"])
def test_links_that_lead_nowhere_give_fewer_reviewers(walk: Any) -> None:
    assert draw_reviewers([[0, 0], [0, 0]], 0, 2, random.Random(1), walk=walk) == []
    # Only to 1, and from there only back: 2 can't be met.
    assert draw_reviewers([[0, 1, 0], [1, 0, 0], [1, 1, 0]], 0, 2, random.Random(1), walk=walk) == [1]


def test_each_answer_is_reviewed_and_summed_up_without_a_name() -> None:
    ada = ScriptedMember(
        "Ada", then=by_stage(place(*ROME, because="Bob told me"), comment("no"), place(*NICE, because="convinced"))
    )
    bob = ScriptedMember("Bob", then=by_stage(place(*NICE), comment("Ada is wrong: palms.\nConfidence: 90%")))
    outcome = swarm([ada, bob], answerers=1, reviewers=2)
    assert [(turn.member, turn.stage, turn.about) for turn in outcome.turns] == [
        ("Ada", "answer", None),
        ("Bob", "review", "Ada"),
        ("Ada", "summary", None),
    ]
    review, summary = bob.asked[0].words, ada.asked[1].words
    assert review is not None
    assert summary is not None
    assert "(41.8900, 12.4900)" in review
    assert "Confidence: 50%" in review
    assert "> somebody told me" in review
    assert "Comment 1 (90%):\n> somebody is wrong: palms." in summary
    assert not re.search(r"\b(ada|bob)\b", review + summary, re.IGNORECASE)
    assert (outcome.answer.point, outcome.decided) == (LatLon(*NICE), "one answer only")


def test_they_talk_until_they_agree_each_with_the_newest_replies_before_it() -> None:
    ada = ScriptedMember("Ada", [place(*ROME, because="one"), place(*ROME, because="two"), place(*NICE)])
    bob = steady("Bob", NICE)
    outcome = swarm([ada, bob], reviewers=0)
    assert outcome.decided == "consensus of 2"
    assert outcome.answer.point == LatLon(*NICE)
    talk = [turn for turn in outcome.turns if turn.stage == "discussion"]
    assert max(turn.round for turn in talk) == 2
    newest = bob.asked[-1].words
    assert newest is not None
    assert "> two" in newest
    assert "> one" not in newest


def test_equal_words_are_not_agreement_and_different_words_can_be() -> None:
    ada, bob = (ScriptedMember("Ada", then=named("Nowhere")), ScriptedMember("Bob", then=named("Nowhere")))
    assert swarm([ada, bob], reviewers=0, rounds=2).decided.startswith("no agreement")
    one, two = ScriptedMember("Ada", then=named(None, None, "Nizza")), ScriptedMember("Bob", then=place(*NICE))
    outcome = swarm([one, two], reviewers=0)
    assert outcome.decided == "consensus of 2"
    assert said(outcome, "discussion") == []


def test_of_those_who_agree_the_one_who_says_most_precisely_is_taken() -> None:
    broad = ScriptedMember("Ada", then=named("France", "Alpes-Maritimes"))
    outcome = swarm([broad, ScriptedMember("Bob", then=named("France", None, "Nice"))], reviewers=0)
    assert (outcome.voice, outcome.decided) == ("Bob", "consensus of 2")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("France",), ("France",)),
        (("France",), ("France", None, "Nice")),
        ((None, "Utah", "Sky Arch"), (None, "Arizona", "Red Hole")),
        ((None, "Utah", "Sky Arch"), (None, "Utah")),
        ((None, "Utah"), (None, "Arizona")),
    ],
)
def test_a_country_an_unknown_sight_and_a_common_border_are_no_agreement(
    one: tuple[str | None, ...], other: tuple[str | None, ...]
) -> None:
    members = [ScriptedMember("Ada", then=named(*one)), ScriptedMember("Bob", then=named(*other))]
    assert swarm(members, reviewers=0, rounds=1).decided.startswith("no agreement")


def test_two_who_name_the_same_region_agree() -> None:
    members = [ScriptedMember("Ada", then=named(None, "Utah")), ScriptedMember("Bob", then=named(None, "Utah"))]
    assert swarm(members, reviewers=0).decided == "consensus of 2"


def test_after_the_last_round_most_agreement_wins() -> None:
    members = [steady("Ada", ROME), steady("Bob", NICE), steady("Cy", (43.71, 7.26))]
    outcome = swarm(members, answerers=3, reviewers=0, rounds=3)
    assert (outcome.voice, outcome.decided) == ("Bob", "most agreement: 2 of 3")
    assert Counter(said(outcome, "discussion")) == {"Ada": 3, "Bob": 3, "Cy": 3}


def test_with_no_agreement_at_all_the_first_elected_is_believed() -> None:
    members = [steady("Ada", ROME), steady("Bob", NICE), steady("Cy", GENOA)]
    outcome = swarm(members, (0.2, 0.9, 0.3), answerers=3, reviewers=0, rounds=1)
    assert outcome.voice == "Bob"
    assert outcome.decided == "no agreement: the answer of the first elected"
    assert swarm(members, (0.2, 0.9, 0.3), answerers=3, reviewers=1, rounds=0).voice == "Bob"


def test_the_next_of_the_election_takes_the_place_of_who_fails() -> None:
    failing = ScriptedMember("Ada", then=Reply(failure="the server is down"))
    unsure = ScriptedMember("Bob", then=Reply("It could be anywhere.", Answer(explanation="It could be anywhere.")))
    broken = ScriptedMember("Cy", then=KeyError("secret"))
    outcome = swarm([failing, unsure, broken, steady("Di", ROME), steady("Ed", ROME)], reviewers=0)
    assert Counter(said(outcome, "answer")) == dict.fromkeys(("Ada", "Bob", "Cy", "Di", "Ed"), 1)
    assert (outcome.voice, outcome.decided) == ("Di", "consensus of 2")
    assert "secret" not in str(outcome)


def test_where_everybody_fails_the_answer_says_why() -> None:
    members = [ScriptedMember(name, then=Reply(failure=f"{name} is down")) for name in ("Ada", "Bob", "Cy")]
    outcome = swarm(members)
    assert not outcome.answer.located
    assert outcome.voice is None
    assert outcome.decided == "nobody named a place"
    assert "Ada: Ada is down; " in (outcome.answer.explanation or "")


def test_a_slow_member_does_not_keep_the_others_from_talking() -> None:
    slow = ScriptedMember("Slow", [place(*ROME)], then=place(*ROME), seconds=50)
    quick = [
        ScriptedMember("Ada", [place(*NICE), place(*NICE)], then=place(*NICE), seconds=1),
        ScriptedMember("Bob", [place(*GENOA)], then=place(*GENOA), seconds=1),
    ]
    outcome = swarm([slow, *quick], answerers=3, reviewers=0, rounds=4)
    talk = said(outcome, "discussion")
    assert talk[:6].count("Slow") == 0
    # When it came, the others had said all that they may: it has nothing new to react to after one more turn.
    assert Counter(talk) == {"Ada": 4, "Bob": 4, "Slow": 2}


def test_time_limits_cut_off_a_reply_and_the_whole() -> None:
    stuck = ScriptedMember("Stuck", then=place(*ROME), seconds=1e5)
    outcome = swarm([stuck, steady("Ada", NICE)], reviewers=1, seconds_per_reply=30)
    assert outcome.voice == "Ada"
    assert outcome.turns[-1].reply.failure == "took longer than 30 s"
    slow = [steady(name, spot, seconds=7) for name, spot in (("Ada", ROME), ("Bob", NICE))]
    outcome = swarm(slow, reviewers=0, seconds=60)
    assert outcome.seconds == pytest.approx(60, abs=0.1)
    assert outcome.voice == "Ada"


@pytest.mark.parametrize(
    ("usage", "limit"),
    [(Usage(400, 100), {"tokens": 900}), (Usage(cost_usd=0.05), {"usd": 0.1}), (Usage(cost_usd=None), {"usd": 99.0})],
)
def test_nobody_is_asked_once_the_teams_tokens_or_money_are_spent(usage: Usage, limit: dict[str, Any]) -> None:
    members = [
        ScriptedMember(name, then=replace(place(*spot), usage=usage), seconds=seconds)
        for name, spot, seconds in (("Ada", ROME, 1), ("Bob", NICE, 2))
    ]
    outcome = swarm(members, reviewers=0, **limit)
    assert said(outcome, "answer", "discussion") == ["Ada", "Bob"]
    assert outcome.voice == "Ada"


def test_spoken_in_every_round_where_the_paper_is_taken_by_its_word() -> None:
    slow = ScriptedMember("Slow", [place(*ROME)], then=place(*ROME), seconds=50)
    members = [slow, steady("Ada", NICE, seconds=1)]
    waits = swarm(members, reviewers=0, rounds=3)
    assert said(waits, "discussion")[:2] == ["Ada", "Slow"]
    eager = swarm([ScriptedMember("Slow", then=place(*ROME), seconds=50), members[1]], reviewers=0, rounds=3,
                  waits_for_news=False)  # fmt: skip
    assert said(eager, "discussion")[:3] == ["Ada", "Ada", "Ada"]


def test_the_same_seed_gives_the_same_course() -> None:
    def course(seed: int) -> list[tuple[str, str, str | None]]:
        members = [steady(name, spot) for name, spot in zip("PQRST", (ROME, NICE, GENOA, NICE, ROME), strict=True)]
        outcome = swarm(members, (0.5,) * 5, seed=seed, rounds=2)
        return [(turn.member, turn.stage, turn.about) for turn in outcome.turns]

    assert course(3) == course(3)
    assert len({tuple(course(seed)) for seed in range(10)}) > 1


def test_members_get_seeds_of_their_own_and_what_the_user_said() -> None:
    members = [steady("Ada", NICE), steady("Bob", NICE)]
    swarm(members, request=Request((), hint="by the sea", area="Europe", seed=100, force_answer=True))
    assert [member.asked[0].seed for member in members] == [100, 101]
    for asked in (members[0].asked[0], members[1].asked[-1]):
        assert (asked.hint, asked.area, asked.force_answer) == ("by the sea", "Europe", True)


def test_what_can_be_no_swarm_is_refused() -> None:
    with pytest.raises(BadInput, match="needs members"):
        swarm([])
    with pytest.raises(BadInput, match="share a name"):
        swarm([steady("Ada", NICE), steady("Ada", ROME)])
    with pytest.raises(BadInput, match="learned with 3"):
        swarm([steady("Ada", NICE)], (0.5, 0.5, 0.5))
    for wrong in ({"answerers": 0}, {"reviewers": -1}, {"within_km": float("nan")}, {"seconds": 0.0}, {"walk": "x"}):
        with pytest.raises(BadInput):
            SwarmSettings(**cast("Any", wrong))


def test_strangers_can_work_together() -> None:
    members = [steady("Ada", NICE), steady("Bob", NICE), steady("Cy", NICE)]
    outcome = run_virtually(
        run_swarm(
            members, Request(()), society=StrangersSociety(3), placer=NamedPlaces(PLACES), rng=random.Random(0),
        )
    )  # fmt: skip
    assert outcome.decided == "consensus of 2"
