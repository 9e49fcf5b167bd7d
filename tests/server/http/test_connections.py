"""Connections that ask for nothing: they are few, they don't last, and nobody else notices them."""

import logging
import os
import resource
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from geosleuth.server.http.limits import HEAD_TIMEOUT_S, SparseLog, compute_connection_caps
from homes import home_with_base
from serving import GEOSLEUTH, Served, stop, url_of

DESCRIPTORS, SOCKETS = 256, 400
HALF = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Never"


@contextmanager
def poor_server(home: Path, log: Path) -> Iterator[Served]:
    """The command, with few descriptors and its log in a file."""
    words = shlex.join([str(GEOSLEUTH), "serve", "--port", "0", "--json"])
    with log.open("w") as written:
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"ulimit -n {DESCRIPTORS}; exec {words}"],
            env={**os.environ, "GEOSLEUTH_HOME": str(home)}, stdout=subprocess.PIPE, stderr=written, text=True,
        )  # fmt: skip
    try:
        served = Served(url_of(process), process)
        with served.client:
            yield served
    finally:
        stop(process)


def connected(stack: ExitStack, url: str, begin: bytes, source: str = "127.0.0.1") -> socket.socket:
    at = urlsplit(url)
    assert at.hostname
    assert at.port
    opened = stack.enter_context(socket.create_connection((at.hostname, at.port), 10, source_address=(source, 0)))
    opened.sendall(begin)
    return opened


def is_closed(one: socket.socket) -> bool:
    one.settimeout(0)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.fixture(scope="module")
def poor(tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Iterator[tuple[Served, Path]]:
    folder = tmp_path_factory.mktemp("poor")
    log = folder / "log"
    with poor_server(home_with_base(folder / "home", base_file), log) as server:
        yield server, log


@pytest.fixture(autouse=True)
def _many_files() -> Iterator[None]:
    """Descriptors enough for our own side of the connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * SOCKETS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * SOCKETS, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def answers(server: Served) -> None:
    """Ask as a new client does: on a connection of its own."""
    began = time.monotonic()
    with Served(server.url).client as client:
        assert client.get("/api/health").status_code == 200
        assert client.get("/api/cases").status_code == 200
    assert time.monotonic() - began < 30


@pytest.mark.slow
def test_half_sent_requests_keep_nobody_out_and_are_closed(poor: tuple[Served, Path]) -> None:
    server, log = poor
    with ExitStack() as stack:
        flood = [connected(stack, server.url, HALF) for _ in range(SOCKETS)]
        answers(server)
        assert sum(not is_closed(one) for one in flood) < DESCRIPTORS - 64
        # A byte now and then does not make the wait any longer.
        until = time.monotonic() + HEAD_TIMEOUT_S + 5
        while not all(map(is_closed, flood)) and time.monotonic() < until:
            for one in flood:
                with suppress(OSError):
                    one.send(b"a")
            time.sleep(1)
        assert all(map(is_closed, flood))
        answers(server)
    assert log.stat().st_size < 10_000, log.read_text()[:2000]


def test_connections_that_say_nothing_or_dawdle_over_a_body_keep_nobody_out(poor: tuple[Served, Path]) -> None:
    server, log = poor
    head = b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    body = head + b"Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{"
    with ExitStack() as stack:
        for begin in (b"", body):
            for _ in range(SOCKETS // 2):
                connected(stack, server.url, begin)
            answers(server)
    assert log.stat().st_size < 10_000, log.read_text()[:2000]


def test_one_address_leaves_room_for_others(poor: tuple[Served, Path]) -> None:
    server, _ = poor
    asks = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with ExitStack() as stack:
        other = connected(stack, server.url, HALF)
        flood = [connected(stack, server.url, HALF, "127.0.0.2") for _ in range(SOCKETS // 2)]
        answers(server)
        assert not is_closed(other)
        other.setblocking(True)
        other.sendall(b": 1\r\n\r\n" + asks)
        assert other.recv(1000).startswith(b"HTTP/1.1 200")
        kept = sum(not is_closed(one) for one in flood)
        assert kept == compute_connection_caps(DESCRIPTORS).each


def test_answers_that_nobody_reads_keep_nobody_out(poor: tuple[Served, Path]) -> None:
    server, _ = poor
    ask = b"GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(SOCKETS // 2):
            connected(stack, server.url, ask)
        answers(server)


def test_caps_leave_room_for_our_own_files() -> None:
    for descriptors in (64, 128, 256, 1024, 4096, 1_000_000):
        caps = compute_connection_caps(descriptors)
        assert 0 < caps.each < caps.together <= max(8, descriptors - 96)
    assert compute_connection_caps(None).together == 2048


@pytest.mark.slow
def test_a_flood_of_log_lines_is_cut_short(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("test.flood")
    logger.addFilter(SparseLog(per_minute=5))
    for number in range(1000):
        logger.error("line %d", number)
    assert [record.getMessage() for record in caplog.records] == [f"line {number}" for number in range(5)]
