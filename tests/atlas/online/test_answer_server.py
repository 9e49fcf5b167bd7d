"""One process asks services for all workers: real processes and a real, faulty service on loopback."""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.atlas.online import OnlineClient, OnlineSettings, Recording
from geosleuth.atlas.online.answer_server import serving_answers
from geosleuth.atlas.online.http import ServiceRequest
from geosleuth.atlas.online.shared_record import announcement, ask_shared
from geosleuth.support.errors import BadInput, NotRecorded, ServiceFault
from geosleuth.tools.web import make_web
from no_sockets import no_sockets, tries
from search_server import KEY, Asked, SearchServer, serving, settings_for

WORKERS, QUERIES, EACH = 64, 40, 15


@pytest.fixture
def upstream() -> Iterator[SearchServer]:
    with serving() as server:
        yield server


def page(asked: Asked) -> dict[str, object]:
    query = asked.params["q"]
    return {"results": [{"title": query, "content": f"About {query}", "url": "https://example.org/"}]}


def shared(upstream: SearchServer, folder: Path, **changes: object) -> OnlineSettings:
    """What workers ask with."""
    return settings_for(upstream, folder, **{"record": Recording(folder / "answers.sqlite", shared=True), **changes})


def search(settings: OnlineSettings, query: str) -> str:
    """The title of what a worker finds."""
    (found,) = asyncio.run(make_web("searxng", settings).search(query, limit=1))
    return found.title


@pytest.mark.slow
def test_no_call_is_paid_twice_by_sixty_four_workers_with_faults(upstream: SearchServer, tmp_path: Path) -> None:
    lock, sent, answered = threading.Lock(), Counter[str](), Counter[str]()

    def faulty(asked: Asked) -> object:
        with lock:
            sent["all"] += 1
            if sent["all"] % 20 == 0:  # 5 %
                return 503, {}, b"busy"
            answered[asked.params["q"]] += 1
        return page(asked)

    upstream.answer("/search", faulty)
    settings = shared(upstream, tmp_path, tries=4)
    together = threading.Barrier(WORKERS)

    def work(number: int) -> list[bool]:
        wanted = random.Random(number).choices(range(QUERIES), k=EACH)
        together.wait()
        return [search(settings, f"shop {one}") == f"shop {one}" for one in wanted]

    with serving_answers(settings, tmp_path / "answers.sqlite") as server, ThreadPoolExecutor(WORKERS) as pool:
        assert all(fine for found in pool.map(work, range(WORKERS)) for fine in found)
        counts = server.counts()
    assert set(answered.values()) == {1}, "each call is answered, and paid, once"
    faults = sent["all"] - len(answered)
    assert faults > 0
    assert counts["asked"] == WORKERS * EACH
    assert counts["sent"] == sent["all"] == len(answered) + faults
    assert counts["kept"] + counts["joined"] + len(answered) == WORKERS * EACH
    assert (counts.get("failed", 0), counts["inexact"]) == (0, 0)
    assert not announcement(tmp_path / "answers.sqlite").exists()


WORKER = """
import asyncio, json, sys
from pathlib import Path
from geosleuth.atlas.online import OnlineSettings, Recording
from geosleuth.support.errors import NotRecorded
from geosleuth.tools.web import make_web

url, path, only, *queries = sys.argv[1:]
settings = OnlineSettings(
    allow_hosts=frozenset({"127.0.0.1"}), private_hosts=frozenset({"127.0.0.1"}), base_urls={"searxng": url},
    record=Recording(Path(path), only=only == "only", shared=True),
)
web = make_web("searxng", settings)
for query in queries:
    try:
        print(json.dumps([one.title for one in asyncio.run(web.search(query))]), flush=True)
    except NotRecorded as error:
        print(error, flush=True)
"""


def worker(upstream: SearchServer, folder: Path, *words: str, env: dict[str, str] | None = None) -> str:
    """What a process of its own prints."""
    command = [sys.executable, "-c", WORKER, upstream.url, str(folder / "answers.sqlite"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_rerun_opens_no_socket_and_names_what_it_lacks(upstream: SearchServer, tmp_path: Path) -> None:
    upstream.answer("/search", page)
    with serving_answers(shared(upstream, tmp_path), tmp_path / "answers.sqlite"):
        assert worker(upstream, tmp_path, "ask", "Bar Tino") == '["Bar Tino"]\n'
    silent = no_sockets(tmp_path)
    first, second = worker(upstream, tmp_path, "only", "Bar Tino", "Bar Nino", env=silent).splitlines()
    assert first == '["Bar Tino"]'
    assert f"holds no answer to GET {upstream.url}/search?q=Bar+Nino" in second
    assert "(key " in second
    assert tries(tmp_path) == ""
    assert [one.params["q"] for one in upstream.asked] == ["Bar Tino"]


def test_failures_are_counted_and_asked_again_but_never_kept_as_answers(upstream: SearchServer, tmp_path: Path) -> None:
    down: object = (503, {}, b"down")
    upstream.answer("/search", down, down, page)
    settings, path = shared(upstream, tmp_path, tries=2), tmp_path / "answers.sqlite"
    rerun = replace(settings, record=Recording(path, only=True, shared=True))
    with serving_answers(settings, path) as server:
        with pytest.raises(ServiceFault, match="tried 2 times") as failed:
            search(settings, "Bar Tino")
        with pytest.raises(ServiceFault) as repeated:
            search(rerun, "Bar Tino")
        assert repeated.value.trouble == failed.value.trouble, "a rerun meets the failure that the run met"
        assert search(settings, "Bar Tino") == "Bar Tino"
        counts = server.counts()
    assert (counts["sent"], counts["failed"], counts["inexact"]) == (3, 1, 1)
    assert search(rerun, "Bar Tino") == "Bar Tino"


def test_an_answer_that_says_that_the_service_failed_is_asked_for_again_within_limits(
    upstream: SearchServer, tmp_path: Path
) -> None:
    settings = shared(upstream, tmp_path, tries=3)
    question = ServiceRequest(url=f"{upstream.url}/status")

    def decode(body: bytes) -> str:
        if json.loads(body)["status"] != "OK":
            raise ServiceFault("127.0.0.1", "is over its quota", retryable=True)
        return "fine"

    client = OnlineClient(settings)
    over, well = {"status": "OVER"}, {"status": "OK"}
    with serving_answers(settings, tmp_path / "answers.sqlite"):
        upstream.answer("/status", over, over, well)
        assert asyncio.run(client.ask(question, decode)) == "fine"
        assert len(upstream.asked) == 3
        upstream.answer("/status", over)
        other = replace(question, params=(("again", "1"),))
        for _ in range(2):
            with pytest.raises(ServiceFault, match="over its quota"):
                asyncio.run(client.ask(other, decode))
    assert len(upstream.asked) == 6, "three times, however often it is asked for"


def test_an_answer_that_nobody_waited_for_is_kept_and_noted(upstream: SearchServer, tmp_path: Path) -> None:
    ready = threading.Event()

    def slow(asked: Asked) -> object:
        ready.wait(30)
        return page(asked)

    upstream.answer("/search", slow)
    settings = shared(upstream, tmp_path)

    async def impatient() -> None:
        await asyncio.wait_for(make_web("searxng", settings).search("Bar Tino"), 1.0)

    with serving_answers(settings, tmp_path / "answers.sqlite") as server:
        with pytest.raises(TimeoutError):
            asyncio.run(impatient())
        for _ in range(600):
            if (tmp_path / "answers.sqlite").exists():  # the failure is the first thing that is kept
                break
            threading.Event().wait(0.05)
        ready.set()
        assert search(settings, "Bar Tino") == "Bar Tino"
        counts = server.counts()
    assert (counts["sent"], counts["inexact"]) == (1, 1)


def test_keys_go_to_the_service_alone(upstream: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    upstream.answer("/search", {"results": [{"title": "Bar Tino", "content": "", "url": "https://example.org/"}]})
    settings = shared(upstream, tmp_path)
    with serving_answers(settings, tmp_path / "answers.sqlite"):
        (found,) = asyncio.run(make_web("tavily", settings).search("Bar Tino"))
    assert found.title == "Bar Tino"
    assert upstream.last.headers["authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in (tmp_path / "answers.sqlite").read_bytes()


def test_only_who_shows_the_token_is_answered(upstream: SearchServer, tmp_path: Path) -> None:
    upstream.answer("/search", page)
    settings, path = shared(upstream, tmp_path), tmp_path / "answers.sqlite"
    question = ServiceRequest(url=f"{upstream.url}/search", params=(("q", "Bar Tino"),)).to_wire()
    with serving_answers(settings, path):
        place = announcement(path)
        assert place.stat().st_mode & 0o777 == 0o600
        port = json.loads(place.read_text())["port"]
        for line in (json.dumps({"question": question, "token": "guess"}), json.dumps({"question": question}), "{", ""):
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(line.encode() + b"\n")
                assert stranger.makefile("rb").read() == b""
        assert upstream.asked == []
        with pytest.raises(BadInput, match="not allowed; add --allow example"):
            asyncio.run(
                OnlineClient(replace(settings, allow_hosts=frozenset({"example.org"}))).ask(
                    ServiceRequest(url="https://example.org/"), bytes
                )
            )
        with pytest.raises(BadInput, match="another run on this machine serves it"), serving_answers(settings, path):
            pass
        assert search(settings, "Bar Tino") == "Bar Tino"


def test_a_server_ends_with_whoever_started_it_and_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    code = (
        "import sys, time; from pathlib import Path; from geosleuth.atlas.online import OnlineSettings\n"
        "from geosleuth.atlas.online.answer_server import serving_answers\n"
        "if __name__ == '__main__':\n"
        "    with serving_answers(OnlineSettings(), Path(sys.argv[1])):\n"
        "        print('ready', flush=True); time.sleep(600)\n"
    )
    (tmp_path / "trains.py").write_text(code)
    with subprocess.Popen([sys.executable, tmp_path / "trains.py", path], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        server = json.loads(announcement(path).read_text())["pid"]
        parent.send_signal(signal.SIGKILL)
    for _ in range(600):
        if not announcement(path).exists():
            break
        threading.Event().wait(0.05)
    assert not announcement(path).exists()
    assert server != parent.pid
    with pytest.raises(NotRecorded, match="no process of this machine serves these answers"):
        asyncio.run(ask_shared(path, {"question": {}}, patience_s=0.2))
