"""Whether a swarm that learns whom to trust beats its rivals, on stand-ins for models with regional expertise.

    python benchmarks/team.py [--train N] [--test N] [--seed N] [--json] [--check]
    python benchmarks/team.py --strength [--json]
    python benchmarks/team.py --page FILE

No model is asked. tests/support/experts.py holds stand-ins whose behaviour is a handful of stated probabilities, and
tests/support/expert_pictures.py draws pictures whose pixels tell the region. The team learns from some pictures with
the real rounds, the real network and the bundled eyes, and is tested on others. What the stand-ins assume is in
docs/rivals.md; `--strength` shows how the ranking changes as expertise fades, and `--page` writes all sweeps as one
page. `--check` exits with 1 where a promise is broken:

- the learned network elects an expert of the picture's region for at least 90 % of the held-out pictures,
- and at least 10 points more often than an election that does not look at the picture,
- the learned swarm is right more often than every rival, and for every rival there is a size of the swarm that is
  right more often at no more calls and no more tokens (1 % is allowed for the length of names),
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
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import numpy as np  # noqa: E402

from expert_learning import PatientEyes, elected, taught  # noqa: E402
from expert_pictures import REGIONS, Drawn, draw_pictures  # noqa: E402
from experts import Known, StandInExpert, Temper, expert_team, identical_team  # noqa: E402
from geosleuth.app.team_charts import Curves  # noqa: E402
from geosleuth.app.team_measuring import figures  # noqa: E402
from geosleuth.app.team_page import curves_of, render_team_page  # noqa: E402
from geosleuth.files import write_text_atomically  # noqa: E402
from geosleuth.score.statistics import mean_estimate  # noqa: E402
from geosleuth.team import Member, Placer, Society, StrangersSociety  # noqa: E402
from geosleuth.team.rivals import RIVALS  # noqa: E402
from geosleuth.team.swarm import SwarmSettings  # noqa: E402
from geosleuth.team.sweeps.learning import Example, Measured, measure, records, sweep  # noqa: E402
from geosleuth.team.sweeps.varying import points, read_variation  # noqa: E402
from geosleuth.team.sweeps.ways import STRANGERS, SWARM, RememberedSociety, ready  # noqa: E402
from no_atlas import NoAtlas  # noqa: E402

SIZES: Mapping[str, SwarmSettings] = {
    "swarm K=1 R=0 Z=0": SwarmSettings(1, 0, 0),
    "swarm K=1 R=1 Z=0": SwarmSettings(1, 1, 0),
    "swarm K=2 R=0 Z=3": SwarmSettings(2, 0, 3),
    "swarm": SwarmSettings(),
}
"""Sizes of the swarm, the paper's last: K answer agents, R reviewers each, Z rounds of discussion."""

STRENGTHS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.92)
_LONGER_NAMES = 1.01
PLACER = Placer(NoAtlas())


class Trial:
    """One team over one set of pictures."""

    def __init__(
        self, team: Sequence[Member], train: Sequence[Drawn], test: Sequence[Drawn], eyes: PatientEyes, seed: int
    ) -> None:
        self.team, self._train, self._test, self._seed = team, train, test, seed
        self.learned = taught(team, train, eyes)
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

    def elections(self) -> tuple[float, float]:
        """How often an expert of the region is elected: by the network, and by record, blind to the picture."""
        experts = [member for member in self.team if isinstance(member, StandInExpert)]
        seen = [one.region.name in experts[elected(self.learned, one.photo)].homes for one in self._test]
        blind = [one.region.name in experts[self.lead].homes for one in self._test]
        return float(np.mean(seen)), float(np.mean(blind))


def main() -> int:
    """Measure, print, and say by the exit code whether the promises were kept where that was asked."""
    parser = argparse.ArgumentParser(description="A swarm that learns whom to trust beside its rivals, on stand-ins.")
    parser.add_argument("--train", type=int, default=90, help="pictures to learn from")
    parser.add_argument("--test", type=int, default=120, help="held-out pictures")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strength", action="store_true", help="how the ranking changes as expertise fades")
    parser.add_argument("--page", type=Path, metavar="FILE", help="all sweeps as one page of plots")
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promise is broken")
    options = parser.parse_args()
    begin = time.perf_counter()
    train = draw_pictures(options.train, 1000 + 2 * options.seed)
    test = draw_pictures(options.test, 1001 + 2 * options.seed)
    eyes = PatientEyes()
    result: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "train": options.train,
        "test": options.test,
        "seed": options.seed,
    }
    if options.strength:
        result["strength"] = {
            f"{abroad:g}": {name: figures(one) for name, one in found.items()}
            for abroad, found in by_strength(train, test, eyes, options.seed).items()
        }
    elif options.page is not None:
        write_page(options.page, train, test, eyes, options.seed)
        result["page"] = str(options.page)
    else:
        result |= learning(train, test, eyes, options.seed)
    result["seconds"] = time.perf_counter() - begin
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    broken = [promise for promise, kept in result.get("promises", {}).items() if not kept]
    return 1 if options.check and broken else 0


def learning(train: Sequence[Drawn], test: Sequence[Drawn], eyes: PatientEyes, seed: int) -> dict[str, Any]:
    """The row "learning": election, rivals, identical agents."""
    known = Known([*train, *test])
    trial = Trial(expert_team(known, seed=seed), train, test, eyes, seed)
    right, blind = trial.elections()
    rivals = {name: trial.run(name) for name in RIVALS}
    swarms = {name: trial.run(SWARM, settings) for name, settings in SIZES.items()}
    strangers = trial.run(STRANGERS)
    same = Trial(identical_team(known, seed=seed), train[: len(train) // 2], test, eyes, seed)
    helped, plain = same.run(SWARM), same.run(STRANGERS)
    moved = np.array(helped.right, dtype=np.float64) - np.array(plain.right, dtype=np.float64)
    difference = mean_estimate(moved, lowest=-1.0, highest=1.0)
    full = swarms["swarm"]
    beaten = {name: _beaten_by(one, swarms) for name, one in rivals.items()}
    return {
        "elected_right": right,
        "elected_right_blind": blind,
        "ways": {name: figures(one) for name, one in {**rivals, "swarm of strangers": strangers, **swarms}.items()},
        "beaten_at_no_more_tokens_by": beaten,
        "identical": {
            "learned": helped.accuracy.value,
            "strangers": plain.accuracy.value,
            "difference": [difference.value, difference.low, difference.high],
        },
        "promises": {
            "elects the right expert >= 90 %": right >= 0.9,
            "elects it >= 10 points more often than blind": right - blind >= 0.1,
            "right more often than every rival": all(
                full.accuracy.value > one.accuracy.value for one in rivals.values()
            ),
            "and at no more tokens, at some size": all(beaten.values()),
            "identical agents: no difference": difference.low <= 0.0 <= difference.high,
        },
    }


def _beaten_by(rival: Measured, swarms: Mapping[str, Measured]) -> list[str]:
    """The sizes of the swarm that are right more often and cost no more."""
    return [
        name
        for name, one in swarms.items()
        if one.accuracy.value > rival.accuracy.value
        and one.tokens_per_query <= _LONGER_NAMES * rival.tokens_per_query
        and one.calls_per_query <= rival.calls_per_query
    ]


def by_strength(
    train: Sequence[Drawn], test: Sequence[Drawn], eyes: PatientEyes, seed: int
) -> dict[float, dict[str, Measured]]:
    """The main ways as members know more and more of the pictures that are not from their home."""
    known = Known([*train, *test])
    found: dict[float, dict[str, Measured]] = {}
    for abroad in STRENGTHS:
        trial = Trial(expert_team(known, temper=replace(Temper(), abroad=abroad), seed=seed), train, test, eyes, seed)
        found[abroad] = {name: trial.run(name) for name in (SWARM, STRANGERS, "single", "majority", "debate", "dylan")}
        print(f"abroad {abroad}: done", file=sys.stderr)
    return found


def write_page(path: Path, train: Sequence[Drawn], test: Sequence[Drawn], eyes: PatientEyes, seed: int) -> None:
    """All sweeps as one page: the same page as ``geosleuth team sweep`` writes, over stand-ins."""
    known = Known([*train, *test])
    trial = Trial(expert_team(known, seed=seed), train, test, eyes, seed)
    ways = {name: trial.run(name) for name in RIVALS}
    ways |= {"swarm of strangers": trial.run(STRANGERS)}
    ways |= {name: trial.run(SWARM, settings) for name, settings in SIZES.items()}
    told = ("answerers=1..6", "reviewers=0..5", "rounds=0,1,3,5,10,15,20", "agents=1..6")
    runs = points([read_variation(words) for words in told], SwarmSettings(), [one.name for one in trial.team])
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
    for abroad, found in by_strength(train, test, eyes, seed).items():
        for name, one in found.items():
            strengths.setdefault(name, []).append((abroad, one))
    fading = Curves("When expertise fades", "chance to know a picture that is not from home", strengths)
    page = render_team_page(
        title="A swarm and its rivals, on stand-ins",
        about=[
            f"No model was asked. {len(test)} drawn pictures of {len(REGIONS)} regions, a team of "
            f"{len(trial.team)} stand-ins for models, each an expert of one region: it knows "
            f"{Temper().at_home:.0%} of the pictures from there, and {Temper().abroad:.0%} of the others.",
            f"The swarm learned whom to trust from {len(train)} other pictures. docs/rivals.md says what the "
            "stand-ins assume.",
        ],
        ways=ways,
        curves=[*curves_of(swept), fading],
        generated=datetime.now(UTC).strftime("%Y-%m-%d"),
        command=f"python benchmarks/team.py --page {path.name} --train {len(train)} --test {len(test)} --seed {seed}",
    )
    write_text_atomically(path, page)


def show(result: Mapping[str, Any]) -> None:
    """Print the figures for people."""
    print(
        f"machine: {result['machine']}; {result['train']} pictures to learn from, {result['test']} held out, "
        f"seed {result['seed']}; {result['seconds']:.0f} s"
    )
    if "page" in result:
        print(f"page: {result['page']}")
    for abroad, found in result.get("strength", {}).items():
        print(f"\nknows a picture that is not from home: {abroad}")
        _show_ways(found)
    if "ways" in result:
        print(
            f"elects an expert of the region: {result['elected_right']:.1%}, blind {result['elected_right_blind']:.1%}"
        )
        _show_ways(result["ways"])
        for name, sizes in result["beaten_at_no_more_tokens_by"].items():
            print(f"{name}: beaten at no more tokens and calls by {', '.join(sizes) or 'no size of the swarm'}")
        same = result["identical"]
        value, low, high = same["difference"]
        print(
            f"identical agents: learned {same['learned']:.1%}, strangers {same['strangers']:.1%}, difference "
            f"{value:+.1%} ({low:+.1%} to {high:+.1%})"
        )
        for promise, kept in result["promises"].items():
            print(f"{'kept  ' if kept else 'BROKEN'} {promise}")


def _show_ways(ways: Mapping[str, Mapping[str, float]]) -> None:
    print(f"{'way':22}{'right':>8}{'95 % interval':>18}{'tokens':>9}{'calls':>7}")
    for name, one in ways.items():
        interval = f"{one['low']:.1%} to {one['high']:.1%}"
        print(f"{name:22}{one['accuracy']:>8.1%}{interval:>18}{one['tokens']:>9,.0f}{one['calls']:>7.1f}")


if __name__ == "__main__":
    sys.exit(main())
