"""Sweeps: what is varied, that nothing is asked twice, how runs are held against truths."""

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from expert_pictures import Drawn, draw_pictures, save_pictures
from experts import Known, StandInExpert, Temper, expert_team
from geosleuth.answer import Address, Answer
from geosleuth.atlas.placing import Placer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets import open_set
from geosleuth.lab.score import Truth
from geosleuth.lab.teams.compare import (
    WAYS,
    Example,
    Measured,
    PartOfSociety,
    compare_pairs,
    error_km,
    measure,
    points,
    read_variation,
    read_ways,
    ready,
    records,
    sweep,
    too_large,
)
from geosleuth.lab.teams.replies import StoredMember, open_store
from geosleuth.support.errors import BadInput
from geosleuth.teams import Member, Reply, Request, StrangersSociety, TeamOutcome, TrustWeights, Turn
from geosleuth.teams.member import Stage
from geosleuth.teams.swarm import SwarmSettings
from members import ScriptedMember, place
from named_places import MALTA, NamedPlaces
from no_atlas import NoAtlas

FOUR = ["one", "two", "two", "two"]


@pytest.fixture(scope="module")
def pictures() -> list[Drawn]:
    return draw_pictures(6, seed=21)


@pytest.fixture(scope="module")
def examples(pictures: list[Drawn]) -> list[Example]:
    return [Example(picture.truth, picture.photo) for picture in pictures]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("answerers=1..3", (1, 2, 3)),
        ("rounds=0,1,10", (0, 1, 10)),
        (" Agents = 2..3,5", (2, 3, 5)),
        ("reviewers=0", (0,)),
    ],
)
def test_variations_are_read(words: str, values: tuple[int, ...]) -> None:
    assert read_variation(words).values == values


@pytest.mark.parametrize(
    "words", ["", "colour=1..3", "rounds", "rounds=a", "answerers=0..2", "rounds=5..1", "agents=1...3"]
)
def test_a_variation_that_makes_no_sense_says_how_it_is_written(words: str) -> None:
    with pytest.raises(BadInput, match="--vary"):
        read_variation(words)


def test_points_vary_one_setting_at_a_time_within_the_team_size() -> None:
    found = points([read_variation("answerers=1..8"), read_variation("reviewers=1..8")], SwarmSettings(), FOUR)
    assert [(one.setting, one.value) for one in found] == [
        *(("answerers", value) for value in (1, 2, 3, 4)), *(("reviewers", value) for value in (1, 2, 3)),
    ]  # fmt: skip
    assert found[0].settings == replace(SwarmSettings(), answerers=1)
    assert all(one.chosen == (0, 1, 2, 3) for one in found)


def test_a_grid_varies_answerers_and_reviewers_together() -> None:
    grid = read_variation("answerers=1..2*reviewers=0,3,4")
    found = points([grid], SwarmSettings(), FOUR)
    assert [(one.settings.answerers, one.settings.reviewers, one.value, one.line) for one in found] == [
        (1, 0, 1, "0 reviewers"), (1, 3, 1, "3 reviewers"), (2, 0, 2, "0 reviewers"), (2, 3, 2, "3 reviewers"),
    ]  # fmt: skip
    assert too_large([grid], 4) == {"grid, reviewers": (4,)}
    for words in ("answerers=1*rounds=2", "answerers=1*reviewers=1*reviewers=2", "answerers=1*answerers=2"):
        with pytest.raises(BadInput, match="a grid is answerers"):
            read_variation(words)


def test_every_way_of_working_can_have_more_and_more_agents() -> None:
    found = points([read_variation("agents=2..3")], SwarmSettings(), FOUR, ("swarm", "majority"))
    assert [(one.way, one.line, one.chosen) for one in found] == [
        ("swarm", "swarm", (0, 1)), ("majority", "majority", (0, 1)),
        ("swarm", "swarm", (0, 1, 2)), ("majority", "majority", (0, 1, 2)),
    ]  # fmt: skip


def turn(member: str, stage: Stage, seconds: float, **more: Any) -> Turn:
    return Turn(member, stage, Reply("x", seconds=seconds), **more)


def test_ways_are_tested_against_each_other_photo_by_photo() -> None:
    def way(right: Sequence[bool]) -> Measured:
        count = len(right)
        return Measured(tuple(1.0 if one else 900.0 for one in right), (1,) * count, (1,) * count, (1.0,) * count)

    first = way([True] * 8 + [False] * 2)
    found = compare_pairs(first, {"worse": way([False] * 8 + [False, True]), "same": first})
    assert (found["worse"].only_first, found["worse"].only_second) == (8, 1)
    assert found["worse"].difference.value == pytest.approx(0.7)
    assert found["worse"].difference.low > 0
    assert found["worse"].p == pytest.approx(2 * 10 / 2**9)
    assert found["worse"].p_adjusted == pytest.approx(2 * found["worse"].p)
    assert (found["same"].p, found["same"].difference.value) == (1.0, 0.0)
    with pytest.raises(ValueError, match="shorter"):
        compare_pairs(first, {"other": way([True])})


def test_personas_stand_against_backbones() -> None:
    found = points([read_variation("personas-against-backbones")], SwarmSettings(), FOUR)
    assert [one.chosen for one in found if one.line == "backbones"] == [(0,), (0, 1)]
    assert [one.chosen for one in found if one.line == "personas"] == [(1,), (1, 2), (1, 2, 3)]
    with pytest.raises(BadInput, match="two models"):
        points([read_variation("personas-against-backbones")], SwarmSettings(), ["one", "one"])


def test_ways_are_read_and_unknown_ones_refused() -> None:
    assert read_ways("all") == WAYS
    assert read_ways(" Swarm, debate,swarm") == ("swarm", "debate")
    for words in ("", "swarm,prayer"):
        with pytest.raises(BadInput, match="swarm, strangers, single"):
            read_ways(words)


def test_part_of_a_society_keeps_who_trusts_whom(pictures: list[Drawn]) -> None:
    class Three:
        def trust_weights(self, photos: object) -> TrustWeights:
            del photos
            return TrustWeights((0.1, 0.2, 0.3), ((0.0, 1.0, 2.0), (3.0, 0.0, 4.0), (5.0, 6.0, 0.0)))

    part = PartOfSociety(Three(), (2, 0)).trust_weights([pictures[0].photo])
    assert part == TrustWeights((0.3, 0.1), ((0.0, 5.0), (2.0, 0.0)))


def test_nothing_is_asked_twice_even_by_a_later_run(tmp_path: Path, pictures: list[Drawn]) -> None:
    request = Request((pictures[0].photo,), seed=4)
    again = Request((Drawn(pictures[0].photo, pictures[0].region, pictures[0].town).photo,), seed=4)
    first = ScriptedMember("a", [place(1.0, 2.0, country="Ghana")])
    with open_store(tmp_path / "replies.sqlite") as store:
        member = StoredMember(first, store)

        async def twice() -> list[Reply]:
            return list(await asyncio.gather(member.reply(request), member.reply(again)))

        said = asyncio.run(twice())
    assert (member.asked, len(first.asked)) == (1, 1)
    later = ScriptedMember("a", [place(50.0, 50.0)])
    with open_store(tmp_path / "replies.sqlite") as store:
        kept = asyncio.run(StoredMember(later, store).reply(request))
    assert later.asked == []
    assert said[0] == said[1] == kept
    assert kept.answer == place(1.0, 2.0, country="Ghana").answer
    assert kept.tokens > 0


@pytest.mark.parametrize("changed", [{"seed": 5}, {"words": "why?"}, {"stage": "review"}, {"hint": "warm"}])
def test_another_request_is_asked_anew(tmp_path: Path, pictures: list[Drawn], changed: dict[str, object]) -> None:
    request = Request((pictures[0].photo,), seed=4)
    member = ScriptedMember("a", then=place(1.0, 2.0))
    with open_store(tmp_path / "replies.sqlite") as store:
        stored = StoredMember(member, store)
        asyncio.run(stored.reply(request))
        asyncio.run(stored.reply(replace(request, **changed)))  # type: ignore[arg-type]
        asyncio.run(stored.reply(replace(request, photos=(pictures[1].photo,))))
        asyncio.run(StoredMember(member, store, "another model").reply(request))
    assert len(member.asked) == 4


def test_a_reply_that_was_not_waited_for_is_not_kept(tmp_path: Path, pictures: list[Drawn]) -> None:
    member = ScriptedMember("a", then=place(1.0, 2.0), seconds=0.2)
    request = Request((pictures[0].photo,))

    async def hurry(stored: StoredMember) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await stored.reply(request)

    with open_store(tmp_path / "replies.sqlite") as store:
        asyncio.run(hurry(StoredMember(member, store)))
        assert store.get(store.key("a", request)) is None
        assert asyncio.run(StoredMember(member, store).reply(request)).names_place
        assert store.get(store.key("a", request)) is not None


def test_another_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("nothing of the kind" * 100, encoding="utf-8")
    with pytest.raises(BadInput, match="not a memory of replies"), open_store(tmp_path / "text"):
        pass
    with sqlite3.connect(tmp_path / "other.sqlite") as conn:
        conn.execute("CREATE TABLE other (x)")
    conn.close()
    with pytest.raises(BadInput, match="not a memory of replies"), open_store(tmp_path / "other.sqlite"):
        pass


def test_answers_in_words_count_with_the_middle_of_their_place() -> None:
    placer = NamedPlaces({"Malta": MALTA})
    truth = Truth(LatLon(35.9, 14.4))
    assert asyncio.run(error_km(Answer(address=Address.create(country="Malta")), truth, placer)) == pytest.approx(
        0, abs=1
    )
    assert isnan(asyncio.run(error_km(Answer(address=Address.create(country="Atlantis")), truth, placer)))


def test_measuring_counts_right_answers_tokens_and_calls(examples: list[Example], pictures: list[Drawn]) -> None:
    right = pictures[0].town.point
    member = ScriptedMember("a", then=place(right.lat, right.lon))
    ask = ready("single", [member], placer=Placer(NoAtlas()))
    steps: list[tuple[int, int]] = []
    found = asyncio.run(
        measure(ask, examples, placer=Placer(NoAtlas()), at_once=3, progress=lambda *step: steps.append(step))
    )
    assert found.right == tuple(picture.town == pictures[0].town for picture in pictures)
    assert found.calls_per_query == 1
    assert found.tokens_per_query == place(right.lat, right.lon).tokens
    assert steps[-1] == (6, 6)


def test_truths_never_reach_a_member(examples: list[Example], pictures: list[Drawn], tmp_path: Path) -> None:
    table = save_pictures(pictures, tmp_path)
    from_files = [Example(item.truth, item.picture) for item in open_set(str(table))]
    seen: list[Request] = []

    async def listen(request: Request) -> TeamOutcome:
        seen.append(request)
        return TeamOutcome(Answer(), "")

    asyncio.run(measure(listen, from_files, placer=Placer(NoAtlas())))
    assert [one.truth.point for one in from_files] == [one.truth.point for one in examples]
    assert all(request.photos[0].claims.point is None for request in seen)
    assert not any(str(one.truth.point.lat) in repr(request) for one, request in zip(from_files, seen, strict=True))


def test_the_record_finds_the_member_that_knows(examples: list[Example], pictures: list[Drawn]) -> None:
    known = Known(pictures)
    team: list[Member] = [
        StandInExpert("knows", known, temper=Temper(abroad=1.0, wobbles=0.0)),
        StandInExpert("does not", known, temper=Temper(abroad=0.0, at_home=0.0)),
    ]
    assert asyncio.run(records(team, examples, placer=Placer(NoAtlas()), seed=0)) == [1.0, 0.0]


def test_a_sweep_runs_every_point_over_every_picture(examples: list[Example], pictures: list[Drawn]) -> None:
    team = expert_team(Known(pictures), count=3)
    runs = points(
        [read_variation("answerers=1..2"), read_variation("agents=2..3")],
        SwarmSettings(reviewers=1, rounds=1),
        ["a"] * 3,
    )
    swept = asyncio.run(sweep(runs, team, examples, society=StrangersSociety(3), placer=Placer(NoAtlas()), at_once=2))
    assert [point for point, _ in swept] == runs
    one, two = swept[0][1], swept[1][1]
    assert len(one.right) == 6
    assert one.calls_per_query == 3
    assert two.tokens_per_query > 1.8 * one.tokens_per_query
