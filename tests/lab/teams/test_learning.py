"""Learning whom to trust: the rounds about one picture, and what a network makes of many."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from expert_pictures import Drawn, draw_pictures
from experts import Known, StandInExpert, expert_team, identical_team
from geosleuth.atlas.placing import Placer
from geosleuth.geo import Box, LatLon
from geosleuth.lab.score import Truth
from geosleuth.lab.teams.learning import (
    PAPER_TRAINING,
    QUICK_TRAINING,
    Examples,
    Heard,
    LearnSettings,
    Observation,
    RememberingMember,
    learn_picture,
    swarm_stages,
    train,
)
from geosleuth.lab.teams.learning.links import Links
from geosleuth.lab.teams.learning.rounds import Stages
from geosleuth.lab.teams.learning.training import believable
from geosleuth.photo import first_view
from geosleuth.photo.image_encoder import Features, load_encoder
from geosleuth.support.errors import BadInput
from geosleuth.teams import Member, Reply, Request
from geosleuth.teams.network import predict_trust
from members import ScriptedMember, comment, place
from named_places import NamedPlaces, placement

NOWHERE = float("inf")


def told(km: Sequence[float | None], drawings: list[list[int]] | None = None) -> Stages:
    """Members that are always as far off; None never answers. Two others review each answer, drawn along the links."""

    async def stages(drawn: Sequence[int], links: Links, rng: random.Random) -> Heard:
        if drawings is not None:
            drawings.append(list(drawn))
        own = {i: km_ for i in drawn if (km_ := km[i]) is not None}
        reviewers = {i: tuple(set(rng.choices(range(len(km)), links[i], k=2))) for i in own}
        return Heard(own, reviewers=reviewers)

    return stages


def observed(km: Sequence[float | None], settings: LearnSettings, seed: int = 0) -> Observation:
    return asyncio.run(learn_picture(len(km), told(km), settings, random.Random(seed)))


def test_labels_say_who_is_right_and_one_half_where_nobody_knows() -> None:
    seen = observed([3.0, 900.0, None, 49.9, NOWHERE], LearnSettings())
    assert seen.labels == (1.0, 0.0, 0.5, 1.0, 0.0)
    assert seen.answers[2] == 0
    assert seen.distances[0] < 0.1
    assert 0.9 < seen.distances[1] < seen.distances[4] == 1.0
    assert seen.distances[2] == 0.0
    last = observed([3.0, 900.0, None, 49.9], replace(LearnSettings(), labels="last"))
    assert last.labels[0] == last.labels[3] == 1.0
    assert last.labels[1] in (0.0, 0.5)
    assert last.labels[2] == 0.5
    mean = observed([3.0, 900.0, None, 49.9], replace(LearnSettings(), labels="mean"))
    assert mean.labels[0] > 0.85 > mean.labels[2] == 0.5 > mean.labels[1] > 0.0


def test_who_was_right_is_drawn_again_and_who_was_wrong_is_not_at_once() -> None:
    drawings: list[list[int]] = []
    asyncio.run(learn_picture(3, told([1.0, 999.0, None], drawings), LearnSettings(rounds=60), random.Random(1)))
    first = next(number for number, drawn in enumerate(drawings) if 0 in drawn)
    assert all(0 in drawn for drawn in drawings[first:])
    assert not any(1 in drawn and 1 in after for drawn, after in pairwise(drawings))
    assert sum(2 in drawn for drawn in drawings) in range(15, 46)
    assert all(drawings)


def placer() -> Placer:
    finland = Box(59.0, 20.0, 70.0, 31.0)
    return NamedPlaces(
        {
            "Finland": placement("Finland", finland, "country"),
            "Unknown Lake, Finland": placement("Finland", finland, "country", ("Unknown Lake",)),
        }
    )


def picture() -> Drawn:
    return draw_pictures(1, 5, size=(64, 48))[0]


def test_the_swarm_itself_works_in_every_round_and_answers_are_held_against_the_truth_as_extents() -> None:
    shown = picture()
    near, far = shown.town.point, LatLon(-shown.town.point.lat, shown.town.point.lon)
    members = [
        ScriptedMember(
            "near", then=lambda r: comment("fine 60%") if r.stage == "review" else place(near.lat, near.lon)
        ),
        ScriptedMember("far", then=lambda r: comment("no 60%") if r.stage == "review" else place(far.lat, far.lon)),
        ScriptedMember("down", then=Reply(failure="no route")),
    ]
    asked = [RememberingMember(member) for member in members]
    settings = LearnSettings(rounds=8)

    async def run() -> Observation:
        stages = swarm_stages(asked, Request((shown.photo,)), Truth(near), placer=placer(), settings=settings)
        seen = await learn_picture(3, stages, settings, random.Random(4))
        for member in asked:
            await member.aclose()
        return seen

    seen = asyncio.run(run())
    assert seen.labels == (1.0, 0.0, 0.5)
    assert max(seen.links[0]) > 1.0 > min(weight for weight in seen.links[1] if weight)
    for member in members:
        assert sum(request.stage == "answer" for request in member.asked) <= 1
        words = [request.words for request in member.asked]
        assert len(words) == len(set(words))


def test_a_country_that_holds_the_truth_is_right_while_learning() -> None:
    from geosleuth.answer import Address, Answer

    country = Reply("Finland", Answer(address=Address.create(country="Finland")))
    nonsense = Reply("Narnia", Answer(address=Address.create(country="Narnia")))
    unknown = Reply("A lake", Answer(address=Address.create(country="Finland", precise="Unknown Lake")))
    said = {"country": country, "nonsense": nonsense, "unknown": unknown}
    members = [ScriptedMember(name, then=reply) for name, reply in said.items()]
    settings = LearnSettings(rounds=6, reviewers=0)
    stages = swarm_stages(
        members, Request((picture().photo,)), Truth(LatLon(65.0, 25.5)), placer=placer(), settings=settings
    )
    seen = asyncio.run(learn_picture(3, stages, settings, random.Random(0)))
    assert seen.labels == (1.0, 0.0, 0.0)
    assert seen.distances == (0.0, 1.0, 1.0)


def test_asked_anew_every_round_where_that_is_wanted() -> None:
    calls = []
    for anew in (False, True):
        member = ScriptedMember("one", then=place(1, 1))
        asked: list[Member] = [RememberingMember(member, ask_anew=anew), ScriptedMember("two", then=place(1, 1))]
        settings = LearnSettings(rounds=10, reviewers=0, ask_anew=anew)
        stages = swarm_stages(
            asked, Request((picture().photo,)), Truth(LatLon(1, 1)), placer=placer(), settings=settings
        )
        asyncio.run(learn_picture(2, stages, settings, random.Random(0)))
        calls.append(len(member.asked))
    assert calls[0] == 1
    assert calls[1] > 5


@cache
def looked_at() -> tuple[list[Drawn], Features, int]:
    """Pictures of six kinds of land as the bundled image encoder sees them; the last of them are held out."""
    pictures = draw_pictures(144, 11, size=(256, 192))
    features = load_encoder().features([first_view(one.photo.photo).image for one in pictures])
    return pictures, features, 54


def first_answers(team: Sequence[Member], shown: Drawn) -> list[float | None]:
    from geosleuth.geo import distance_km

    async def ask() -> list[Reply]:
        return [await member.reply(Request((shown.photo,))) for member in team]

    points = [reply.answer.point for reply in asyncio.run(ask())]
    return [NOWHERE if point is None else distance_km(point, shown.town.point) for point in points]


def learned_and_held_out(
    team: Sequence[Member],
) -> tuple[float, float, float, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Acc of the learned election, of the best blind one, the trust, and who was elected, on held-out pictures."""
    pictures, features, held = looked_at()
    answers = [first_answers(team, one) for one in pictures]
    seen = [observed(km, LearnSettings(), number) for number, km in enumerate(answers)]
    weights = train(Examples.from_observations(features[:-held], seen[:-held]))
    elected = predict_trust(weights, features[-held:])[0].argmax(axis=1)
    right = np.array([[km is not None and km <= 50 for km in row] for row in answers])
    blind = int(right[:-held].mean(axis=0).argmax())
    return (
        float(right[-held:][np.arange(held), elected].mean()),
        float(right[-held:, blind].mean()),
        weights.trust,
        elected,
    )


@pytest.mark.slow
def test_on_pictures_it_never_saw_the_network_elects_the_right_expert() -> None:
    pictures, _, held = looked_at()
    team = expert_team(Known(pictures), seed=3)
    right, blind, trust, elected = learned_and_held_out(team)
    homes = [pictures[len(pictures) - held + row].region.name for row in range(held)]
    own = [one.homes for one in team if isinstance(one, StandInExpert)]
    expert = np.mean([home in own[i] for home, i in zip(homes, elected, strict=True)])
    assert expert >= 0.9
    assert right >= blind + 0.1
    assert trust > 0.5


@pytest.mark.slow
def test_with_identical_members_nothing_is_believed_and_nothing_is_lost() -> None:
    team = identical_team(Known(looked_at()[0]), seed=3)
    right, blind, trust, _ = learned_and_held_out(team)
    assert trust == 0.0
    assert abs(right - blind) <= 0.1


def test_only_differences_that_are_there_on_other_pictures_are_believed() -> None:
    rng = np.random.default_rng(0)
    said = rng.random((200, 4))
    assert believable(said, said) == pytest.approx(1.0)
    assert believable(said, 0.5 * said + 0.05 * rng.standard_normal(said.shape)) == pytest.approx(0.5, abs=0.05)
    assert believable(said, rng.random((200, 4))) == 0.0
    assert believable(said, np.full((200, 4), 0.7)) == 0.0
    assert believable(said[:3], said[:3]) == 0.0
    assert believable(np.full((200, 4), 0.3), said) == 0.0


def test_the_paper_is_a_preset_and_its_last_epochs_are_averaged() -> None:
    assert (PAPER_TRAINING.embedding, PAPER_TRAINING.fea, PAPER_TRAINING.hidden, PAPER_TRAINING.rate) == (
        1024,
        1024,
        1024,
        1e-5,
    )
    assert (PAPER_TRAINING.epochs, PAPER_TRAINING.averaged, PAPER_TRAINING.side_px) == (2500, 100, 512)
    rng = np.random.default_rng(0)
    seen = [observed([1.0, 999.0, None], LearnSettings(), number) for number in range(12)]
    small = replace(PAPER_TRAINING, embedding=8, fea=8, hidden=8, epochs=30, averaged=5, rate=1e-2)
    weights = train(Examples.from_observations(rng.random((12, 5)), seen), small)
    assert weights.figures["epochs"] == 30
    assert weights.trust == 1.0
    assert weights.usual_election[0] > 0.7
    assert weights.usual_election[1] < 0.3
    with pytest.raises(BadInput, match="nothing to learn from"):
        train(
            Examples(
                np.empty((0, 5)),
                Examples.from_observations(rng.random((12, 5)), seen).targets.rows(np.array([], dtype=int)),
            )
        )


def test_the_same_lessons_teach_the_same() -> None:
    rng = np.random.default_rng(0)
    features = rng.random((30, 6))
    seen = [observed([1.0 if row[0] > 0.5 else 999.0, 999.0], LearnSettings(), n) for n, row in enumerate(features)]
    first, second = (
        train(Examples.from_observations(features, seen), replace(QUICK_TRAINING, epochs=20)) for _ in range(2)
    )
    for one, other in zip(first.parameters.arrays(), second.parameters.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)
