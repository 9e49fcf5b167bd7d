"""What failing services, kill -9 and full disks do to runs: nothing may be lost, paid twice or hang.

    python benchmarks/faults.py [services] [kills] [disk] [--runs N] [--kills N] [--seed N] [--json]

services: benchmark runs of two photos each, whose model, map and web search are servers on loopback that fail three
calls of ten: no answer, a cut connection, 429 with Retry-After, 500, JSON that is cut or wrong, a body that drips. Runs
are repeated for what failed until nothing is missing, and must end with the results of runs without a fault.

kills: kill -9 of benchmark runs, of the service with its workers, and of a small training, at random moments and right
after the last photo was finished. Each goes on afterwards and must end as if nothing had happened.

disk: a real small disk (a tmpfs in a mount namespace) that is full at another write each time: benchmark run, case
store, atlas import, training. What was acknowledged must be there, errors are one line, and with more room all ends
well.

Exits with 1 where anything of that does not hold.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

from bench_child import make_photos, work
from bench_mounts import reason_without_mounts
from fault_proxy import FAULTS, FaultProxy
from geosleuth.agent import TrajectoryWriter
from geosleuth.agent.locate import locate
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.online import OnlineSettings, make_online
from geosleuth.lab.bench.run.engine import LocalWorker, RunRules, run_set
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.run.journal import Attempted, Job
from geosleuth.lab.bench.sets.dataset import DataSet
from geosleuth.models import EndpointSettings, make_policy
from geosleuth.photo import open_photo
from geosleuth.support.errors import GeosleuthError
from geosleuth.tools import Toolset
from geosleuth.tools.image_tools import image_zoom_in_tool
from geosleuth.tools.maps import maps_geocode
from geosleuth.tools.search import search_web
from geosleuth.tools.web import make_web
from killed_runs import check as check_killed
from killed_runs import start as start_run
from killed_services import killed_after, look_after
from openai_server import Reply, Request, chat_reply, openai_server
from served_runs import coloured_set, manifest_for
from served_runs import says as says_in_the_end
from small_runs import small_method

PHOTOS = 2
DESK_RUNS = 4
AT_ONCE = 24
RUN_LIMIT_S = 300.0
HASTY = EndpointSettings(
    concurrency=16, tries=4, backoff_s=0.02, backoff_max_s=0.1, connect_s=2, try_s=3, total_s=60,
    breaker_failures=12, breaker_rest_s=0.3,
)  # fmt: skip
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("image_zoom_in_tool", {"bbox_2d": [4, 4, 24, 24]}),
    ("maps_geocode", {"address": "Monaco"}),
    ("search_web", {"query": "yellow taxis"}),
)
PLACE = {
    "lat": "43.73", "lon": "7.42", "display_name": "Monaco", "osm_type": "relation", "osm_id": 1, "importance": 0.9,
    "class": "boundary", "type": "administrative", "boundingbox": ["43.7", "43.8", "7.4", "7.5"],
    "address": {"country": "Monaco", "country_code": "mc"},
}  # fmt: skip
PAGE = {"title": "Taxis", "content": "Yellow taxis are in many towns.", "url": "https://pages.example/taxis"}


@dataclass
class Tally:
    """What a part found: figures for the table, and what did not hold."""

    part: str
    figures: dict[str, Any] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def must(self, holds: bool, words: str) -> None:  # noqa: FBT001
        """Note what does not hold."""
        if not holds:
            self.broken.append(words)


def says(request: Request) -> Reply:
    """One call a turn, then the answer that follows from the photo."""
    done = sum(message["role"] == "tool" for message in request.json["messages"])
    return says_in_the_end(request) if done >= len(CALLS) else chat_reply("I look closer.", [CALLS[done]])


def numbered_set(run: int) -> DataSet:
    """Photos that no other run has."""
    items = list(coloured_set(PHOTOS * (run + 1)))[PHOTOS * run :]
    return DataSet(coloured_set(1).card, Path(), lambda: items)


@dataclass
class Services:
    """The three servers, and what they delivered: whole replies of the model, by what was asked."""

    share: float
    seed: int
    delivered: Counter[bytes] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.model = FaultProxy(self._said, seed=self.seed, share=self.share)
        self.map = FaultProxy(lambda _: Reply(json.dumps([PLACE]).encode()), seed=self.seed + 1, share=self.share)
        self.web = FaultProxy(
            lambda _: Reply(json.dumps({"results": [PAGE]}).encode()), seed=self.seed + 2, share=self.share
        )

    def _said(self, request: Request) -> Reply:
        return says(request)

    def model_line(self, request: Request) -> Reply:
        """What the model's server sends; a whole reply counts as delivered and paid."""
        before = self.model.answered
        reply = self.model(request)
        if self.model.answered > before:
            self.delivered[request.images[0]] += 1
        return reply


@contextmanager
def serving(share: float, seed: int) -> Iterator[tuple[Services, str, OnlineSettings]]:
    """The servers while they serve: they, the model's address, how maps and the web are asked."""
    services = Services(share, seed)
    with (
        tempfile.TemporaryDirectory() as cache,
        openai_server([services.model_line]) as model,
        openai_server([services.map]) as maps,
        openai_server([services.web]) as web,
    ):
        online = OnlineSettings(
            allow_hosts=frozenset({"127.0.0.1"}), private_hosts=frozenset({"127.0.0.1"}),
            base_urls={"nominatim": maps.root, "searxng": web.root}, spacing_s={"127.0.0.1": 0.0},
            cache_path=Path(cache) / "online.sqlite", cache_hours={"nominatim": 0.0, "searxng": 0.0},
            tries=3, backoff_s=0.01, backoff_max_s=0.05, read_s=0.8, total_s=4.0, breaker_failures=10**6,
        )  # fmt: skip
        yield services, str(model), online


async def bench_once(number: int, folder: Path, url: str, online: OnlineSettings) -> tuple[int, int]:
    """One benchmark run, repeated for what failed: commands given, photos that failed in them."""
    policy = make_policy("server:colours", base_url=url, settings=HASTY)
    toolset = Toolset([image_zoom_in_tool, maps_geocode, search_web])
    method = small_method(tools=tuple(name for name, _ in CALLS))
    atlas, web = make_online("nominatim", online), make_web("searxng", online)

    async def attempt(job: Job, keep_in: Path) -> Attempted:
        photo = await asyncio.to_thread(open_photo, job.content)
        with TrajectoryWriter(keep_in) as store:
            finding = await locate(
                [photo], AgentSetup(method=method, policy=policy, toolset=toolset), Resources(atlas, web), store=store
            )
        answered, ended = finding.trajectory.answered, finding.trajectory.ended
        if answered is None or ended is None:
            raise RuntimeError("a run without an end")
        failed = ended.reason == "service"
        host = (ended.trouble or "").partition(": ")[0] if failed else None
        outcome: Literal["answered", "failed"] = "failed" if failed else "answered"
        return Attempted(outcome, finding.answer, answered.by, ended.reason, ended.spent, ended.trouble, host)

    commands = failed = 0
    try:
        while commands < 8:
            with RunFolder.begin(folder, manifest_for(PHOTOS)) as run:
                rules = RunRules(retry="errors" if commands else None, give_up=PHOTOS)
                ending = await run_set(
                    numbered_set(number), run, LocalWorker(attempt, run), at_once=PHOTOS, rules=rules
                )
            commands += 1
            failed += ending.progress.failed
            if ending.progress.answered == PHOTOS:
                break
    finally:
        await policy.aclose()
        await atlas.aclose()
        await web.aclose()
    return commands, failed


def bench_runs(runs: int, folder: Path, url: str, online: OnlineSettings) -> tuple[list[tuple[int, int]], int]:
    """So many runs, some at once: what came of each, and how many did not come to an end."""

    async def go() -> tuple[list[tuple[int, int]], int]:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> tuple[int, int] | None:
            async with room:
                try:
                    return await asyncio.wait_for(bench_once(number, folder / str(number), url, online), RUN_LIMIT_S)
                except TimeoutError:
                    return None

        came = await asyncio.gather(*map(one, range(runs)))
        return [one for one in came if one is not None], came.count(None)

    return asyncio.run(go())


def results(run: Path) -> list[dict[str, Any]]:
    """The results of a run, but for how many calls of tools failed."""
    rows = [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in row.items() if name != "failed_calls"} for row in rows]


def failing_services(runs: int, seed: int) -> Tally:
    """Runs whose services fail three calls of ten, beside runs whose services don't."""
    tally = Tally("failing services")
    with tempfile.TemporaryDirectory() as name:
        plain, faulty = Path(name) / "plain", Path(name) / "faulty"
        with serving(0.0, seed) as (_, url, online):
            bench_runs(runs, plain, url, online)
        with serving(0.3, seed) as (services, url, online):
            came, hung = bench_runs(runs, faulty, url, online)
        paid = tries = tool_calls = tool_failures = 0
        for number in range(runs):
            with RunFolder.read(faulty / str(number)) as run:
                records = list(run.tries())
                tries += len(records)
                paid += sum(one.spent.usage.input_tokens for one in records)
                answered = Counter(one.id for one in records if one.outcome == "answered")
                for one in records:
                    text = run.trajectory(one.image, one.number).read_text(encoding="utf-8")
                    events = [json.loads(line) for line in text.splitlines()[1:]]
                    seen = [event["observation"] for event in events if event["kind"] == "observed"]
                    tool_calls += len(seen)
                    tool_failures += sum(bool(one.get("failure")) for one in seen)
            tally.must(len(answered) == PHOTOS and set(answered.values()) == {1}, f"run {number}: {dict(answered)}")
            same = results(faulty / str(number)) == results(plain / str(number))
            tally.must(same, f"run {number}: other results than without faults")
        delivered = sum(services.delivered.values())
        tally.must(hung == 0, f"{hung} runs did not end within {RUN_LIMIT_S:g} s")
        kept = paid // 100
        tally.must(kept == delivered, f"{delivered} replies were delivered and {kept} are in the journals")
        once = (len(CALLS) + 1) * runs * PHOTOS
        asked = {"model": services.model, "map": services.map, "web": services.web}
        for called, proxy in asked.items():
            every = runs < 100 or all(proxy.faults[kind] for kind in FAULTS)
            tally.must(every, f"{called}: not every fault came: {proxy.faults}")
        commands = sum(one for one, _ in came)
        tally.figures = {
            "runs": runs, "photos": runs * PHOTOS, "commands": commands, "tries": tries,
            "calls": {called: proxy.asked for called, proxy in asked.items()},
            "failed calls": {called: sum(proxy.faults.values()) for called, proxy in asked.items()},
            "failed by kind": dict(sum((proxy.faults for proxy in asked.values()), Counter())),
            "tool calls": tool_calls, "tool calls that failed for good": tool_failures,
            "replies delivered": delivered, "needed without faults": once, "replies in journals": kept,
            "hung": hung,
        }  # fmt: skip
    return tally


def killed_benches(kills: int, seed: int) -> Tally:
    """Benchmark runs killed at random moments; and right after their last photo, when results are written."""
    tally = Tally("kill -9 of benchmark runs")
    after = max(1, kills // 4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        killed, done, cut = check_killed(make_photos(folder / "photos", 10 * kills), folder, kills - after, 8, seed)
        ended = 0
        photos = make_photos(folder / "few", 6)
        work(photos, folder / "few-whole")
        whole = (folder / "few-whole" / "results.jsonl").read_bytes()
        for number in range(after):
            run = folder / f"run-{number}"
            process = start_run(photos, run, 6)
            seen = 0
            for line in process.stdout or ():
                seen += '"ended"' in line
                if seen == 6:
                    break
            time.sleep(random.Random(seed + number).uniform(0, 0.02))
            process.kill()
            process.communicate()
            ended += process.returncode == -signal.SIGKILL
            work(photos, run)
            with RunFolder.read(run) as opened:
                answered = Counter(one.id for one in opened.tries() if one.outcome == "answered")
            tally.must(len(answered) == 6 and set(answered.values()) == {1}, f"after the end: {dict(answered)}")
            tally.must((run / "results.jsonl").read_bytes() == whole, "after the end: other results")
    tally.figures = {
        "kills": killed + ended, "at random moments": killed, "right after the last photo": ended,
        "photos": 10 * kills, "done by the last kill": done, "tries cut off": cut,
    }  # fmt: skip
    return tally


def killed_services(kills: int, seed: int) -> Tally:
    """The service and its two workers, killed while four runs are worked on, or right after the last was done."""
    from services import recording

    tally = Tally("kill -9 of the service")
    chance = random.Random(seed)
    finished = cut = 0
    for number in range(kills):
        with tempfile.TemporaryDirectory() as name:
            model = recording(Path(name), looks=3)
            done = DESK_RUNS if number % 4 == 0 else chance.randint(0, DESK_RUNS)
            linger = chance.uniform(0, 0.03) if done == DESK_RUNS else chance.uniform(0, 0.3)
            try:
                started, results = killed_after(Path(name) / "desk", model, done, linger, runs=DESK_RUNS)
                finished += len(results)
                cut += len(asyncio.run(look_after(Path(name) / "desk", started, results)))
            except AssertionError:
                tally.broken.append(traceback.format_exc(limit=-1).replace("\n", " ")[-300:])
    tally.figures = {"kills": kills, "runs": DESK_RUNS * kills, "results told before": finished, "runs cut off": cut}
    return tally


def train_in(folder: Path, store: Path, model: Path) -> None:
    """A small training, or the rest of one."""
    from geosleuth.lab.train.sft import run_sft
    from training_runs import recipe

    plan = recipe(model, store, optim={"epochs": 4.0}, data={"limit": 3}, model={"tuned": "full"})
    run_sft(plan, folder)


def quiet_child(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """A forked process that says nothing: what is loaded here need not be loaded again."""

    def go() -> None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        target(*arguments)

    process = multiprocessing.get_context("fork").Process(target=go)
    process.start()
    return process


def killed_trainings(kills: int, seed: int) -> Tally:
    """A training of eight steps with a checkpoint after each, killed again and again; it ends with the same weights."""
    import torch

    from geosleuth.lab.train.sft import run_sft  # noqa: F401  (loaded once, before the forks)
    from geosleuth.photo.runtime import no_probing
    from tiny_vlm import tiny_vlm_folder
    from training_runs import short_store

    tally = Tally("kill -9 of training")
    torch.set_num_threads(1)
    chance = random.Random(seed)
    killed = trainings = after_end = 0
    with tempfile.TemporaryDirectory() as name, no_probing():
        folder, model = Path(name), tiny_vlm_folder()
        store = short_store(folder / "store", 5)
        begin = time.monotonic()
        whole = quiet_child(train_in, folder / "whole", store, model)
        whole.join()
        takes = time.monotonic() - begin
        tally.must(whole.exitcode == 0, "the training that nothing happens to fails")
        while killed < kills and not tally.broken:
            run = folder / f"run-{trainings}"
            trainings += 1
            for _ in range(40):
                process = quiet_child(train_in, run, store, model)
                if killed < kills and trainings % 4 == 0:
                    # Right after the run says that it is done.
                    until = time.monotonic() + 20 * takes
                    while not (run / "done.json").exists() and process.is_alive() and time.monotonic() < until:
                        time.sleep(0.002)
                    after_end += (run / "done.json").exists()
                elif killed < kills:
                    process.join(chance.uniform(0, takes))
                else:
                    process.join()
                process.kill()
                process.join()
                if process.exitcode == -signal.SIGKILL:
                    killed += 1
                elif process.exitcode == 0:
                    break
                else:
                    tally.must(holds=False, words=f"a training ends with {process.exitcode}")
                    break
                if (run / "done.json").exists():
                    break
            check_training(tally, run, folder / "whole", quiet_child(train_in, run, store, model))
            shutil.rmtree(run, ignore_errors=True)
    tally.figures = {
        "kills": killed, "trainings": trainings, "right after the end": after_end, "one takes s": round(takes, 1)
    }  # fmt: skip
    return tally


def check_training(tally: Tally, run: Path, whole: Path, last: BaseProcess) -> None:
    """What must hold of a training that was killed, once it is given again."""
    last.join()
    tally.must(last.exitcode == 0, f"the last command ends with {last.exitcode}")
    weights = [(one / "policy" / "model.safetensors") for one in (run, whole)]
    if not all(one.is_file() for one in weights):
        tally.must(holds=False, words="no policy")
        return
    tally.must(weights[0].read_bytes() == weights[1].read_bytes(), "other weights")
    steps = [
        [json.loads(line)["step"] for line in (one / "metrics.jsonl").read_text().splitlines()] for one in (run, whole)
    ]
    tally.must(steps[0] == steps[1], f"steps {steps[0]} and not {steps[1]}")


def full_disks(only: str | None = None) -> Tally:
    """The same in a mount namespace of its own, where disks may be made."""
    tally = Tally("full disk")
    if (reason := reason_without_mounts()) is not None:
        tally.figures = {"left out": f"a small disk can't be mounted: {reason}"}
        return tally
    words = ["unshare", "-rm", sys.executable, str(Path(__file__).resolve()), "--in-mounts"]
    words += ["--only", only] if only else []
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        tally.broken.append(f"ended with {done.returncode}")
        return tally
    found = json.loads(done.stdout.splitlines()[-1])
    tally.figures, tally.broken = found["figures"], found["broken"]
    return tally


def filled(kind: str, size: int, disk: Path, do: Callable[[Path], str], tally: Tally) -> str:
    """Do a piece of work on a disk of so many bytes, then again with room: "fitted", or what it said."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},nr_inodes=4000", "none", str(disk)], check=True)
    try:
        first = in_child(do, disk)
        if first["said"] == "":
            return "fitted"
        tally.must(first["kind"] == "refused", f"{kind} on {size} bytes: {first['said'][-300:]}")
        tally.must("\n" not in first["said"], f"{kind} on {size} bytes: more than one line")
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
        again = in_child(do, disk)
        tally.must(again["said"] == "", f"{kind} on {size} bytes, then with room: {again['said'][-300:]}")
        return str(first["said"])
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def in_child(do: Callable[[Path], str], disk: Path) -> dict[str, str]:
    """Do it in a forked process; what it said that was wrong."""
    ours, theirs = multiprocessing.get_context("fork").Pipe(duplex=False)

    def go() -> None:
        try:
            theirs.send({"kind": "done", "said": do(disk)})
        except GeosleuthError as error:
            theirs.send({"kind": "refused", "said": str(error)})
        except BaseException:  # noqa: BLE001  (what is looked for)
            theirs.send({"kind": "bug", "said": traceback.format_exc()})

    process = quiet_child(go)
    theirs.close()
    try:
        told: dict[str, str] = ours.recv() if ours.poll(300) else {"kind": "hang", "said": "it hangs"}
    except EOFError:
        told = {"kind": "bug", "said": "it died"}
    process.kill()
    process.join()
    return told


def disk_work(folder: Path) -> dict[str, tuple[Callable[[Path], str], list[int]]]:
    """Each kind of work, and the disks to do it on: from one page up, a page more each time, or spread evenly."""
    from attack_targets import TARGETS
    from geosleuth.atlas.regions import RegionStore, import_osm

    photos = make_photos(folder / "photos", 8)
    work(photos, folder / "whole")
    whole = (folder / "whole" / "results.jsonl").read_bytes()
    extract = folder / "town.osm.pbf"
    extract.write_bytes(TARGETS["extract-osm.pbf"].seeds()[0])

    def bench(disk: Path) -> str:
        work(photos, disk / "run")
        return "" if (disk / "run" / "results.jsonl").read_bytes() == whole else "other results"

    def atlas(disk: Path) -> str:
        import_osm(extract, "town", folder=disk / "regions")
        left = [path.name for path in (disk / "regions").iterdir()]
        return "" if RegionStore(disk / "regions").names() == ["town"] and len(left) == 1 else f"left: {left}"

    pages = 4096
    return {
        "bench": (bench, [pages * at for at in range(1, 60)]),
        "case store": (case_store(folder), [pages * at for at in range(1, 160, 4)]),
        "atlas import": (atlas, [pages * at for at in range(1, 120, 2)]),
        "training": (training_on(folder), [at * 512 * 1024 for at in range(1, 40)]),
    }


def case_store(folder: Path) -> Callable[[Path], str]:
    """A case with a photo and a run in a service's folder; a second time on the same disk, all of it is looked for."""
    from geosleuth.server import CaseService, RunRequest
    from services import photo_bytes, pieces, recording

    model = recording(folder, looks=3)
    # Not on the full disk: what the service acknowledged.
    told = folder / "told.json"

    async def go(disk: Path) -> str:
        async with await CaseService.open(disk / "desk") as desk:
            known = {case.id: len(case.photos) for case in await desk.cases()}
            for case_id, photos in json.loads(told.read_text()) if told.exists() else ():
                if known.get(case_id, -1) < photos:
                    return f"what was acknowledged of the case {case_id} is lost"
            acknowledged = [((case := await desk.new_case("A case")).id, 0)]
            told.write_text(json.dumps(acknowledged))
            await desk.add_photo(case.id, "wall.jpg", pieces(photo_bytes()))
            told.write_text(json.dumps([(case.id, 1)]))
            run = await desk.start(case.id, RunRequest(model=model))
            while run.id in desk._jobs._active or run.id in desk._jobs._waiting:  # noqa: ASYNC110, SLF001
                await asyncio.sleep(0.05)
            row = await desk.run(run.id)
            if row.state in ("queued", "running"):
                raise GeosleuthError("the run waits for room on the disk")
            if row.state == "failed" and "disk is full" in (row.trouble or ""):
                raise GeosleuthError(row.trouble)
            return "" if row.state == "done" else f"the run is {row.state}: {row.trouble}"

    return lambda disk: asyncio.run(asyncio.wait_for(go(disk), 120))


def training_on(folder: Path) -> Callable[[Path], str]:
    """A training of two steps, as the command does it."""
    from geosleuth.lab.cli.handlers.train import plain_ends
    from geosleuth.lab.train.sft import run_sft
    from tiny_vlm import tiny_vlm_folder
    from training_runs import recipe, short_store

    store, model = short_store(folder / "store", 5), tiny_vlm_folder()
    plan = recipe(model, store, optim={"epochs": 1.0}, data={"limit": 3}, model={"tuned": "full"})

    def train(disk: Path) -> str:
        with plain_ends(disk / "run"):
            done = run_sft(plan, disk / "run")
        return "" if done.complete and (disk / "run" / "policy" / "model.safetensors").is_file() else "no policy"

    return train


def in_mounts(only: str | None) -> None:
    """Fill disks; prints what came of it as one line of JSON."""
    import torch

    from geosleuth.photo.runtime import no_probing

    torch.set_num_threads(1)
    tally = Tally("full disk")
    with tempfile.TemporaryDirectory() as name, no_probing():
        folder = Path(name)
        (folder / "disk").mkdir()
        for kind, (do, sizes) in disk_work(folder).items():
            if only not in (None, kind):
                continue
            began = time.monotonic()
            full = fitted = 0
            said: Counter[str] = Counter()
            for size in sizes:
                (folder / "told.json").unlink(missing_ok=True)
                came = filled(kind, size, folder / "disk", do, tally)
                fitted += came == "fitted"
                full += came != "fitted"
                said[came.rpartition(": ")[2][:60]] += came != "fitted"
                if fitted >= 3 or len(tally.broken) > 10:
                    break
            tally.figures[kind] = {"full disks": full, "seconds": round(time.monotonic() - began)}
            tally.must(fitted > 0, f"{kind}: no disk was large enough, so not every write was reached")
            print(kind, tally.figures[kind], dict(said.most_common(4)), file=sys.stderr, flush=True)
    print(json.dumps({"figures": tally.figures, "broken": tally.broken[:20]}))


def main() -> int:
    """Do the parts that are asked for; 1 where something does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=["services", "kills", "disk", []], metavar="PART")
    parser.add_argument("--runs", type=int, default=500, help="benchmark runs with failing services")
    parser.add_argument(
        "--kills", type=int, default=200, help="kills in all: half benchmark, 3 of 10 service, the rest training"
    )
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--in-mounts", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", help="of the full disks, only this one")
    given = parser.parse_args()
    if given.in_mounts:
        in_mounts(given.only)
        return 0
    ensure_base()
    benches, services = round(given.kills * 0.65), round(given.kills * 0.2)
    parts: dict[str, list[Callable[[], Tally]]] = {
        "services": [lambda: failing_services(given.runs, given.seed)],
        "kills": [
            lambda: killed_benches(benches, given.seed),
            lambda: killed_services(services, given.seed),
            lambda: killed_trainings(given.kills - benches - services, given.seed),
        ],
        "disk": [lambda: full_disks(given.only)],
    }
    found = []
    for name in given.parts or parts:
        for part in parts[name]:
            began = time.monotonic()
            tally = part()
            tally.seconds = round(time.monotonic() - began, 1)
            found.append(tally)
            if not given.json:
                print(f"{tally.part}: {tally.seconds:.0f} s", flush=True)
                for key, value in tally.figures.items():
                    print(f"  {key}: {value}")
                for words in tally.broken[:20]:
                    print(f"  BROKEN: {words}", flush=True)
    if given.json:
        print(json.dumps([vars(tally) for tally in found]))
    return int(any(tally.broken for tally in found))


if __name__ == "__main__":
    sys.exit(main())
