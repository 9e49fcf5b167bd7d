"""How many pictures a team must learn from, and what the choices of learning change, on stand-ins for models.

    python benchmarks/team_learning.py [--seeds N] [--json]
    python benchmarks/team_learning.py --swarm [--train N] [--json]
    python benchmarks/team_learning.py --paper-size

No model is asked: tests/support/experts.py holds stand-ins with regional expertise, tests/support/expert_pictures.py
draws pictures whose pixels tell the region. Features come from the bundled encoder. Without ``--swarm``, members
give their own answers in the rounds and nobody reviews; with it, the real stages run, and labels by own answers are
held against labels by reviewed ones.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import numpy as np  # noqa: E402

from expert_pictures import Drawn, draw_pictures  # noqa: E402
from experts import Known, StandInExpert, expert_team, identical_team  # noqa: E402
from geosleuth.atlas.placing import Placer  # noqa: E402
from geosleuth.geo import distance_km  # noqa: E402
from geosleuth.lab.teams.learning import (  # noqa: E402
    Examples,
    Heard,
    LearnSettings,
    Observation,
    RememberingMember,
    learn_picture,
    swarm_stages,
    train,
)
from geosleuth.lab.teams.learning.links import Links  # noqa: E402
from geosleuth.lab.teams.learning.rounds import PAPER_TRAINING  # noqa: E402
from geosleuth.lab.teams.learning.training import Targets  # noqa: E402
from geosleuth.photo import first_view  # noqa: E402
from geosleuth.photo.image_encoder import Features, load_encoder  # noqa: E402
from geosleuth.teams import Member, Request  # noqa: E402
from geosleuth.teams.network import predict_trust  # noqa: E402
from no_atlas import NoAtlas  # noqa: E402

SIZES = (30, 60, 120, 240)
TEST = 120
PICTURE_PX = (256, 192)


def own_answers(team: Sequence[Member], pictures: Sequence[Drawn]) -> list[list[float]]:
    """How far off each member's own answer is, in km; infinite where it names no point."""

    async def ask(shown: Drawn) -> list[float]:
        points = [(await member.reply(Request((shown.photo,)))).answer.point for member in team]
        return [float("inf") if point is None else distance_km(point, shown.town.point) for point in points]

    async def ask_all() -> list[list[float]]:
        return [await ask(shown) for shown in pictures]

    return asyncio.run(ask_all())


def observed_alone(km: Sequence[float], settings: LearnSettings, number: int) -> Observation:
    """The rounds about one picture without reviews."""

    async def stages(drawn: Sequence[int], links: Links, rng: random.Random) -> Heard:
        del links, rng
        return Heard({i: km[i] for i in drawn})

    return asyncio.run(learn_picture(len(km), stages, settings, random.Random(number)))


async def observed_in_a_swarm(
    team: Sequence[Member], shown: Drawn, settings: LearnSettings, number: int
) -> Observation:
    """The rounds about one picture with the real stages."""
    asked = [RememberingMember(member) for member in team]
    stages = swarm_stages(asked, Request((shown.photo,)), shown.truth, placer=Placer(NoAtlas()), settings=settings)
    try:
        return await learn_picture(len(team), stages, settings, random.Random(number))
    finally:
        for member in asked:
            await member.aclose()


def held_out(
    team: Sequence[Member], features: Features, seen: Sequence[Observation], tested: Sequence[Drawn],
    tested_features: Features, tested_km: Sequence[Sequence[float]], seed: int,
) -> dict[str, float]:  # fmt: skip
    """How the learned election does on pictures it never saw, beside one that does not look at the picture."""
    from geosleuth.lab.teams.learning import QUICK_TRAINING

    weights = train(Examples.from_observations(features, seen), replace(QUICK_TRAINING, seed=seed))
    elected = predict_trust(weights, tested_features)[0].argmax(axis=1)
    right = np.array(tested_km) <= 50.0
    blind = int(np.mean([one.labels for one in seen], axis=0).argmax())
    homes = [member.homes for member in team if isinstance(member, StandInExpert)]
    rows = np.arange(len(tested))
    return {
        "expert": float(np.mean([one.region.name in homes[i] for one, i in zip(tested, elected, strict=True)])),
        "right": float(right[rows, elected].mean()),
        "blind": float(right[:, blind].mean()),
        "best": float(right.any(axis=1).mean()),
        "trust": weights.trust,
        "trust_links": weights.trust_links,
    }


def looked_at(count: int, seed: int) -> tuple[list[Drawn], Features]:
    """Pictures, and what the image encoder sees in them."""
    pictures = draw_pictures(count, seed, size=PICTURE_PX)
    return pictures, load_encoder().features([first_view(one.photo.photo).image for one in pictures])


def by_size(seeds: int) -> list[dict[str, Any]]:
    """Both teams, learning from more and more pictures; means over seeds."""
    pictures, features = looked_at(max(SIZES), 1)
    tested, tested_features = looked_at(TEST, 2)
    known = Known([*pictures, *tested])
    found = []
    for kind, make in (("experts", expert_team), ("identical", identical_team)):
        per_seed = []
        for seed in range(seeds):
            team = make(known, seed=seed)
            km, tested_km = own_answers(team, pictures), own_answers(team, tested)
            seen = [observed_alone(row, LearnSettings(), number) for number, row in enumerate(km)]
            per_seed.append(
                [held_out(team, features[:size], seen[:size], tested, tested_features, tested_km, seed)
                 for size in SIZES]
            )  # fmt: skip
        for place, size in enumerate(SIZES):
            rows = [one[place] for one in per_seed]
            found.append({"team": kind, "learned from": size, **_means(rows)})
    return found


def by_choice(count: int) -> list[dict[str, Any]]:
    """The real stages, with labels of every kind."""
    pictures, features = looked_at(count, 1)
    tested, tested_features = looked_at(TEST, 2)
    team = expert_team(Known([*pictures, *tested]))
    tested_km = own_answers(team, tested)
    found = []
    for settings in (
        LearnSettings(),
        LearnSettings(labels="mean"),
        LearnSettings(labels="last"),
        LearnSettings(judged="reviewed"),
        LearnSettings(link_rule="printed"),
        LearnSettings(link_rule="released"),
        LearnSettings(judged="reviewed", labels="last", link_rule="printed"),
        LearnSettings(judged="reviewed", labels="last", link_rule="released"),
    ):

        async def observe(settings: LearnSettings = settings) -> list[Observation]:
            return [await observed_in_a_swarm(team, one, settings, n) for n, one in enumerate(pictures)]

        seen = asyncio.run(observe())
        row = held_out(team, features, seen, tested, tested_features, tested_km, 0)
        name = f"{settings.judged} answers, {settings.labels} labels, {settings.link_rule} rule"
        found.append({"labels": name, "learned from": count, **row})
    return found


def paper_size(count: int = 300, members: int = 6, width: int = 1280) -> dict[str, float]:
    """How long training at the paper's size takes, on made-up features of as many kinds as members."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, members, count)
    features = rng.standard_normal((members, width))[kind] + rng.standard_normal((count, width))
    labels = np.full((count, members), 0.2)
    labels[np.arange(count), kind] = 0.9
    links = np.broadcast_to((1 - np.eye(members)) / (members - 1), (count, members, members))
    targets = Targets(*(one.astype(np.float32) for one in (labels, 1 - labels, links)))
    begin = time.process_time()
    weights = train(Examples(features.astype(np.float32), targets), PAPER_TRAINING)
    seconds = time.process_time() - begin
    elected = predict_trust(weights, features)[0].argmax(axis=1)
    return {"pictures": count, "cpu_s": seconds, "elects_the_right_kind": float((elected == kind).mean())}


def _means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--swarm", action="store_true")
    parser.add_argument("--paper-size", action="store_true", help="how long the paper's network takes for 300 pictures")
    parser.add_argument("--train", type=int, default=90)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.paper_size:
        sys.stdout.write(f"{json.dumps(paper_size())}\n")
        return
    found = by_choice(given.train) if given.swarm else by_size(given.seeds)
    if given.json:
        sys.stdout.write(f"{json.dumps(found)}\n")
        return
    for row in found:
        words = [f"{value:>7.1%}" if isinstance(value, float) else f"{value!s:<9}" for value in row.values()]
        if row is found[0]:
            sys.stdout.write(" | ".join(row) + "\n")
        sys.stdout.write(" | ".join(words) + "\n")


if __name__ == "__main__":
    main()
