"""The client against a server that misbehaves: pace, patience, the breaker, the cache, limits."""

import asyncio
import gzip
import json
import socket
import sqlite3
import time
from collections.abc import Callable
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from geosleuth import __version__
from geosleuth.atlas.online import OnlineClient, OnlineSettings
from geosleuth.atlas.online.cache import AnswerCache
from geosleuth.atlas.online.http import ServiceRequest
from geosleuth.support.errors import BadInput, Offline, ServiceFault

Settings = Callable[..., OnlineSettings]
OK = {"fine": True}
FAILED: tuple[int, dict[str, str], bytes] = (500, {}, b"")


def ask(settings: OnlineSettings, url: str, *, times: int = 1, **more: Any) -> list[Any]:
    """The answers to the same question asked several times at once; a fault stands for its answer."""

    async def go() -> list[Any]:
        async with OnlineClient(settings) as client:
            question = ServiceRequest(url=url, **more)
            return await asyncio.gather(*(client.json(question) for _ in range(times)), return_exceptions=True)

    return asyncio.run(go())


def fault(answers: list[Any]) -> ServiceFault:
    (answer,) = answers
    assert isinstance(answer, ServiceFault), answer
    return answer


def test_the_user_agent_names_the_program_and_a_contact(service: Any, settings: Settings) -> None:
    service.reply("/x", OK)
    ask(settings(contact="me@example.org"), service.url + "/x")
    ask(settings(), service.url + "/x")
    agents = [one.headers["user-agent"] for one in service.asked]
    assert agents == [f"geosleuth/{__version__} (+me@example.org)", f"geosleuth/{__version__}"]


def test_requests_to_one_host_keep_their_distance_across_tasks_and_clients(service: Any, settings: Settings) -> None:
    service.reply("/x", OK)
    paced = settings(spacing_s={"127.0.0.1": 0.15})
    ask(paced, service.url + "/x", times=3)
    ask(paced, service.url + "/x", times=2)
    moments = [one.at for one in service.asked]
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert len(moments) == 5
    assert min(gaps) > 0.08
    assert sum(gaps) > 0.55


def test_a_queue_that_is_too_long_is_refused(service: Any, settings: Settings) -> None:
    service.reply("/x", OK)
    answers = ask(settings(spacing_s={"127.0.0.1": 0.2}, queue_s=0.3), service.url + "/x", times=4)
    refused = [one for one in answers if isinstance(one, ServiceFault)]
    assert len(refused) == 2
    assert "wait for their turn" in str(refused[0])


def test_failures_are_tried_again_and_no_more_often_than_allowed(service: Any, settings: Settings) -> None:
    service.reply("/heals", FAILED, (503, {}, b""), OK)
    service.reply("/stays", FAILED)
    assert ask(settings(), service.url + "/heals") == [OK]
    assert len(service.asked) == 3
    trouble = fault(ask(settings(), service.url + "/stays"))
    assert len(service.asked) == 6
    assert trouble.retryable
    assert str(trouble) == "127.0.0.1: failed (status 500) (tried 3 times)"


def test_the_total_time_bounds_the_tries(service: Any, settings: Settings) -> None:
    service.reply("/x", FAILED)
    started = time.monotonic()
    fault(ask(settings(tries=1000, backoff_s=0.1, backoff_max_s=0.1, total_s=0.5), service.url + "/x"))
    assert time.monotonic() - started < 3
    assert 2 <= len(service.asked) <= 12


def test_a_request_that_is_refused_is_not_tried_again(service: Any, settings: Settings) -> None:
    service.reply("/x", (400, {"content-type": "text/plain"}, b"no \x1b[31mquery\n given"))
    trouble = fault(ask(settings(), service.url + "/x"))
    assert len(service.asked) == 1
    assert not trouble.retryable
    assert str(trouble) == '127.0.0.1: did not accept the request (status 400): "no [31mquery given"'


@pytest.mark.parametrize("as_date", [False, True])
def test_a_service_that_asks_to_wait_is_left_alone_so_long(service: Any, settings: Settings, as_date: bool) -> None:
    header = formatdate(time.time() + 2, usegmt=True) if as_date else "1"
    service.reply("/x", (429, {"retry-after": header}, b""), OK)
    assert ask(settings(), service.url + "/x") == [OK]
    first, second = (one.at for one in service.asked)
    assert second - first >= 0.9


def test_a_wait_longer_than_the_total_time_is_not_waited_for(service: Any, settings: Settings) -> None:
    service.reply("/x", (429, {"retry-after": "3600"}, b""))
    started = time.monotonic()
    trouble = fault(ask(settings(), service.url + "/x"))
    assert time.monotonic() - started < 5
    assert trouble.retryable
    assert "asks to wait 3600 s" in str(trouble)


def test_a_slow_service_is_given_up(service: Any, settings: Settings) -> None:
    service.reply("/x", lambda _: service.over.wait(5))
    trouble = fault(ask(settings(tries=2, read_s=0.25), service.url + "/x"))
    assert str(trouble) == "127.0.0.1: did not answer in time (tried 2 times)"


def test_a_service_that_trickles_is_given_up_at_the_total_time(service: Any, settings: Settings) -> None:
    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not service.over.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    service.reply("/x", trickle)
    started = time.monotonic()
    trouble = fault(ask(settings(total_s=0.6), service.url + "/x"))
    assert time.monotonic() - started < 4
    assert "did not answer in time" in str(trouble)


def _cut_short(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"half": ')


def _endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 65536)


_PACKED = gzip.compress(json.dumps(OK).encode())


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (_cut_short, "its answer was cut short (tried 3 times)"),
        (_endless, "its answer is longer than 100,000 bytes and was not read"),
        (b"[" + b"1," * 100_000 + b"1]", "its answer is longer than 100,000 bytes and was not read"),
        ((200, {"content-encoding": "gzip"}, gzip.compress(b" " * 50_000_000)), "longer than 100,000 bytes"),
        ((200, {"content-encoding": "gzip"}, _PACKED[:-9]), "its answer was cut short (tried 3 times)"),
        ((200, {"content-encoding": "gzip"}, b"{}"), "can't be decompressed (tried 3 times)"),
        ((200, {"content-encoding": "br"}, b"{}"), "in a compression that was not requested"),
        (b'{"half": ', "something that is not JSON"),
        (b"<html>Busy</html>", "something that is not JSON"),
        (b"", "something that is not JSON"),
        (b'{"x": NaN}', "something that is not JSON"),
        (b"\xff\xfe", "something that is not JSON"),
        (b"[" * 40_000, "something that is not JSON"),
        (b"[" * 60 + b"]" * 60, "nested too deep"),
    ],
)
def test_answers_that_are_none_raise_a_fault_that_names_the_host(
    service: Any, settings: Settings, reply: Any, said: str
) -> None:
    service.reply("/x", reply)
    trouble = fault(ask(settings(max_bytes=100_000), service.url + "/x", keep_s=60.0))
    assert str(trouble).startswith("127.0.0.1: ")
    assert said in str(trouble)
    service.reply("/x", OK)
    assert ask(settings(), service.url + "/x", keep_s=60.0) == [OK], "a broken answer was kept"


def test_nobody_listening_means_offline(settings: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        trouble = fault(ask(settings(tries=1), f"http://127.0.0.1:{port}/x"))
    assert isinstance(trouble, Offline)
    assert "can't be reached" in str(trouble)


def test_the_breaker_opens_lets_one_request_probe_and_closes(service: Any, settings: Settings) -> None:
    async def go() -> None:
        async with OnlineClient(settings(tries=1, breaker_failures=3, breaker_rest_s=0.5)) as client:
            question = ServiceRequest(url=service.url + "/x")

            async def fails(part: str) -> None:
                with pytest.raises(ServiceFault, match=part):
                    await client.json(question)

            service.reply("/x", FAILED)
            for _ in range(3):
                await fails("status 500")
            await fails("left alone")
            assert len(service.asked) == 3, "an open breaker lets nothing pass"

            await asyncio.sleep(0.55)
            answers = await asyncio.gather(*(client.json(question) for _ in range(5)), return_exceptions=True)
            assert len(service.asked) == 4, "half open, one request probes"
            assert sum("left alone" in str(one) for one in answers) == 4
            await fails("left alone")

            service.reply("/x", OK)
            await asyncio.sleep(0.55)
            for _ in range(3):
                assert await client.json(question) == OK
            assert len(service.asked) == 7

    asyncio.run(go())


def test_an_abandoned_probe_leaves_the_way_to_the_next(service: Any, settings: Settings) -> None:
    async def go() -> None:
        async with OnlineClient(settings(tries=1, breaker_failures=1, breaker_rest_s=0.05, read_s=5.0)) as client:
            question = ServiceRequest(url=service.url + "/x")
            service.reply("/x", FAILED, lambda _: service.over.wait(5), OK)
            with pytest.raises(ServiceFault):
                await client.json(question)
            await asyncio.sleep(0.1)
            probe = asyncio.create_task(client.json(question))
            await asyncio.sleep(0.1)
            probe.cancel()
            with pytest.raises(asyncio.CancelledError):
                await probe
            assert await client.json(question) == OK

    asyncio.run(go())


def test_an_answer_is_kept_until_it_expires(service: Any, settings: Settings) -> None:
    service.reply("/x", {"n": 1}, {"n": 2})
    more: dict[str, Any] = {"params": (("q", "Île"),), "keep_s": 1.0}
    assert ask(settings(), service.url + "/x", **more) == [{"n": 1}]
    assert ask(settings(), service.url + "/x", **more) == [{"n": 1}]
    assert len(service.asked) == 1
    time.sleep(1.05)
    assert ask(settings(), service.url + "/x", **more) == [{"n": 2}]


def test_the_cache_stays_within_its_bound_and_drops_the_oldest(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "c.sqlite", max_bytes=100_000)
    for number in range(60):
        cache.put(bytes([number]), bytes(4_000), 100)
    assert cache.get(bytes([59])) == bytes(4_000)
    assert cache.get(bytes([0])) is None
    held = [number for number in range(60) if cache.get(bytes([number]))]
    assert 5 <= len(held) <= 25
    assert held == list(range(held[0], 60))


@pytest.mark.slow
def test_several_writers_share_one_cache(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from geosleuth.atlas.online.cache import AnswerCache\n"
        "cache = AnswerCache(Path(sys.argv[1]), 10**7)\n"
        "for n in range(40): cache.put(f'{sys.argv[2]}{n}'.encode(), bytes(500), 100)\n"
    )
    path = tmp_path / "shared.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "ab"]
    assert [writer.wait(30) for writer in writers] == [0, 0]
    cache = AnswerCache(path, 10**7)
    assert all(cache.get(f"{name}{n}".encode()) == bytes(500) for name in "ab" for n in range(40))
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT bytes FROM total").fetchone() == (80 * 500,)
    connection.close()


def test_a_damaged_cache_is_thrown_away_and_none_breaks_nothing(service: Any, settings: Settings) -> None:
    service.reply("/x", {"n": 1}, {"n": 2}, {"n": 3})
    chosen = settings()
    path = chosen.cache_path
    assert path is not None
    path.parent.mkdir()
    path.write_bytes(b"not a database at all" * 100)
    assert ask(chosen, service.url + "/x", keep_s=60.0) == [{"n": 1}]
    assert ask(chosen, service.url + "/x", keep_s=60.0) in ([{"n": 1}], [{"n": 2}])
    count = len(service.asked)
    ask(chosen, service.url + "/x", keep_s=60.0)
    assert len(service.asked) == count, "the mended cache keeps answers again"
    blocked = settings(cache_path=path / "below" / "a" / "file.sqlite")
    assert "n" in ask(blocked, service.url + "/x", keep_s=60.0)[0]


def test_the_cache_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    AnswerCache(path, 10_000).put(b"k", b"v", 10)
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "change",
    [
        {"tries": 0},
        {"total_s": -1.0},
        {"read_s": float("nan")},
        {"spacing_s": {"a": -1.0}},
        {"cache_hours": {"a": float("inf")}},
        {"contact": "me\r\nX-Evil: 1"},
        {"language": "en&key=1"},
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=next(iter(change))):
        OnlineSettings(**change)
