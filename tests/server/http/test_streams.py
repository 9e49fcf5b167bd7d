"""Streams of events over real sockets: coming back, leaving, dawdling, and stopping the server under them."""

import signal
import socket
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from serving import MOST_STREAMS, Served, photo_bytes, served, served_here, started, stop, url_of

TRIES, SOON_S = 3, 10.0
"""A promise about time is kept if it is kept once: machines that run tests do other things too."""


@pytest.fixture(scope="module")
def case(server: Served) -> str:
    return server.case(photo_bytes("Rue Grimaldi"))


def raw_stream(server: Served, run: str, *, buffer: int | None = None) -> socket.socket:
    """A stream that nobody reads yet."""
    parts = urlsplit(server.url)
    sock = socket.socket()
    if buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    sock.connect((parts.hostname, parts.port))
    sock.settimeout(30)
    sock.sendall(f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    status = sock.recv(12)
    if status != b"HTTP/1.1 200":
        sock.close()
        raise ConnectionRefusedError(status)
    return sock


def test_a_reader_who_comes_back_misses_nothing_and_hears_nothing_twice(
    server: Served, case: str, long_replayed: str
) -> None:
    run = server.start(case, model=long_replayed)
    seen: list[int] = []
    # Every stream is left after a few events, in the middle of the run.
    for _ in range(5):
        for count, told in enumerate(server.told(run, after=seen[-1] if seen else None)):
            seen.append(told.id)
            if count == 10:
                break
    seen += [told.id for told in server.told(run, after=seen[-1])]
    assert server.over(run) == "done"
    assert seen == list(range(len(seen)))
    assert [told.id for told in server.told(run)] == seen


@pytest.mark.slow
def test_many_readers_of_one_run_miss_nothing(server: Served, case: str, long_replayed: str) -> None:
    run = server.start(case, model=long_replayed)
    with ThreadPoolExecutor(20) as readers:
        heard = list(readers.map(lambda _: [told.id for told in server.told(run)], range(20)))
    assert len(heard[0]) > 200
    assert heard == [list(range(len(heard[0])))] * 20


def test_after_the_last_event_there_is_nothing_to_come_back_for(server: Served, case: str, replayed: str) -> None:
    run = server.start(case, model=replayed)
    last = [told.id for told in server.told(run)][-1]
    url = f"/api/runs/{run}/events"
    assert server.client.get(url, headers={"Last-Event-ID": str(last)}).status_code == 204
    assert server.client.get(url, params={"after": last}).status_code == 204
    assert server.client.get(url, params={"after": last - 1}).text.count("\ndata: ") == 1
    # The header is newer than the address, which a browser asks again and again.
    assert (
        server.client.get(url, params={"after": 0}, headers={"Last-Event-ID": str(last - 1)}).text.count("\ndata: ")
        == 1
    )
    assert server.client.get(url, headers={"Last-Event-ID": "x"}).status_code == 422


def test_a_closed_stream_does_not_stop_the_run(server: Served, case: str, long_replayed: str) -> None:
    run = server.start(case, model=long_replayed)
    for told in server.told(run):
        if told.kind == "said":
            break
    assert server.over(run) == "done"


def cancelled_s(server: Served, case: str, model: str) -> float:
    """Call a run off in its middle; how long that took."""
    run = server.start(case, model=model)
    for told in server.told(run):
        if told.kind == "observed":
            break
    began = time.monotonic()
    reply = server.client.post(f"/api/runs/{run}/cancel")
    took_s = time.monotonic() - began
    assert reply.json()["state"] == "cancelled"
    assert [one.data["state"] for one in server.told(run) if one.kind == "state"][-1] == "cancelled"
    return took_s


def test_a_cancel_stops_the_run_at_once(server: Served, case: str, long_replayed: str) -> None:
    assert cancelled_s(server, case, long_replayed) <= SOON_S


def all_places_free(server: Served, run: str) -> bool:
    """Whether as many streams can be opened as one client may have."""
    with ExitStack() as streams:
        try:
            for _ in range(MOST_STREAMS):
                streams.enter_context(raw_stream(server, run, buffer=1024))
        except ConnectionRefusedError:
            return False
    return True


def late_beside_one_who_does_not_read_s(server: Served, model: str) -> float:
    """How late a reader hears, in the middle of its events; the other is let go and comes back."""
    run = server.start(server.case(photo_bytes()), model=model)
    with raw_stream(server, run, buffer=1024) as slow:
        told = list(server.told(run))
        assert told[-1].data["state"] == "done"
        until = time.monotonic() + 30
        while not all_places_free(server, run):
            assert time.monotonic() < until, "it was not let go"
            time.sleep(0.2)
        # What it was sent until then is all there is.
        text = b""
        while piece := slow.recv(65536):
            text += piece
    assert b'"state":"done"' not in text
    seen = [int(line[4:]) for line in text.split(b"\n") if line.startswith(b"id: ")][:-1]
    seen += [one.id for one in server.told(run, after=seen[-1])]
    assert seen == [one.id for one in told]
    return statistics.median(one.came - one.at for one in told)


@pytest.mark.slow
def test_readers_who_do_not_read_hold_up_nobody_are_let_go_and_come_back(cramped: Served, wordy_replayed: str) -> None:
    assert any(late_beside_one_who_does_not_read_s(cramped, wordy_replayed) < 0.1 for _ in range(TRIES))


def test_streams_are_capped_and_places_become_free_again(cramped: Served, wordy_replayed: str) -> None:
    run = cramped.start(cramped.case(photo_bytes()), model=wordy_replayed)
    assert cramped.over(run) == "done"
    url = f"/api/runs/{run}/events"
    with ExitStack() as streams:
        # Streams of tests before may take a moment to be given up.
        with suppress(ConnectionRefusedError):
            for _ in range(MOST_STREAMS):
                streams.enter_context(raw_stream(cramped, run, buffer=1024))
        refused = cramped.client.get(url)
        assert refused.status_code == 429
        assert refused.json()["error"]["kind"] == "busy"
        assert int(refused.headers["retry-after"]) > 0
        until = time.monotonic() + 30
        while cramped.client.get(url).status_code == 429:
            assert time.monotonic() < until
            time.sleep(0.1)


@pytest.mark.slow
def test_silence_is_broken_by_heartbeats(cramped: Served, long_replayed: str) -> None:
    case = cramped.case(photo_bytes())
    first = cramped.start(case, model=long_replayed)
    waiting = cramped.start(case, model=long_replayed)
    beats = 0
    with cramped.client.stream("GET", f"/api/runs/{waiting}/events") as reply:
        for line in reply.iter_lines():
            beats += line == ": beat"
            if beats == 3:
                break
    assert beats == 3
    for run in (waiting, first):
        assert cramped.client.post(f"/api/runs/{run}/cancel").json()["state"] == "cancelled"


def test_ctrl_c_ends_the_server_at_once_though_streams_are_open(home: Path, tmp_path: Path, long_replayed: str) -> None:
    assert stopped_s(home, tmp_path, long_replayed) <= SOON_S


def test_ctrl_c_is_quiet_though_requests_wait(home: Path, tmp_path: Path) -> None:
    process = started(home, "--home", str(tmp_path))
    try:
        url = url_of(process)
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as waiting:
            # The server waits for a photo that never comes.
            waiting.sendall(
                f"POST /api/locate HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 9000\r\n"
                "Content-Type: application/octet-stream\r\n\r\nhalf".encode()
            )
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert told.splitlines() == [f"geosleuth serves at {url} (stop with Ctrl-C)"]


def stopped_s(home: Path, folder: Path, model: str) -> float:
    """Stop a server in the middle of a run that is watched; how long that took."""
    service = ("--home", str(folder))
    ended, some = threading.Event(), threading.Event()

    def watch() -> None:
        for told in server.told(run):
            if told.kind == "observed":
                some.set()
        ended.set()

    with served(home, *service) as server:
        run = server.start(server.case(photo_bytes()), model=model)
        threading.Thread(target=watch, daemon=True).start()
        assert some.wait(60)
        assert server.process is not None
        took_s = stop(server.process)
        assert server.process.returncode == 130
        assert ended.wait(10), "the stream was not closed"
    # The work is not lost: what was done so far is there, and can be continued.
    with served_here(folder) as server:
        assert server.state(run) == "interrupted"
        assert any(told.kind == "said" for told in server.told(run))
    return took_s
