"""Whether a swarm that learns whom to trust beats its rivals, on stand-ins for models with regional expertise.

    python benchmarks/team.py [--train N] [--test N] [--seed N] [--seeds N] [--json] [--check]
    python benchmarks/team.py --strength [--json]
    python benchmarks/team.py --sweep [--json]
    python benchmarks/team.py --page FILE

No model is asked. tests/support/experts.py holds stand-ins whose behaviour is a handful of stated probabilities, and
tests/support/expert_pictures.py draws pictures whose pixels tell the region. The team learns from some pictures with
the real rounds, the real network and the bundled encoder, and is tested on others. What the stand-ins assume is in
docs/background/teams.md; `--strength` shows how the ranking changes as expertise fades, `--sweep` the grid of answerers
and reviewers, every way over the number of agents and paired tests, and `--page` writes all sweeps as one page.
`--seeds 3` repeats all of it with other pictures, teams and lessons, and pools the pictures. Two sizes of the
swarm are named in advance: the paper's (K = 2, R = 2, Z = 10) and a small one (K = 1, R = 1, Z = 0); against every
rival each has a difference over the same pictures, with its 95 % interval. `--check` exits with 1 where a promise is
broken, over all seeds together:

- the learned network elects an expert of the picture's region for at least 90 % of the held-out pictures,
- and at least 10 points more often than an election that does not look at the picture,
- the swarm of the paper's size is right at least as often as every rival, and costs fewer tokens than LLM-Blender,
  LLM Debate and DyLAN,
- the small swarm is right more often than single, majority, self-consistency, PHP and Reflexion, at fewer tokens than
  majority and self-consistency,
- with identical agents the learned swarm is neither better nor worse than one of strangers: the 95 % interval of the
  paired difference holds 0.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import numpy as np  # noqa: E402

from expert_learning import CachedEncoder, elected, taught  # noqa: E402
from expert_pictures import REGIONS, Drawn, draw_pictures  # noqa: E402
from experts import Known, StandInExpert, Temper, expert_team, identical_team  # noqa: E402
from geosleuth.atlas.placing import Placer  # noqa: E402
from geosleuth.lab.score.metrics import mean_estimate  # noqa: E402
from geosleuth.lab.teams.compare import (  # noqa: E402
    STRANGERS,
    SWARM,
    WAY,
    WAYS,
    Example,
    Measured,
    Point,
    RememberedSociety,
    compare_pairs,
    measure,
    points,
    read_variation,
    ready,
    records,
    sweep,
)
from geosleuth.lab.teams.rivals import RIVALS  # noqa: E402
from geosleuth.lab.teams.team_page import Curves, comparison_page  # noqa: E402
from geosleuth.support.files import write_text_atomically  # noqa: E402
from geosleuth.teams import Member, Society, StrangersSociety  # noqa: E402
from geosleuth.teams.swarm import SwarmSettings  # noqa: E402
from no_atlas import NoAtlas  # noqa: E402

SIZES: Mapping[str, SwarmSettings] = {
    "swarm K=1 R=0 Z=0": SwarmSettings(1, 0, 0),
    "swarm K=1 R=1 Z=0": SwarmSettings(1, 1, 0),
    "swarm K=2 R=0 Z=3": SwarmSettings(2, 0, 3),
    "swarm": SwarmSettings(),
}
"""Sizes of the swarm, the paper's last: K answer agents, R reviewers each, Z rounds of discussion."""

PAPER, SMALL = "swarm", "swarm K=1 R=1 Z=0"
"""The sizes that promises are about, named in advance."""
DEARER = ("blender", "debate", "dylan")
WEAKER = ("single", "majority", "self-consistency", "php", "reflexion")
DEARER_THAN_SMALL = ("majority", "self-consistency")

STRENGTHS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.92)
PLACER = Placer(NoAtlas())


class Trial:
    """One team over one set of pictures."""

    def __init__(
        self, team: Sequence[Member], train: Sequence[Drawn], test: Sequence[Drawn], encoder: CachedEncoder, seed: int
    ) -> None:
        self.team, self._train, self._test, self._seed = team, train, test, seed
        self.learned = taught(team, train, encoder)
        self.society: Society = RememberedSociety(self.learned)
        self.known = [Example(one.truth, one.photo) for one in train]
        self.asked = [Example(one.truth, one.photo) for one in test]
        self.records = asyncio.run(records(team, self.known, placer=PLACER, seed=seed))
        self.lead = int(np.argmax(self.records))

    def run(self, way: str, settings: SwarmSettings | None = None) -> Measured:
        """A way of working over the held-out pictures."""
        ask = ready(
            way, self.team, placer=PLACER, society=self.society, settings=settings, lead=self.lead, seed=self._seed
        )
        return asyncio.run(measure(ask, self.asked, placer=PLACER, seed=self._seed))

    def elections(self) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Whether an expert of the region is elected: by the network, and by record, blind to the picture."""
        experts = [member for member in self.team if isinstance(member, StandInExpert)]
        seen = [one.region.name in experts[elected(self.learned, one.photo)].homes for one in self._test]
        blind = [one.region.name in experts[self.lead].homes for one in self._test]
        return tuple(seen), tuple(blind)


def main() -> int:
    """Measure, print, and say by the exit code whether the promises were kept where that was asked."""
    parser = argparse.ArgumentParser(description="A swarm that learns whom to trust beside its rivals, on stand-ins.")
    parser.add_argument("--train", type=int, default=90, help="pictures to learn from")
    parser.add_argument("--test", type=int, default=120, help="held-out pictures")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, one after the other; pictures are pooled")
    parser.add_argument("--strength", action="store_true", help="how the ranking changes as expertise fades")
    parser.add_argument("--sweep", action="store_true", help="K x R, every way over the number of agents, paired tests")
    parser.add_argument("--page", type=Path, metavar="FILE", help="all sweeps as one page of plots")
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promise is broken")
    options = parser.parse_args()
    begin = time.perf_counter()
    train, test = pictures(options.train, options.test, options.seed)
    encoder = CachedEncoder()
    result: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "train": options.train,
        "test": options.test,
        "seed": options.seed,
        "seeds": options.seeds,
    }
    if options.strength:
        result["strength"] = {
            f"{abroad:g}": {name: one.figures() for name, one in found.items()}
            for abroad, found in by_strength(train, test, encoder, options.seed).items()
        }
    elif options.sweep:
        result["sweep"] = swept_ways(train, test, encoder, options.seed)
    elif options.page is not None:
        write_page(options.page, train, test, encoder, options.seed)
        result["page"] = str(options.page)
    else:
        runs = []
        for seed in range(options.seed, options.seed + options.seeds):
            runs.append(learning(*pictures(options.train, options.test, seed), encoder, seed))
            print(f"seed {seed}: done after {time.perf_counter() - begin:.0f} s", file=sys.stderr)
        result["by_seed"] = {str(options.seed + at): _document(run) for at, run in enumerate(runs)}
        result |= judged(pooled(runs))
    result["seconds"] = time.perf_counter() - begin
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    broken = [promise for promise, kept in result.get("promises", {}).items() if not kept]
    return 1 if options.check and broken else 0


def pictures(train: int, test: int, seed: int) -> tuple[list[Drawn], list[Drawn]]:
    """Pictures to learn from, and others."""
    return list(draw_pictures(train, 1000 + 2 * seed)), list(draw_pictures(test, 1001 + 2 * seed))


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one seed, or of several together.

    Attributes:
        elected, blind: picture by picture whether an expert was elected: by the network, and by record.
        ways: rivals and swarms over the held-out pictures.
        alike: the same of identical agents, with what they learned and without.
    """

    elected: tuple[bool, ...]
    blind: tuple[bool, ...]
    ways: Mapping[str, Measured]
    alike: Mapping[str, Measured]


def learning(train: Sequence[Drawn], test: Sequence[Drawn], encoder: CachedEncoder, seed: int) -> Run:
    """The row "learning": election, rivals, identical agents."""
    known = Known([*train, *test])
    trial = Trial(expert_team(known, seed=seed), train, test, encoder, seed)
    elected_right, blind = trial.elections()
    ways = {name: trial.run(name) for name in RIVALS}
    ways |= {"swarm of strangers": trial.run(STRANGERS)}
    ways |= {name: trial.run(SWARM, settings) for name, settings in SIZES.items()}
    same = Trial(identical_team(known, seed=seed), train[: len(train) // 2], test, encoder, seed)
    return Run(elected_right, blind, ways, {way: same.run(way) for way in (SWARM, STRANGERS)})


def pooled(runs: Sequence[Run]) -> Run:
    """Several seeds as one, picture after picture."""
    return Run(
        tuple(one for run in runs for one in run.elected),
        tuple(one for run in runs for one in run.blind),
        {name: _pooled([run.ways[name] for run in runs]) for name in runs[0].ways},
        {name: _pooled([run.alike[name] for run in runs]) for name in runs[0].alike},
    )


def _pooled(several: Sequence[Measured]) -> Measured:
    return Measured(
        tuple(value for one in several for value in one.distances_km),
        tuple(value for one in several for value in one.tokens),
        tuple(value for one in several for value in one.calls),
        tuple(value for one in several for value in one.seconds),
        within_km=several[0].within_km,
        elapsed=tuple(value for one in several for value in one.elapsed),
    )


def judged(run: Run) -> dict[str, Any]:
    """The figures of a run, the differences to every rival, and which promises it keeps."""
    right, blind = float(np.mean(run.elected)), float(np.mean(run.blind))
    gains = {size: {name: _difference(run.ways[size], run.ways[name]) for name in RIVALS} for size in (PAPER, SMALL)}
    alike = _difference(run.alike[SWARM], run.alike[STRANGERS])
    tokens = {name: one.tokens_per_query for name, one in run.ways.items()}
    return {
        **_document(run),
        "more_right_than": gains,
        "identical_difference": alike,
        "promises": {
            "elects the right expert >= 90 %": right >= 0.9,
            "elects it >= 10 points more often than blind": right - blind >= 0.1,
            "paper's size: at least as right as every rival": all(gain[0] >= 0 for gain in gains[PAPER].values()),
            f"paper's size: fewer tokens than {', '.join(DEARER)}": all(tokens[PAPER] < tokens[one] for one in DEARER),
            f"small: more right than {', '.join(WEAKER)}": all(gains[SMALL][one][0] > 0 for one in WEAKER),
            f"small: fewer tokens than {', '.join(DEARER_THAN_SMALL)}": all(
                tokens[SMALL] < tokens[one] for one in DEARER_THAN_SMALL
            ),
            "identical agents: no difference": alike[1] <= 0.0 <= alike[2],
        },
    }


def _document(run: Run) -> dict[str, Any]:
    return {
        "elected_right": float(np.mean(run.elected)),
        "elected_right_blind": float(np.mean(run.blind)),
        "ways": {name: one.figures() for name, one in run.ways.items()},
        "identical": {name: one.accuracy.value for name, one in run.alike.items()},
    }


def _difference(one: Measured, other: Measured) -> list[float]:
    """How much more often the first is right over the same pictures, with the 95 % interval."""
    moved = np.array(one.right, dtype=np.float64) - np.array(other.right, dtype=np.float64)
    estimate = mean_estimate(moved, lowest=-1.0, highest=1.0)
    return [estimate.value, estimate.low, estimate.high]


def by_strength(
    train: Sequence[Drawn], test: Sequence[Drawn], encoder: CachedEncoder, seed: int
) -> dict[float, dict[str, Measured]]:
    """The main ways as members know more and more of the pictures that are not from their home."""
    known = Known([*train, *test])
    found: dict[float, dict[str, Measured]] = {}
    for abroad in STRENGTHS:
        trial = Trial(
            expert_team(known, temper=replace(Temper(), abroad=abroad), seed=seed), train, test, encoder, seed
        )
        found[abroad] = {name: trial.run(name) for name in (SWARM, STRANGERS, "single", "majority", "debate", "dylan")}
        print(f"abroad {abroad}: done", file=sys.stderr)
    return found


def swept_ways(train: Sequence[Drawn], test: Sequence[Drawn], encoder: CachedEncoder, seed: int) -> dict[str, Any]:
    """K x R of the swarm, every way over the number of agents, and the swarm tested against every other way."""
    trial = Trial(expert_team(Known([*train, *test]), seed=seed), train, test, encoder, seed)
    told = ("answerers=1..4*reviewers=0..3", "agents=2..6")
    names = [one.name for one in trial.team]
    runs = points([read_variation(words) for words in told], SwarmSettings(), names, WAYS)
    runs = [replace(point, leader=trial.lead) for point in runs]
    swept = asyncio.run(sweep(runs, trial.team, trial.asked, society=trial.society, placer=PLACER, seed=seed))
    whole = {point.way: one for point, one in swept if point.setting == "agents" and point.value == len(names)}
    tests = compare_pairs(whole[SWARM], {way: one for way, one in whole.items() if way != SWARM})
    rows = [
        {"setting": point.setting, "value": point.value, "line": point.line, **one.figures()} for point, one in swept
    ]
    return {"points": rows, "paired": {way: asdict(one) for way, one in tests.items()}}


def write_page(path: Path, train: Sequence[Drawn], test: Sequence[Drawn], encoder: CachedEncoder, seed: int) -> None:
    """All sweeps as one page: the same page as ``geosleuth team compare`` writes, over stand-ins."""
    known = Known([*train, *test])
    trial = Trial(expert_team(known, seed=seed), train, test, encoder, seed)
    ways = {name: trial.run(name) for name in RIVALS}
    ways |= {"swarm of strangers": trial.run(STRANGERS)}
    ways |= {name: trial.run(SWARM, settings) for name, settings in SIZES.items()}
    told = (
        "answerers=1..6",
        "reviewers=0..5",
        "answerers=1..4*reviewers=0..3",
        "rounds=0,1,3,5,10,15,20",
        "agents=2..6",
    )
    names = [one.name for one in trial.team]
    runs = points([read_variation(words) for words in told], SwarmSettings(), names, WAYS)
    swept = asyncio.run(sweep(runs, trial.team, trial.asked, society=trial.society, placer=PLACER, seed=seed))
    copies = [
        StandInExpert(f"persona-{number}", known, temper=Temper(wobbles=0.25, abroad=0.28), seed=seed, mind="one")
        for number in range(1, 7)
    ]
    both: list[Member] = [*trial.team, *copies]
    kinds = points(
        [read_variation("personas-against-backbones")], SwarmSettings(),
        [*(one.name for one in trial.team), *("one" for _ in copies)],
    )  # fmt: skip
    swept += asyncio.run(sweep(kinds, both, trial.asked, society=StrangersSociety(len(both)), placer=PLACER, seed=seed))
    strengths: dict[str, list[tuple[float, Measured]]] = {}
    for abroad, found in by_strength(train, test, encoder, seed).items():
        for name, one in found.items():
            strengths.setdefault(name, []).append((abroad, one))
    fading = Curves("When expertise fades", "chance to know a picture that is not from home", strengths)
    side_by_side = [(Point(WAY, at, name, SwarmSettings(), ()), one) for at, (name, one) in enumerate(ways.items())]
    page = comparison_page(
        [*side_by_side, *swept],
        title="A swarm and its rivals, on stand-ins",
        about=[
            f"No model was asked. {len(test)} drawn pictures of {len(REGIONS)} regions, a team of "
            f"{len(trial.team)} stand-ins for models, each an expert of one region: it knows "
            f"{Temper().at_home:.0%} of the pictures from there, and {Temper().abroad:.0%} of the others.",
            f"The swarm learned whom to trust from {len(train)} other pictures. docs/background/teams.md says what the "
            "stand-ins assume.",
        ],
        more=[fading],
        generated=datetime.now(UTC).strftime("%Y-%m-%d"),
        command=f"python benchmarks/team.py --page {path.name} --train {len(train)} --test {len(test)} --seed {seed}",
    )
    write_text_atomically(path, page)


def show(result: Mapping[str, Any]) -> None:
    """Print the figures for people."""
    print(
        f"machine: {result['machine']}; {result['train']} pictures to learn from, {result['test']} held out, "
        f"seed {result['seed']}, {result['seeds']} in all; {result['seconds']:.0f} s"
    )
    if "page" in result:
        print(f"page: {result['page']}")
    if "sweep" in result:
        _show_sweep(result["sweep"])
    for abroad, found in result.get("strength", {}).items():
        print(f"\nknows a picture that is not from home: {abroad}")
        _show_ways(found)
    if "ways" in result:
        for seed, one in result["by_seed"].items():
            if len(result["by_seed"]) > 1:
                print(f"\nseed {seed}: elects an expert of the region: {one['elected_right']:.1%}")
                _show_ways(one["ways"])
        blind = result["elected_right_blind"]
        print(f"\nall together: elects an expert of the region: {result['elected_right']:.1%}, blind {blind:.1%}")
        _show_ways(result["ways"])
        for size, gains in result["more_right_than"].items():
            for name, (value, low, high) in gains.items():
                print(f"{size} more right than {name}: {value:+.1%} ({low:+.1%} to {high:+.1%})")
        same, (value, low, high) = result["identical"], result["identical_difference"]
        print(
            f"identical agents: learned {same[SWARM]:.1%}, strangers {same[STRANGERS]:.1%}, difference "
            f"{value:+.1%} ({low:+.1%} to {high:+.1%})"
        )
        for promise, kept in result["promises"].items():
            print(f"{'kept  ' if kept else 'BROKEN'} {promise}")


def _show_sweep(found: Mapping[str, Any]) -> None:
    for setting, title in (("grid", "K answer agents (down), reviewers (across)"), ("agents", "agents (down), ways")):
        rows = [one for one in found["points"] if one["setting"] == setting]
        lines = list(dict.fromkeys(one["line"] for one in rows))
        print(f"\n{title}: right, tokens a picture\n{'':4}" + "".join(f"{line:>18}" for line in lines))
        for value in dict.fromkeys(one["value"] for one in rows):
            cells = [one for one in rows if one["value"] == value]
            print(f"{value:<4}" + "".join(f"{one['accuracy']:>9.1%}{one['tokens']:>9,.0f}" for one in cells))
    for way, one in found["paired"].items():
        value, low, high = (one["difference"][key] for key in ("value", "low", "high"))
        tests = f"p {one['p']:.2g}, Holm {one['p_adjusted']:.2g}"
        print(f"swarm against {way:18}{value:+7.1%} ({low:+.1%} to {high:+.1%}), {tests}")


def _show_ways(ways: Mapping[str, Mapping[str, float]]) -> None:
    print(f"{'way':22}{'right':>8}{'95 % interval':>18}{'tokens':>9}{'calls':>7}")
    for name, one in ways.items():
        interval = f"{one['low']:.1%} to {one['high']:.1%}"
        print(f"{name:22}{one['accuracy']:>8.1%}{interval:>18}{one['tokens']:>9,.0f}{one['calls']:>7.1f}")


if __name__ == "__main__":
    sys.exit(main())
