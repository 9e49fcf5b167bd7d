"""How late readers hear of what happens when many watch at once: `geosleuth serve`, 200 streams, replayed runs.

    python benchmarks/serve.py [--streams N] [--runs N] [--turns N] [--workers N] [--json] [--check]

A server is started as users start it, with a folder of cases of its own. Recorded runs are queued, every stream is
opened over its own connection, spread evenly over the runs, and read by one client process. Each event carries the
time at which the worker emitted it; what passes until the client has it is the added latency: worker to server,
database, stream, socket. Only events emitted after all streams stood are counted: how fast old ones are caught up with
is another question. Afterwards every stream must have every event of its run, in order, just once. `--check` exits with
1 where the 99th percentile is over what we promise, or where anything is missing.
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
        "machine": {"arch": platform.machine(), "cpus": os.cpu_count(), "python": platform.python_version()},
        "load": os.getloadavg()[0],
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


def main() -> None:
    """Measure, show, and judge where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = measure(options.streams, options.runs, options.turns, options.workers)
    if options.json:
        print(json.dumps(found))
    else:
        machine = found["machine"]
        print(f"{machine['arch']}, {machine['cpus']} CPUs, Python {machine['python']}, load {found['load']:.1f}")
        print(
            f"{found['streams']} streams on {found['runs']} runs of {found['events_of_a_run']} events, "
            f"{found['workers']} at once: {found['events_heard']:,} events heard, {found['events_counted']:,} counted"
        )
        print(
            f"added latency, ms: p50 {found['p50_ms']:.1f}, p95 {found['p95_ms']:.1f}, p99 {found['p99_ms']:.1f}, "
            f"worst {found['worst_ms']:.1f} (promised: p99 {PROMISED_P99_MS:g})"
        )
        print(f"streams that miss something: {found['streams_with_gaps']}")
    if options.check and not found["promise_kept"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
