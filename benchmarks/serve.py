"""How `geosleuth serve` bears load: many event streams, many cases, a long history.

    python benchmarks/serve.py [--what streams|cases|history] [--json] [--check]
        streams: [--streams N] [--runs N] [--turns N] [--workers N]    cases: [--cases N] [--run-every N]

A server is started as users start it, with a folder of cases of its own.

streams   Recorded runs are queued, every stream is opened over its own connection, spread evenly over the runs, and
          read by one client process. Each event carries the time at which the worker emitted it; what passes until the
          client has it is the added latency: worker to server, database, stream, socket. Only events emitted after all
          streams stood are counted: how fast old ones are caught up with is another question. Afterwards every stream
          must have every event of its run, in order, just once.
cases     So many cases, every so many of them with a photo and a replayed run; the server's resident memory, and that
          of all its processes, after a tenth of them and after all.
history   A thousand cases listed by one request, and a search through them.

The load average is printed beside the figures: on a busy machine they say how it was then. `--check` exits with 1 where
a promise is broken or anything is missing.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geosleuth.atlas.base import ensure_base

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from serving import Served, photo_bytes, recording, served

PROMISED_P99_MS = 50.0
SIZE = (1600, 1200)


@dataclass(slots=True)
class Reader:
    """One stream: what came, and how late."""

    run: str
    ids: list[int] = field(default_factory=list)
    late_ms: list[tuple[float, float]] = field(default_factory=list)
    over: bool = False


def queue_runs(server: Served, recorded: Path, count: int) -> list[str]:
    """Cases with a photo and a run each; one more goes before them and warms the worker up."""
    photo = photo_bytes("Rue Grimaldi", size=SIZE)

    def started() -> str:
        return server.start(server.case(photo), model=f"replay:{recorded}")

    server.over(started(), 300)
    return [started() for _ in range(count)]


async def read(url: str, reader: Reader, standing: asyncio.Semaphore) -> None:
    """Read one stream to its end over a socket of its own."""
    parts = urlsplit(url)
    incoming, outgoing = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        outgoing.write(f"GET /api/runs/{reader.run}/events HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        head = await incoming.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise SystemExit(f"a stream was refused: {head[:80]!r}")
        standing.release()
        at = 0.0
        while line := await incoming.readline():
            if line.startswith(b": at "):
                at = float(line[5:])
                reader.late_ms.append((at, (time.time() - at) * 1000))
            elif line.startswith(b"id: "):
                reader.ids.append(int(line[4:]))
            elif line == b"0\r\n":
                reader.over = True
                return
    finally:
        outgoing.close()


async def watch(url: str, runs: list[str], streams: int) -> tuple[list[Reader], float]:
    """All streams at once; what each heard, and when the last of them stood."""
    readers = [Reader(runs[number % len(runs)]) for number in range(streams)]
    standing = asyncio.Semaphore(0)
    stood = 0.0

    async def wait() -> None:
        nonlocal stood
        for _ in range(streams):
            await standing.acquire()
        stood = time.time()

    await asyncio.gather(wait(), *(read(url, reader, standing) for reader in readers))
    return readers, stood


def measure(streams: int, runs: int, turns: int, workers: int) -> dict[str, Any]:
    """Every figure of one measurement."""
    ensure_base()
    with tempfile.TemporaryDirectory() as name:
        recorded = recording(Path(name) / "recorded.jsonl", turns)
        with served(None, "--home", f"{name}/desk", "--workers", str(workers)) as server:
            started = queue_runs(server, recorded, runs)
            readers, stood = asyncio.run(watch(server.url, started, streams))
    late = sorted(ms for reader in readers for at, ms in reader.late_ms if at >= stood)
    events = {reader.run: len(reader.ids) for reader in readers}
    lost = sum(reader.ids != list(range(events[reader.run])) or not reader.over for reader in readers)
    uneven = len({(reader.run, len(reader.ids)) for reader in readers}) - len(events)
    p99 = late[int(0.99 * len(late))] if late else float("inf")
    return {
        **machine(),
        "streams": streams,
        "runs": runs,
        "workers": workers,
        "events_of_a_run": max(events.values()),
        "events_heard": sum(len(reader.ids) for reader in readers),
        "events_counted": len(late),
        "p50_ms": statistics.median(late) if late else None,
        "p95_ms": late[int(0.95 * len(late))] if late else None,
        "p99_ms": p99,
        "worst_ms": late[-1] if late else None,
        "streams_with_gaps": lost + uneven,
        "promised_p99_ms": PROMISED_P99_MS,
        "promise_kept": p99 <= PROMISED_P99_MS and not lost and not uneven,
    }


LISTED = 1000
PROMISED_LIST_S = 1.0
PROMISED_GROWTH = 1.15
"""Memory after all cases, at most, in shares of that after a tenth of them."""


def resident_mb(process: int) -> tuple[float, float]:
    """Resident memory of a process, and of it with all that it started, in megabytes."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(") ")[2].split()[1])
        except OSError:
            continue  # it has ended meanwhile
    family = {process}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    sizes = {one: _resident_mb(one) for one in family}
    return sizes[process], sum(sizes.values())


def _resident_mb(process: int) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def machine() -> dict[str, Any]:
    """What was measured on, and how busy it is."""
    return {
        "machine": {"arch": platform.machine(), "cpus": os.cpu_count(), "python": platform.python_version()},
        "load": os.getloadavg()[0],
    }


def measure_cases(cases: int, run_every: int) -> dict[str, Any]:
    """Memory over so many cases."""
    ensure_base()
    photo = photo_bytes("Rue Grimaldi", size=(320, 240))
    begin = time.monotonic()
    early = (0.0, 0.0)
    with tempfile.TemporaryDirectory() as name:
        recorded = recording(Path(name) / "recorded.jsonl", 2)
        with served(None, "--home", f"{name}/desk") as server:
            if server.process is None:
                raise SystemExit("the server has no process of its own")
            for number in range(1, cases + 1):
                worked_on = number % run_every == 0
                case = server.case(*([photo] if worked_on else []), title=f"case {number}")
                if worked_on:
                    server.over(server.start(case, model=f"replay:{recorded}"), 300)
                if number == max(1, cases // 10):
                    early = resident_mb(server.process.pid)
            late = resident_mb(server.process.pid)
    return {
        **machine(),
        "cases": cases,
        "runs": cases // run_every,
        "seconds": time.monotonic() - begin,
        "server_mb": [early[0], late[0]],
        "all_processes_mb": [early[1], late[1]],
        "promise_kept": late[0] <= PROMISED_GROWTH * early[0],
    }


def measure_history() -> dict[str, Any]:
    """A long list and a search through it."""
    with tempfile.TemporaryDirectory() as name, served(None, "--home", f"{name}/desk") as server:
        made = [server.case(title=f"case {number}") for number in range(LISTED)]
        seconds: dict[str, float] = {}
        rows: dict[str, list[str]] = {}
        for what, words in (("list", ""), ("search", "case 99")):
            begin = time.monotonic()
            reply = server.client.get("/api/cases", params={"query": words, "limit": LISTED})
            rows[what] = [row["id"] for row in reply.json()["cases"]]
            seconds[what] = time.monotonic() - begin
    return {
        **machine(),
        "cases": LISTED,
        "list_s": seconds["list"],
        "search_s": seconds["search"],
        "found": len(rows["search"]),
        "promise_kept": rows["list"] == made[::-1] and max(seconds.values()) <= PROMISED_LIST_S,
    }


def words_of(found: dict[str, Any], what: str) -> list[str]:
    """The figures of one measurement, for people."""
    about = found["machine"]
    head = f"{about['arch']}, {about['cpus']} CPUs, Python {about['python']}, load {found['load']:.1f}"
    if what == "cases":
        (early, late), (all_early, all_late) = found["server_mb"], found["all_processes_mb"]
        return [
            head,
            f"{found['cases']:,} cases, {found['runs']:,} with a photo and a run, in {found['seconds']:.0f} s",
            f"server: {early:.0f} MB after a tenth, {late:.0f} MB after all (promised: at most × {PROMISED_GROWTH:g})",
            f"all its processes: {all_early:.0f} MB, then {all_late:.0f} MB",
        ]
    if what == "history":
        return [
            head,
            f"{found['cases']:,} cases in one list: {1000 * found['list_s']:.0f} ms; a search that finds "
            f"{found['found']}: {1000 * found['search_s']:.0f} ms (promised: {PROMISED_LIST_S:g} s)",
        ]
    return [
        head,
        f"{found['streams']} streams on {found['runs']} runs of {found['events_of_a_run']} events, "
        f"{found['workers']} at once: {found['events_heard']:,} events heard, {found['events_counted']:,} counted",
        f"added latency, ms: p50 {found['p50_ms']:.1f}, p95 {found['p95_ms']:.1f}, p99 {found['p99_ms']:.1f}, "
        f"worst {found['worst_ms']:.1f} (promised: p99 {PROMISED_P99_MS:g})",
        f"streams that miss something: {found['streams_with_gaps']}",
    ]


def main() -> None:
    """Measure, show, and judge where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--what", choices=("streams", "cases", "history"), default="streams")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--run-every", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.what == "cases":
        found = measure_cases(options.cases, options.run_every)
    elif options.what == "history":
        found = measure_history()
    else:
        found = measure(options.streams, options.runs, options.turns, options.workers)
    print(json.dumps(found) if options.json else "\n".join(words_of(found, options.what)))
    if options.check and not found["promise_kept"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
