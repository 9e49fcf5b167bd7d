"""What learned trust is worth on the recorded answers of real models: GeoBench and MAPBench, cross-validated.

The files are read in place from ``shared/data/recorded`` beside the repository, or below the folder that
GEOSLEUTH_SHARED names. ``--seeds 3`` repeats the whole split with other seeds. ``--harder`` adds what the method must
stand: fewer images, an agent left out, one twice, one that guesses.

``--check`` exits with 1 unless, on both sets and with every seed, the learned answers are at least as good as the best
agent at every distance, right within 25 km on 85.5 % of GeoBench and 41.0 % of MAPBench, with calibration errors of at
most 0.05, and each replay takes less than a minute.
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

# One thread: the matrices are small, and threads that wait for each other cost more than they bring.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.lab.cli.handlers.team_replay import Answers, measure, read_answers, replay_document
from geosleuth.lab.teams.recorded import Panel, PanelReply, number_groups
from geosleuth.lab.teams.recorded.learn_trust import LEARNED, REPORTED_KM, SINGLE, KnownTrust, Replay, replay

ROOT = Path(__file__).resolve().parent.parent
RECORDED = Path(os.environ.get("GEOSLEUTH_SHARED", ROOT.parent / "shared")) / "data" / "recorded"
SETS = {
    "GeoBench": (("geobench_gpt5", "geobench_qwen3vl235b", "geobench_qwen3vl30b"), 85.5),
    "MAPBench": (("mapbench_gpt5", "mapbench_o3", "mapbench_qwen3vl235b"), 41.0),
}
MOST_ERROR = 0.05
MOST_SECONDS = 60.0


def measure_set(names: tuple[str, ...], least: float, seed: int) -> dict[str, Any]:
    """One replay of one set, and which promises it keeps."""
    begin = time.perf_counter()
    document = replay_document(measure({name: RECORDED / f"{name}.jsonl" for name in names}, folds=5, seed=seed))
    seconds = time.perf_counter() - begin
    learned = document["rows"][LEARNED]["within"]
    best = document["best_agent_at_each_distance"]
    return {
        "seed": seed,
        "seconds": seconds,
        "document": document,
        "kept": {
            "at least the best agent at every distance": all(learned[km]["percent"] >= best[km] for km in best),
            f"{least} % within 25 km": learned["25"]["percent"] >= least,
            "calibration errors": max(document["calibration_error"].values()) <= MOST_ERROR,
            "under a minute": seconds < MOST_SECONDS,
        },
    }


def harder(names: tuple[str, ...]) -> dict[str, dict[str, list[float]]]:
    """The same method where there is less to learn from, or worse: accuracy of the best agent and of the learned."""
    answers = {name: read_answers(RECORDED / f"{name}.jsonl", lambda _bytes: None) for name in names}
    ids = sorted(set.intersection(*(set(one.said) for one in answers.values())))
    some = [ids[row] for row in np.random.default_rng(0).choice(len(ids), 200, replace=False)]
    rng = np.random.default_rng(1)
    guesses = {
        key: PanelReply("", Answer(LatLon(float(lat), float(lon))))
        for key, lat, lon in zip(ids, rng.uniform(-60, 70, len(ids)), rng.uniform(-180, 180, len(ids)), strict=True)
    }
    first = answers[names[0]]
    guesser = Answers(guesses, first.image, first.truths)
    worst = dict(list(answers.items())[1:])
    return {
        "200 images": _figures(_replay(answers, some)),
        f"without {names[0]}": _figures(_replay(worst, ids)),
        f"{names[0]} twice": _figures(_replay({**answers, "copy": first}, ids)),
        "an agent that guesses": _figures(_replay({**answers, "guesser": guesser}, ids)),
    }


def _replay(answers: dict[str, Answers], ids: list[str]) -> Replay:
    first = next(iter(answers.values()))
    panel = Panel.from_answers({name: [one.said[key] for key in ids] for name, one in answers.items()})
    truths = [first.truths[key] for key in ids]
    groups = number_groups([(first.image[key],) for key in ids], [truth.point for truth in truths])
    return replay(KnownTrust.from_panel(panel, truths, groups))


def _figures(result: Replay) -> dict[str, list[float]]:
    return {
        name: [100 * float(np.mean(np.nan_to_num(result.rows[name], nan=np.inf) <= km)) for km in REPORTED_KM]
        for name in (SINGLE, LEARNED)
    } | {"largest calibration error": [max(result.calibration_errors().values())]}


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    machine = result["machine"]
    print(f"{machine['system']} {machine['arch']}, {machine['cpus']} CPUs; Python {machine['python']}")
    print(f"right within {', '.join(f'{km:g}' for km in REPORTED_KM)} km, %")
    for name, runs in result["sets"].items():
        for run in runs:
            document = run["document"]
            print(f"\n{name}, {document['images']} images, seed {run['seed']}, {run['seconds']:.0f} s")
            for row, found in document["rows"].items():
                print(f"  {row:13} {' '.join(format(one['percent'], '6.2f') for one in found['within'].values())}")
            tests = " ".join(f"{one['p_holm']:6.3f}" for one in document["learned_against_best_single"])
            print(f"  {'p (Holm)':13} {tests}")
            errors = " ".join(f"{km}:{error:.3f}" for km, error in document["calibration_error"].items())
            print(f"  calibration error {errors}")
            for promise, kept in run["kept"].items():
                print(f"  {'kept  ' if kept else 'BROKEN'} {promise}")
        for what, figures in result["harder"].get(name, {}).items():
            print(f"  {what}")
            for row, values in figures.items():
                print(f"    {row:26} {' '.join(f'{value:6.2f}' for value in values)}")


def main() -> int:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1, help="how many splits to measure")
    parser.add_argument("--harder", action="store_true", help="also with less to learn from, or worse")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promise is broken")
    words = parser.parse_args()
    if not RECORDED.is_dir():
        print(f"{RECORDED} is absent: it holds the recorded answers (set GEOSLEUTH_SHARED)", file=sys.stderr)
        return 2
    result: dict[str, Any] = {
        "machine": {
            "arch": platform.machine(),
            "cpus": os.cpu_count(),
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "sets": {
            name: [measure_set(names, least, seed) for seed in range(words.seeds)]
            for name, (names, least) in SETS.items()
        },
        "harder": {name: harder(names) for name, (names, _) in SETS.items()} if words.harder else {},
    }
    if words.json:
        print(json.dumps(result))
    else:
        show(result)
    broken = not all(kept for runs in result["sets"].values() for run in runs for kept in run["kept"].values())
    return 1 if words.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
