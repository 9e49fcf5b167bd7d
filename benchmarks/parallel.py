"""Several tries at once and a verifier: what they cost in wall time, what chains cost in tokens, and their figures.

    python benchmarks/parallel.py [--tries N] [--repeats N] [--json] [--check]

Overhead: N tries of a stand-in for a model, a scripted server on loopback that takes 1 to 3 s a reply, asked over HTTP
as any hosted model is, with a photo of 12 million pixels and two calls that cut it. Their wall time, from the opened
photo to the last answer, is set beside that of the slowest of them made alone; then the same without HTTP. Of the
repeats the one with the lowest ratio is shown: whatever else the machine does only adds. `--check` exits with 1 where N
tries take over 5 % longer than the slowest alone.

Chains: tries of the same stand-in, made long, told whole and as facts for N = 2 and 4, and as facts for N = 8 and 16;
tokens by the team's tariff and by a careful count, and whether the piece that decides is still there.

Figures: verifier@N, mean single, best@N, pass@K and range@N on made-up photos of known cities, where a stand-in tries
with known chances of being right and the verifier in code decides. They show that the measures work, and say nothing
about any real model.
"""

import argparse
import asyncio
import io
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from geosleuth.agent import Trajectory, run  # noqa: E402
from geosleuth.agent.locate import open_case  # noqa: E402
from geosleuth.agent.methods import method as method_of  # noqa: E402
from geosleuth.agent.setup import AgentSetup, PhotoQuestion  # noqa: E402
from geosleuth.answer import Answer  # noqa: E402
from geosleuth.geo import LatLon, distance_km  # noqa: E402
from geosleuth.lab.teams.measures import best_at_n, mean_single, pass_at_k, range_at_n, verifier_at_n  # noqa: E402
from geosleuth.models import Conversation, EndpointSettings, Policy, Sampling, Step, make_policy  # noqa: E402
from geosleuth.photo import Album, OpenedPhoto, Photo, open_photo  # noqa: E402
from geosleuth.teams.member import text_tokens  # noqa: E402
from geosleuth.teams.parallel import (  # noqa: E402
    EmbeddedVerifier,
    build_embedded_method,
    draw_tries,
    render_chains,
)
from geosleuth.tools import Case, ToolCall  # noqa: E402
from geosleuth.tools.toolset import all_tools  # noqa: E402
from openai_server import Reply, Request, chat_reply, openai_server  # noqa: E402
from tries import TASK, a_try, long_try, read, said_place  # noqa: E402

PROMISED = 1.05
REPLIES = 3
THRESHOLD_KM = 25.0
CITIES = (
    ("Paris", "France", 48.8566, 2.3522), ("Lyon", "France", 45.7578, 4.832), ("Madrid", "Spain", 40.4165, -3.7026),
    ("Rome", "Italy", 41.8919, 12.5113), ("Berlin", "Germany", 52.5244, 13.4105), ("Oslo", "Norway", 59.9127, 10.7461),
    ("Lima", "Peru", -12.0432, -77.0282), ("Quito", "Ecuador", -0.2298, -78.525),
    ("Hanoi", "Vietnam", 21.0245, 105.8412), ("Tokyo", "Japan", 35.6895, 139.6917),
    ("Nairobi", "Kenya", -1.2833, 36.8167), ("Perth", "Australia", -31.9522, 115.8614),
)  # fmt: skip


def large_photo() -> OpenedPhoto:
    """As many pixels as a telephone takes, and about as much detail."""
    from PIL import Image

    stream = io.BytesIO()
    rough = Image.merge("RGB", [Image.effect_noise((250, 188), 90) for _ in range(3)])
    rough.resize((4000, 3000), Image.Resampling.BICUBIC).save(stream, "JPEG", quality=85)
    return open_photo(stream.getvalue())


def delays_s(tries: int, seed: int) -> dict[int, list[float]]:
    """How long each reply to each try takes."""
    rng = random.Random(seed)
    return {number: [rng.uniform(1.0, 3.0) for _ in range(REPLIES)] for number in range(1, tries + 1)}


def serve(tries: int, seed: int) -> None:
    """Be the model's server until the standard input is closed; its address is the first line of the output."""
    delays = delays_s(tries, seed)

    def reply(request: Request) -> Reply:
        body = request.json
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        wait = delays[body["seed"]][turn]
        if turn == REPLIES - 1:
            return chat_reply('{"lat": 1.0, "lon": 2.0}', delay_s=wait)
        box = [100 * turn, 100, 100 * turn + 400, 500]
        return chat_reply("I look closer.", [("image_zoom_in_tool", {"bbox_2d": box})], delay_s=wait)

    with openai_server([reply]) as url:
        print(url, flush=True)
        sys.stdin.read()


@contextmanager
def served(tries: int, seed: int) -> Iterator[str]:
    """The server in a process of its own, so that its work is not ours."""
    words = [sys.executable, __file__, "--serve", str(tries), str(seed)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the server has no pipes")
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


class Scripted:
    """The same stand-in in this process, without HTTP: what is left is the work of the loop and the tools."""

    name = "stand-in"
    hosts: frozenset[str] = frozenset()

    def __init__(self, tries: int, seed: int) -> None:
        self._delays = delays_s(tries, seed)

    async def step(self, conversation: Conversation) -> Step:
        """Look at the picture, take the time, and call or answer."""
        turn = sum(isinstance(message, Step) for message in conversation.messages)
        conversation.picture("image-1")
        await asyncio.sleep(self._delays[conversation.sampling.seed or 1][turn])
        if turn == REPLIES - 1:
            return Step('{"lat": 1.0, "lon": 2.0}')
        box = [100 * turn, 100, 100 * turn + 400, 500]
        return Step("I look closer.", calls=(ToolCall("", "image_zoom_in_tool", {"bbox_2d": box}),), finish="calls")

    async def aclose(self) -> None:
        """Nothing is held."""


async def timed_tries(who: str | Scripted, photo: OpenedPhoto, numbers: Sequence[int]) -> dict[str, float]:
    """Make these tries at once; the seconds until all are done, and our own CPU seconds."""
    settings = EndpointSettings(concurrency=max(4, len(numbers)))
    policy: Policy = make_policy("server:stand-in", base_url=who, settings=settings) if isinstance(who, str) else who
    how = method_of("default")
    cpu, began = time.process_time(), time.perf_counter()
    try:
        case, views = await asyncio.to_thread(open_case, [photo], how, None)  # type: ignore[arg-type]  # nobody asks it
        made = await draw_tries(
            case,
            len(numbers),
            AgentSetup(
                method=how,
                policy=policy,
                toolset=how.toolset(all_tools(), ["image_zoom_in_tool"]),
                sampling=Sampling(seed=numbers[0]),
            ),
            question=PhotoQuestion(views=views),
        )
        wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    finally:
        await policy.aclose()
    if not all(one.has_answer for one in made):
        raise RuntimeError("a try failed")
    return {"wall_s": wall_s, "cpu_s": cpu_s}


def overhead(tries: int, seed: int, photo: OpenedPhoto, *, http: bool) -> dict[str, float]:
    """All tries at once, and then the one with the slowest replies alone."""
    sums = {number: sum(delays) for number, delays in delays_s(tries, seed).items()}
    slowest = max(sums, key=sums.__getitem__)
    with served(tries, seed) if http else nullcontext(Scripted(tries, seed)) as who:
        together = asyncio.run(timed_tries(who, photo, range(1, tries + 1)))
        alone = asyncio.run(timed_tries(who, photo, [slowest]))
    return {
        "wall_s": together["wall_s"],
        "slowest_alone_s": alone["wall_s"],
        "slowest_replies_s": sums[slowest],
        "ratio": together["wall_s"] / alone["wall_s"],
        "cpu_s": together["cpu_s"],
        "replies_one_after_another_s": sum(sums.values()),
    }


def chains() -> list[dict[str, Any]]:
    """Tokens of whole chains and of facts, and whether what decides survives."""
    deciding = "Pharmacie du Rocher"
    rows = []
    for count in (2, 4, 8, 16):
        tries = [long_try(number) for number in range(1, count)]
        tries.append(
            a_try(
                said_place(43.7307, 7.4255, country="Monaco", precise="Pharmacie du Rocher, Monaco"),
                read(deciding),
                ("poi_keyword_search", {"keyword": deciding}, f"1. {deciding}; 43.73070, 7.42550", {
                    "results": [{"name": deciding, "kind": "amenity=pharmacy", "lat": 43.7307, "lon": 7.4255}]
                }),
                thinking="I weigh it. " * 400,
            )
        )  # fmt: skip
        for kind in ("whole", "facts"):
            shown = render_chains(method_of("default"), TASK, tries, kind)
            kept = [f'"{deciding}"' in shown.text or f"{deciding};" in shown.text, "43.7307" in shown.text]
            answers = sum(f"T{number}." in shown.text for number in range(1, count + 1))
            rows.append(
                {
                    "tries": count,
                    "chains": kind,
                    "tokens_tariff": text_tokens(shown.text),
                    "tokens_careful": shown.tokens,
                    "deciding_fact_kept": all(kept),
                    "answers_kept": answers,
                }
            )
    return rows


def guess(rng: random.Random, city: tuple[str, str, float, float], chance: float) -> Trajectory:
    """What a stand-in says: the city, with some luck, or another, where it may also put the wrong name."""
    name, country, lat, lon = city
    if rng.random() > chance:
        other = rng.choice([one for one in CITIES if one[0] != name])
        lat, lon = other[2] + rng.uniform(-3, 3), other[3] + rng.uniform(-3, 3)
        country = other[1]
        name = rng.choice([other[0], name])
    where = LatLon(lat + rng.uniform(-0.02, 0.02), lon + rng.uniform(-0.02, 0.02))
    return a_try(said_place(where.lat, where.lon, country=country, precise=name, probability=0.6, radius_km=10.0))


def figures(tries: int, repeats: int, seed: int) -> dict[str, float]:
    """The measures on made-up photos, with the verifier in code."""
    from PIL import Image

    from geosleuth.atlas import OfflineAtlas
    from geosleuth.atlas.base import ensure_base

    ensure_base()
    rng, atlas = random.Random(seed), OfflineAtlas()

    async def verify(made: Sequence[Trajectory]) -> Answer:
        album = Album()
        album.add(Photo(Image.new("RGB", (64, 48))))
        how = build_embedded_method(len(made))
        found = await run(
            Case(album, atlas), AgentSetup(method=how, policy=EmbeddedVerifier(made), toolset=how.toolset(all_tools()))
        )
        return found.answer or Answer()

    errors, verified, stated = [], [], []
    for _ in range(repeats):
        for city in CITIES:
            truth = LatLon(city[2], city[3])
            made = [guess(rng, city, 0.45) for _ in range(tries)]
            points = [one.answer.point if one.answer else None for one in made]
            errors.append([np.nan if point is None else distance_km(point, truth) for point in points])
            answer = asyncio.run(verify(made))
            verified.append(np.nan if answer.point is None else distance_km(answer.point, truth))
            stated.append(answer.probability or 0.0)
    return {
        "photos": len(errors),
        "tries": tries,
        "verifier_at_n": verifier_at_n(verified, THRESHOLD_KM),
        "stated_probability": float(np.mean(stated)),
        "mean_single": mean_single(errors, THRESHOLD_KM),
        "best_at_n": best_at_n(errors, THRESHOLD_KM),
        "range_at_n": range_at_n(errors, THRESHOLD_KM),
        **{f"pass_at_{k}": pass_at_k(errors, THRESHOLD_KM, k) for k in (1, 2, tries)},
    }


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    machine = result["machine"]
    print(f"{machine['system']} {machine['arch']}, {machine['cpus']} CPUs; Python {machine['python']}")
    print(f"{result['tries']} tries at once, seconds:")
    heads = ("all", "slowest alone", "its replies", "ratio", "CPU", "one by one")
    print(f"{'':<18}" + "".join(f"{head:>15}" for head in heads))
    names = ("wall_s", "slowest_alone_s", "slowest_replies_s", "ratio", "cpu_s", "replies_one_after_another_s")
    for label, timed in result["overhead"].items():
        print(f"{label:<18}" + "".join(f"{timed[name]:>15.3f}" for name in names))
    print(f"promise of a ratio of {PROMISED:g}: {'kept' if result['promise_kept'] else 'NOT kept'}")
    print(f"{'tries':>6} {'chains':>7} {'tokens':>8} {'careful':>8}  deciding fact  answers")
    for row in result["chains"]:
        kept = "kept" if row["deciding_fact_kept"] else "LOST"
        print(
            f"{row['tries']:>6} {row['chains']:>7} {row['tokens_tariff']:>8} {row['tokens_careful']:>8}  {kept:<13}  "
            f"{row['answers_kept']} of {row['tries']}"
        )
    for one in result["figures"]:
        told = ", ".join(
            f"{name.replace('_', ' ')} {value:.3f}" for name, value in one.items() if name not in ("photos", "tries")
        )
        print(f"a stand-in, {one['photos']} made-up photos, N = {one['tries']}, within {THRESHOLD_KM:g} km: {told}")


def main() -> int:
    """Measure, print, and say by the exit code whether the promise was kept where that was asked."""
    parser = argparse.ArgumentParser(description="Several tries at once, and a verifier.")
    parser.add_argument("--tries", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the promise is not kept")
    parser.add_argument("--serve", type=int, nargs=2, metavar=("TRIES", "SEED"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return 0
    if options.tries < 2 or options.repeats < 1:
        parser.error("--tries must be at least 2, and --repeats at least 1")
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("GEOSLEUTH_HOME", home)
        photo = large_photo()
        with served(1, 0) as url:
            asyncio.run(timed_tries(url, photo, [1]))  # what is loaded at the first use is not of any try
        timed: dict[str, dict[str, float]] = {}
        for label, http in (("in this process", False), ("over HTTP", True)):
            runs = [overhead(options.tries, seed, photo, http=http) for seed in range(options.repeats)]
            timed[label] = min(runs, key=lambda one: one["ratio"])
        result = {
            "machine": {
                "arch": platform.machine(),
                "cpus": os.cpu_count(),
                "system": platform.system(),
                "python": platform.python_version(),
            },
            "tries": options.tries,
            "overhead": timed,
            "chains": chains(),
            "figures": [figures(tries, 2, 7) for tries in (2, 4, 8)],
            "promised": PROMISED,
            "promise_kept": all(one["ratio"] <= PROMISED for one in timed.values()),
        }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 1 if options.check and not result["promise_kept"] else 0


if __name__ == "__main__":
    sys.exit(main())
