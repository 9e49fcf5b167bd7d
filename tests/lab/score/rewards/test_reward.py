"""Rewards put together by weight, from mappings and files, with their range known and missing answers at 0."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.answer import Address, Answer, Level
from geosleuth.geo import LatLon
from geosleuth.lab.score import AnswerNames, Truth
from geosleuth.lab.score.rewards import PRESETS, Helpers, Reasoning, Reward, Weighted, read_reward
from geosleuth.support.errors import BadInput

ULM = Truth(LatLon(48.3984, 9.9916), "Germany", "Baden-Württemberg", "Ulm")
KM_A_DEGREE = 6371.0 * math.pi / 180


class Parrot:
    """A stand-in for a judge that always says the same."""

    def __init__(self, said: AnswerNames) -> None:
        self.said = said

    def derive(self, reasonings: Sequence[Reasoning]) -> list[AnswerNames]:
        return [self.said for _ in reasonings]


class OneHot:
    """An encoder to which different texts have nothing in common."""

    name = "one-hot"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.eye(len(texts))


def answer(km_north: float | None, *names: str | None) -> Answer:
    point = None if km_north is None else LatLon(ULM.point.lat + km_north / KM_A_DEGREE, ULM.point.lon)
    levels = [Level(name, ("a clue",), "some reasoning " * 20) for name in names]
    return Answer(point, Address(*levels))


def test_geoagent_is_its_weighted_sum() -> None:
    reward = PRESETS["geoagent"]
    helpers = Helpers(
        geocoder={"Ulm, Bavaria, Germany": Truth(LatLon(ULM.point.lat + 200 / KM_A_DEGREE, ULM.point.lon))}.get,
        judge=Parrot(AnswerNames("Germany", "Bavaria", "Ulm")),
        encoder=OneHot(),
    )
    earned = reward.score([answer(0, "Germany", "Bavaria", "Ulm")], [ULM], helpers)
    assert earned.parts["spatial"].tolist() == pytest.approx([math.exp(-1)], rel=1e-9)  # the text counts, not the point
    assert earned.parts["semantic"].tolist() == pytest.approx([0.1], abs=1e-15)  # a wrong region gates the town
    assert earned.parts["consistency"].tolist() == [1.0]  # over 200 characters at every level
    assert earned.total.tolist() == pytest.approx([1.5 * math.exp(-1) + 0.1 + 0.5], rel=1e-9)


def test_geoagent_refuses_to_work_without_an_encoder() -> None:
    helpers = Helpers(geocoder=lambda _: ULM, judge=Parrot(AnswerNames()))
    with pytest.raises(BadInput, match=r"rollout\.encoder: FOLDER"):
        PRESETS["geoagent"].score([answer(0, "Germany")], [ULM], helpers)
    tables = Reward.from_dict({"parts": {"semantic": 1}})
    assert tables.score([answer(0, "Deutschland")], [ULM]).total.tolist() == pytest.approx([0.1])


@pytest.mark.parametrize(("chars", "share"), [(89, 0.0), (90, 1 / (1 + math.exp(4))), (145, 0.5), (201, 1.0)])
def test_the_released_length_rule_counts_characters_of_the_reasoning(chars: int, share: float) -> None:
    part = Reward((Weighted("consistency", 1.0, PRESETS["geoagent"].parts[2].part),))
    reply = Answer(address=Address(precise=Level("Ulm", ("clues don't count " * 20,), "x" * chars)))
    helpers = Helpers(judge=Parrot(AnswerNames(precise="Ulm")))
    assert part.score([reply], [ULM], helpers).total.tolist() == pytest.approx([0.3 * share])


def test_the_papers_ablations_have_its_parts_at_its_weights() -> None:
    whole = {one.name: one for one in PRESETS["geoagent"].parts}
    parts = {name: {one.name for one in PRESETS[f"geoagent-{name}"].parts} for name in
             ("spatial", "semantic", "consistency", "similarity", "judge", "judge-consistency")}  # fmt: skip
    assert parts == {
        "spatial": {"spatial"}, "semantic": {"semantic"}, "consistency": {"consistency"},
        "similarity": {"spatial", "semantic"}, "judge": {"text_equality"},
        "judge-consistency": {"text_equality", "consistency"},
    }  # fmt: skip
    for name in parts:
        assert all(one == whole[one.name] for one in PRESETS[f"geoagent-{name}"].parts if one.name in whole)


@pytest.mark.parametrize(
    ("name", "replies", "expected"),
    [
        ("spotagent", [answer(0.9), answer(13), answer(112.5), answer(200.1), answer(None)], [1, 0.875, 0.475, 0, 0]),
        ("twm", [answer(0.4), answer(1.9), answer(24), answer(749), answer(751)], [1, 0.8, 0.4, 0.1, 0]),
        (
            "geovista",
            [answer(None, "Germany", "Bavaria", "Munich"), answer(None, "Germany", "BW", "Ulm"), answer(0)],
            [1, 1, 0],
        ),
        ("geovista", [answer(None, "Deutschland", "Baden-Wuerttemberg", "Ulm"), answer(0, "France")], [4, 0]),
        ("geovista-city", [answer(None, "Germany", None, "Ulm"), answer(0, "Germany")], [1, 0]),
        ("geoagent-judge", [answer(0, "Germany", "Baden-Württemberg", "Ulm"), answer(0, "Deutschland")], [1, 0]),
        ("ours", [answer(0, "Germany", "Baden-Württemberg", "Ulm"), answer(None)], [1, 0]),
    ],
)
def test_presets_pay_what_their_papers_say(name: str, replies: list[Answer], expected: list[float]) -> None:
    earned = PRESETS[name].score(replies, [ULM] * len(replies))
    assert earned.total.tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", PRESETS)
def test_an_empty_answer_earns_nothing_anywhere(name: str) -> None:
    helpers = Helpers(geocoder=lambda _: None, judge=Parrot(AnswerNames()), encoder=OneHot())
    bare = Truth(ULM.point)
    assert PRESETS[name].score([Answer(), Answer()], [ULM, bare], helpers, ["a", "b"]).total.tolist() == [0.0, 0.0]
    assert PRESETS[name].score([], [], helpers).total.shape == (0,)


@given(
    names=st.lists(
        st.tuples(*(st.sampled_from([None, "", "Germany", "Ulm", "Köln", "?"]) for _ in range(3))),
        min_size=1,
        max_size=4,
    ),
    km=st.one_of(st.none(), st.floats(-2000, 2000)),
    which=st.sampled_from(sorted(PRESETS)),
)
def test_rewards_keep_their_range(names: list[tuple[str | None, ...]], km: float | None, which: str) -> None:
    reward = PRESETS[which]
    helpers = Helpers(
        geocoder=lambda words: ULM if len(words) > 5 else None,
        judge=Parrot(AnswerNames("Germany", "Ulm")),
        encoder=OneHot(),
    )
    earned = reward.score([answer(km, *three) for three in names], [ULM] * len(names), helpers)
    assert np.all((earned.total >= reward.least) & (earned.total <= reward.most))


def test_a_point_may_come_from_the_text() -> None:
    asked: list[str] = []

    def geocoder(words: str) -> Truth:
        asked.append(words)
        return ULM

    replies = [answer(13, "Germany", None, "Ulm"), answer(None, "Germany", None, "Ulm"), answer(None)]
    for point, expected in {"answer": [0.875, 0, 0], "either": [0.875, 1, 0], "text": [1, 1, 0]}.items():
        reward = Reward.from_dict({"parts": {"linear": 1}, "point": point})
        assert reward.score(replies, [ULM] * 3, Helpers(geocoder=geocoder)).total.tolist() == pytest.approx(expected)
    assert asked == ["Ulm, Germany"] * 2, "each address is looked up once a batch, and only where it is needed"


def test_groups_are_what_lengths_are_measured_in() -> None:
    long, short = Level("Ulm", (), "x" * 90), Level("Ulm", (), "x" * 10)
    replies = [Answer(address=Address(precise=level)) for level in (long, short, short, short)]
    reward = Reward.from_dict({"parts": {"consistency": 1}})
    helpers = Helpers(judge=Parrot(AnswerNames(precise="Ulm")))
    full, cut = 0.3 / (1 + math.exp(-8)), 0.3 / (1 + math.exp(2))
    apart = reward.score(replies, [ULM] * 4, helpers, ["a", "a", "b", "b"]).total
    assert apart.tolist() == pytest.approx([full, cut, full, full])
    assert reward.score(replies, [ULM] * 4, helpers).total.tolist() == pytest.approx([full, cut, cut, cut])


@pytest.mark.parametrize("name", PRESETS)
def test_mappings_come_back_the_same_through_yaml(name: str, tmp_path: Path) -> None:
    path = tmp_path / "reward.yaml"
    path.write_text(yaml.safe_dump(PRESETS[name].to_dict(), sort_keys=False), encoding="utf-8")
    assert read_reward(str(path)) == PRESETS[name] == read_reward(name)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "a reward is a mapping"),
        ({}, "needs parts"),
        ({"parts": {"spacial": 1}}, "unknown reward 'spacial'; choose from spatial, semantic"),
        ({"parts": {"spatial": "much"}}, "the weight of spatial must be a number, not 'much'"),
        ({"parts": {"spatial": math.nan}}, "finite"),
        ({"parts": {"spatial": {"tau": 3}}}, "spatial has no setting 'tau'; it has tau_km, weight"),
        ({"parts": {"spatial": {"tau_km": "3"}}}, "tau_km of spatial can't be '3'; by default it is 200.0"),
        ({"parts": {"spatial": {"tau_km": -3}}}, "spatial: tau must be a positive length"),
        ({"parts": {"hierarchical": {"beta": 1}}}, "hierarchical: beta must be above 1"),
        ({"parts": {"semantic": {"alpha": [1, 1, 1]}}}, "semantic: weights must be three numbers"),
        ({"parts": {"semantic": {"gated": "no"}}}, "gated of semantic can't be 'no'"),
        ({"parts": {"consistency": {"against": "me"}}}, "against must be one of own, truth"),
        ({"parts": {"consistency": {"steepness": -1}}}, "steepness must be 0 or more"),
        ({"parts": {"linear": {"knots": [[1, 1], [1, 1]]}}}, "linear: km must rise"),
        ({"parts": {"spatial": 1}, "point": "map"}, "point must be one of answer, text, either"),
        ({"parts": {"spatial": 1}, "wieght": 3}, "a reward has no setting 'wieght'"),
    ],
)
def test_a_bad_mapping_is_told_in_one_line(data: Any, told: str) -> None:
    with pytest.raises(BadInput) as failure:
        Reward.from_dict(data)
    assert told in str(failure.value)
    assert "\n" not in str(failure.value)


def test_files_that_are_no_rewards(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("parts: [", encoding="utf-8")
    with pytest.raises(BadInput, match=r"broken\.yaml, line 1: is not YAML"):
        read_reward(str(broken))
    laughs = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    broken.write_text(f"{laughs}parts: *a39\n", encoding="utf-8")
    with pytest.raises(BadInput, match="anchors and aliases"):
        read_reward(str(broken))
    broken.write_text("parts: {spatial: 2026-02-31}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"broken\.yaml: is not YAML"):
        read_reward(str(broken))
    broken.write_text("#" * 300_000, encoding="utf-8")
    with pytest.raises(BadInput, match="larger than 256 KiB"):
        read_reward(str(broken))
    broken.write_text("parts: {spacial: 1}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"broken\.yaml: unknown reward 'spacial'"):
        read_reward(str(broken))
    with pytest.raises(BadInput, match="unknown reward 'nothing' and no such file; use one of geoagent"):
        read_reward("nothing")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"parts": {"consistency": 1}}, "needs a judge"),
        ({"parts": {"spatial": 1}, "point": "text"}, "need a geocoder"),
        ({"parts": {"semantic": {"aliases": False}}}, "needs a sentence encoder"),
    ],
)
def test_a_helper_that_is_missing_is_named(data: dict[str, Any], told: str) -> None:
    reward = Reward.from_dict(data)
    with pytest.raises(BadInput, match=told):
        reward.score([answer(0)], [ULM])
    assert (reward.needs_judge, reward.needs_geocoder) == ("judge" in told, "geocoder" in told)
