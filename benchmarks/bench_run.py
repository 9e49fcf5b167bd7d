"""How many photos a second `geosleuth bench run` gets through, beside Inspect AI in the same run, and what it holds.

    python benchmarks/bench_run.py [--photos N] [--at-once N] [--memory N] [--json] [--check]

Both go through the same small photos with answers that are there already, one turn each, so that what is left is the
work around a model: opening, stripping, the loop, files, the disk. Ours keeps a trajectory for each photo and a
journal, both synced to the disk before a photo counts. Inspect AI asks its own `mockllm` with the photo as a data URL
and scores the reply; it writes one log. Then the photo pipeline alone: opening, stripping and the first view of photos
of 2 million pixels, one at a time and on every core. `--memory N` goes through N photos and watches what the process
holds. `--check` exits with 1 where ours is under the figure we promise, or memory grows.
"""

import argparse
import asyncio
import io
import json
import os
import platform
import random
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from geosleuth.lab.bench.run.results import RunProgress
from geosleuth.lab.cli.handlers.bench_run import BenchRequest, prepare, run_bench
from geosleuth.photo import encode, first_view, open_photo
from geosleuth.pipeline.request import LocateRequest

PROMISED_PER_S = 100.0
GROWTH_MB = 50.0
DISTINCT = 200
REPLY = "The lettering is French, the kerbs are painted, the slope falls towards the sea. " * 12


def jpeg(width: int, height: int, seed: int) -> bytes:
    """A photo-like picture: coarse noise, blown up."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (height // 16, width // 16, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC).save(stream, "JPEG", quality=85)
    return stream.getvalue()


def make_set(folder: Path, photos: int) -> tuple[Path, Path]:
    """A table of photos, and a file of answers to them."""
    for number in range(min(photos, DISTINCT)):
        (folder / f"{number}.jpg").write_bytes(jpeg(320, 240, number))
    rng = random.Random(1)
    table, answers = folder / "photos.csv", folder / "answers.jsonl"
    with table.open("w") as rows, answers.open("w") as lines:
        rows.write("id,image,lat,lon\n")
        for number in range(photos):
            lat, lon = rng.uniform(-60, 70), rng.uniform(-180, 180)
            rows.write(f"p{number},{number % DISTINCT}.jpg,{lat:.5f},{lon:.5f}\n")
            said = json.dumps({"lat": round(lat + rng.gauss(0, 0.3), 5), "lon": round(lon, 5), "country": "France"})
            record = {"id": f"p{number}", "truth": {"lat": lat, "lon": lon}, "reply": REPLY + said}
            lines.write(json.dumps(record) + "\n")
    return table, answers


def resident_mb() -> float:
    """What this process holds."""
    with open("/proc/self/statm") as stream:  # noqa: PTH123
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def ours(folder: Path, photos: int, at_once: int) -> dict[str, Any]:
    """The whole command, as it works once its words are read."""
    table, answers = make_set(folder, photos)
    held: list[tuple[int, float]] = []

    def watch(progress: RunProgress) -> None:
        if not held or progress.done >= held[-1][0] + photos // 20:
            held.append((progress.done, resident_mb()))

    request = BenchRequest(
        data=str(table), locate=LocateRequest(model=f"replay:{answers}"), out=folder / "run", at_once=at_once
    )
    began = time.perf_counter()
    ready = prepare(request)
    prepared, cpu = time.perf_counter(), time.process_time()
    ending = asyncio.run(run_bench(ready, watch))
    ended = time.perf_counter()
    if ending.progress.answered != photos:
        raise RuntimeError(ending.words)
    return {
        "photos": photos,
        "per_s": photos / (ended - prepared),
        "prepare_s": prepared - began,
        "cpu_ms": (time.process_time() - cpu) * 1000 / photos,
        "held_mb": [(done, round(mb, 1)) for done, mb in held],
    }


def inspect_ai(folder: Path, photos: int, at_once: int) -> dict[str, Any]:
    """The same photos and answers through Inspect AI's own loop."""
    os.environ["INSPECT_DISABLE_MODEL_API_RETRIES"] = "1"
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    def samples() -> Iterator[Sample]:
        for number in range(photos):
            content = (folder / f"{number % DISTINCT}.jpg").read_bytes()
            image = ContentImage(image=f"data:image/jpeg;base64,{b64encode(content).decode()}")
            yield Sample([ChatMessageUser(content=[ContentText(text="Where is this?"), image])], target="lat")

    output = ModelOutput.from_content("mockllm", REPLY)
    # Without it Inspect counts tokens with a table that it would fetch.
    output.usage = ModelUsage(input_tokens=100, output_tokens=200, total_tokens=300)
    model = get_model("mockllm/model", custom_outputs=[output.model_copy(deep=True) for _ in range(photos)])
    task = Task(MemoryDataset(list(samples())), solver=generate(), scorer=includes())
    began, cpu = time.perf_counter(), time.process_time()
    (log,) = evaluate(
        task, model=model, log_dir=str(folder / "inspect"), display="none", max_samples=at_once, max_connections=at_once
    )
    wall_s = time.perf_counter() - began
    if log.status != "success":
        raise RuntimeError(f"Inspect AI ended with {log.status}: {log.error.message if log.error else ''}")
    return {"photos": photos, "per_s": photos / wall_s, "cpu_ms": (time.process_time() - cpu) * 1000 / photos}


def pipeline() -> dict[str, float]:
    """Opening, stripping, first view and packing of photos of 2 million pixels."""
    contents = [jpeg(1632, 1224, seed) for seed in range(8)]

    def one(content: bytes) -> int:
        return len(encode(first_view(open_photo(content).photo)))

    one(contents[0])
    began = time.perf_counter()
    for content in contents * 4:
        one(content)
    alone = 32 / (time.perf_counter() - began)
    began = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(one, contents * 8))
    return {"one_at_a_time_per_s": alone, "all_cores_per_s": 64 / (time.perf_counter() - began)}


def measure(photos: int, at_once: int, memory: int | None) -> dict[str, Any]:
    """Every figure, with the machine it was taken on."""
    found: dict[str, Any] = {
        "machine": {"arch": platform.machine(), "cpus": os.cpu_count(), "python": platform.python_version()},
        "load": os.getloadavg()[0],
        "at_once": at_once,
        "inspect_ai": version("inspect-ai"),
    }
    with tempfile.TemporaryDirectory() as name:
        found["geosleuth"] = ours(Path(name), photos, at_once)
        found["inspect"] = inspect_ai(Path(name), min(photos, 1000), at_once)
    found["ratio"] = found["geosleuth"]["per_s"] / found["inspect"]["per_s"]
    found["pipeline_2mp"] = pipeline()
    if memory:
        with tempfile.TemporaryDirectory() as name:
            found["memory"] = ours(Path(name), memory, at_once)
        held = found["memory"]["held_mb"]
        settled = [mb for done, mb in held if done >= memory // 4]
        found["growth_mb"] = max(settled) - settled[0]
    found["promise_kept"] = found["geosleuth"]["per_s"] >= PROMISED_PER_S and found.get("growth_mb", 0.0) <= GROWTH_MB
    return found


def main() -> None:
    """Measure, show, and judge where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--photos", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--memory", type=int)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = measure(options.photos, options.at_once, options.memory)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)
    if options.check and not found["promise_kept"]:
        sys.exit(1)


def show(found: dict[str, Any]) -> None:
    """The figures for people."""
    machine, own, peer = found["machine"], found["geosleuth"], found["inspect"]
    print(f"{machine['arch']}, {machine['cpus']} CPUs, Python {machine['python']}, load {found['load']:.1f}")
    print(
        f"{own['photos']} small photos, {found['at_once']} at once: {own['per_s']:.0f} a second, "
        f"{own['cpu_ms']:.1f} ms of CPU each (promised: {PROMISED_PER_S:g} a second); "
        f"reading the table took {own['prepare_s']:.1f} s"
    )
    print(
        f"Inspect AI {found['inspect_ai']}, {peer['photos']} of them: {peer['per_s']:.0f} a second, "
        f"{peer['cpu_ms']:.1f} ms of CPU each; ours is {found['ratio']:.1f} times as fast"
    )
    pipe = found["pipeline_2mp"]
    print(
        f"photo pipeline at 2 million pixels: {pipe['one_at_a_time_per_s']:.1f} a second one at a time, "
        f"{pipe['all_cores_per_s']:.1f} on all cores"
    )
    if "memory" in found:
        held = ", ".join(f"{mb:.0f}" for _, mb in found["memory"]["held_mb"])
        print(f"{found['memory']['photos']} photos: holds {held} MB on the way; grows by {found['growth_mb']:.0f} MB")


if __name__ == "__main__":
    main()
