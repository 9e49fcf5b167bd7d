"""A file from a real server on this machine: sizes, ranges, broken connections, wrong checksums, a full disk."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from extract_server import ExtractServer, extract_server
from geosleuth.atlas.extracts import Offer, ask_offer, check_room, delete_download, download
from geosleuth.atlas.online import OnlineClient, OnlineSettings
from geosleuth.support.errors import BadInput, ServiceFault

CONTENT = bytes(range(256)) * 2000  # 512,000 bytes
LATEST = "/europe/andorra-latest.osm.pbf"
T = TypeVar("T")


@pytest.fixture
def server() -> Iterator[ExtractServer]:
    with extract_server() as made:
        made.offer("europe/andorra", CONTENT)
        yield made


@pytest.fixture
def client(tmp_path: Path) -> OnlineClient:
    here = frozenset({"127.0.0.1"})
    return OnlineClient(
        OnlineSettings(
            allow_hosts=here, private_hosts=here, tries=3, backoff_s=0.01, cache_path=tmp_path / "answers.sqlite"
        )
    )


def closing(client: OnlineClient, question: Coroutine[Any, Any, T]) -> T:
    async def whole() -> T:
        async with client:
            return await question

    return asyncio.run(whole())


def offer_of(client: OnlineClient, server: ExtractServer, *, checked: bool = True) -> Offer:
    return closing(client, ask_offer(client, server.url + LATEST, checked=checked))


def fetch(client: OnlineClient, offer: Offer, path: Path) -> list[int]:
    told: list[int] = []
    closing(client, download(client, offer, path, lambda done, _total: told.append(done)))
    return told


def test_the_server_is_asked_for_size_day_and_checksum_before_anything_is_fetched(
    client: OnlineClient, server: ExtractServer
) -> None:
    offer = offer_of(client, server)
    assert (offer.size_bytes, offer.day, offer.host) == (len(CONTENT), "2026-11-16", "127.0.0.1")
    assert offer.md5 is not None
    assert server.bodies_asked() == []


def test_a_file_comes_whole_and_tells_how_far_it_is(
    client: OnlineClient, server: ExtractServer, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "a.osm.pbf"
    told = fetch(client, offer_of(client, server), path)
    assert path.read_bytes() == CONTENT
    assert told == sorted(told)
    assert told[-1] == len(CONTENT)
    delete_download(path)
    assert list(path.parent.iterdir()) == []


def test_a_latest_file_that_is_redirected_is_the_dated_one_to_the_end(
    client: OnlineClient, server: ExtractServer, tmp_path: Path
) -> None:
    dated = "/europe/andorra-261115.osm.pbf"
    server.files[dated] = CONTENT
    server.files[f"{dated}.md5"] = server.files[f"{LATEST}.md5"]
    server.offer("europe/andorra", b"tomorrow's")
    server.redirects[LATEST] = dated
    offer = offer_of(client, server)
    assert (offer.url, offer.day) == (server.url + dated, "2026-11-15")
    del server.redirects[LATEST]
    fetch(client, offer, tmp_path / "a.osm.pbf")
    assert (tmp_path / "a.osm.pbf").read_bytes() == CONTENT


def test_a_connection_that_breaks_is_taken_up_where_it_broke(
    client: OnlineClient, server: ExtractServer, tmp_path: Path
) -> None:
    server.cuts = [100_000, 50_000, 1, None]
    fetch(client, offer_of(client, server), tmp_path / "a.osm.pbf")
    assert (tmp_path / "a.osm.pbf").read_bytes() == CONTENT
    assert server.bodies_asked() == ["", "bytes=100000-", "bytes=150000-", "bytes=150001-"]


def test_what_a_run_left_is_taken_up_by_the_next_one(
    client: OnlineClient, server: ExtractServer, tmp_path: Path
) -> None:
    server.cuts = [100_000, 0, 0, None]
    path = tmp_path / "a.osm.pbf"
    with pytest.raises(ServiceFault, match=r"cut short.* \(tried 3 times\); 100 KB of 512 KB are downloaded") as broken:
        fetch(client, offer_of(client, server), path)
    assert str(broken.value).isprintable()
    assert path.read_bytes() == CONTENT[:100_000]
    fetch(client, offer_of(client, server), path)
    assert path.read_bytes() == CONTENT
    assert server.bodies_asked()[-1] == "bytes=100000-"


@pytest.mark.parametrize(
    ("misbehave", "said"),
    [
        ({"cuts": [1] * 1_000}, r"its answer was cut short \(tried 3 times\); 1 KB of 512 KB are downloaded"),
        ({"cuts": [100_000, *[1] * 1_000]}, r"its answer was cut short \(tried 3 times\); 100 KB of 512 KB"),
        ({"drip_s": 0.01}, r"sends less than 30 KB in 0.3 s \(tried 3 times\); 1 KB of 512 KB are downloaded"),
    ],
    ids=["one byte", "later", "drip"],
)
def test_a_server_that_hardly_sends_anything_is_left_and_resumed(
    client: OnlineClient, server: ExtractServer, tmp_path: Path, misbehave: dict[str, Any], said: str
) -> None:
    client.settings = replace(client.settings, slow_s=0.3)
    offer, path = offer_of(client, server), tmp_path / "a.osm.pbf"
    vars(server).update(misbehave)
    with pytest.raises(ServiceFault, match=said + ".*run the same command again to resume"):
        fetch(client, offer, path)
    arrived = path.stat().st_size
    assert 0 < arrived < 110_000
    server.cuts, server.drip_s = [], 0.0
    fetch(client, offer, path)
    assert path.read_bytes() == CONTENT
    assert server.bodies_asked()[-1] == f"bytes={arrived}-"


def test_of_a_file_that_has_changed_nothing_old_is_kept(
    client: OnlineClient, server: ExtractServer, tmp_path: Path
) -> None:
    path, newer = tmp_path / "a.osm.pbf", CONTENT[::-1]
    server.cuts = [100_000, 0, 0]
    with pytest.raises(ServiceFault):
        fetch(client, offer_of(client, server), path)
    server.offer("europe/andorra", newer)
    fetch(client, offer_of(client, server), path)
    assert path.read_bytes() == newer
    assert server.bodies_asked()[-1] == ""


def test_a_file_that_changes_while_it_comes_is_noticed(
    client: OnlineClient, server: ExtractServer, tmp_path: Path
) -> None:
    path = tmp_path / "a.osm.pbf"
    offer = offer_of(client, server)
    server.cuts = [100_000, None]
    server.offer("europe/andorra", CONTENT[::-1])  # by the time the connection broke, another day's
    with pytest.raises(ServiceFault, match=r"checksum of andorra-latest.osm.pbf is wrong"):
        fetch(client, offer, path)
    assert list(tmp_path.glob("a.*")) == []


def test_a_server_without_ranges_or_validators_starts_anew(
    client: OnlineClient, server: ExtractServer, tmp_path: Path
) -> None:
    server.has_ranges, server.cuts = False, [100_000, None]
    fetch(client, offer_of(client, server), tmp_path / "a.osm.pbf")
    server.has_ranges, server.headers = True, {"etag": "", "last-modified": ""}
    server.cuts = [100_000, 0, 0]
    with pytest.raises(ServiceFault):
        fetch(client, offer_of(client, server), tmp_path / "b.osm.pbf")
    fetch(client, offer_of(client, server), tmp_path / "b.osm.pbf")
    assert server.bodies_asked()[-1] == ""
    assert (tmp_path / "a.osm.pbf").read_bytes() == (tmp_path / "b.osm.pbf").read_bytes() == CONTENT


def test_a_file_that_is_gone_is_named(client: OnlineClient, server: ExtractServer, tmp_path: Path) -> None:
    offer = offer_of(client, server)
    del server.files[LATEST]
    with pytest.raises(ServiceFault, match=r"^127.0.0.1: has no /europe/andorra-latest.osm.pbf$"):
        fetch(client, offer, tmp_path / "a.osm.pbf")
    with pytest.raises(ServiceFault, match=r"^127.0.0.1: has no /europe/andorra-latest.osm.pbf$"):
        offer_of(client, server)


def test_a_wrong_checksum_leaves_nothing(client: OnlineClient, server: ExtractServer, tmp_path: Path) -> None:
    server.offer("europe/andorra", CONTENT, checksum="f" * 32)
    with pytest.raises(ServiceFault, match=r"checksum of andorra-latest.osm.pbf is wrong, so the download was deleted"):
        fetch(client, offer_of(client, server), tmp_path / "a.osm.pbf")
    assert list(tmp_path.glob("a.*")) == []


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"content-range": "bytes 0-511999/512000"}, "another part of the file"),
        ({"content-range": "bytes 100000-511999/999999"}, "another part of the file"),
        ({"content-range": "nonsense"}, "another part of the file"),
        ({"content-encoding": "gzip"}, "in a compression that was not requested"),
    ],
)
def test_answers_that_are_not_what_was_asked_for_are_refused(
    client: OnlineClient, server: ExtractServer, tmp_path: Path, headers: dict[str, str], said: str
) -> None:
    offer = offer_of(client, server)
    server.cuts = [100_000, 0, 0]
    with pytest.raises(ServiceFault):
        fetch(client, offer, tmp_path / "a.osm.pbf")
    server.headers = headers
    with pytest.raises(ServiceFault, match=said):
        fetch(client, offer, tmp_path / "a.osm.pbf")


def test_more_than_was_announced_is_not_written(client: OnlineClient, server: ExtractServer, tmp_path: Path) -> None:
    offer = replace(offer_of(client, server), size_bytes=1000)
    server.headers = {"content-length": "", "connection": "close"}
    server.cuts = [200_000]
    with pytest.raises(ServiceFault, match="sends more than the 1 KB it announced"):
        fetch(client, offer, tmp_path / "a.osm.pbf")
    assert (tmp_path / "a.osm.pbf").stat().st_size == 0


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"content-length": "999999999999999999"}, "more than any map"),
        ({"content-length": "0"}, "does not say how large"),
    ],
)
def test_absurd_sizes_are_refused(
    client: OnlineClient, server: ExtractServer, headers: dict[str, str], said: str
) -> None:
    server.headers = headers
    with pytest.raises(ServiceFault, match=said):
        offer_of(client, server)
    assert server.bodies_asked() == []


@pytest.mark.parametrize("content", [b"", b"<html>no such file</html>", b"z" * 32, b"a" * 31, None])
def test_without_a_checksum_nothing_is_fetched(
    client: OnlineClient, server: ExtractServer, content: bytes | None
) -> None:
    if content is None:
        del server.files[f"{LATEST}.md5"]
    else:
        server.files[f"{LATEST}.md5"] = content
    with pytest.raises(ServiceFault, match="checksum"):
        offer_of(client, server)
    assert offer_of(client, server, checked=False).md5 is None


@pytest.mark.parametrize(
    "location", ["https://evil.example/x.osm.pbf", "http://localhost:1/x.osm.pbf", "//10.0.0.1/x.osm.pbf", "file:///x"]
)
def test_redirects_to_other_hosts_are_refused(client: OnlineClient, server: ExtractServer, location: str) -> None:
    server.redirects[LATEST] = location
    with pytest.raises(ServiceFault, match="redirects to"):
        offer_of(client, server)


def test_two_at_once_do_not_write_into_one_file(client: OnlineClient, server: ExtractServer, tmp_path: Path) -> None:
    from geosleuth.support.files import lock_file

    path = tmp_path / "a.osm.pbf"
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        assert lock_file(handle)
        with pytest.raises(BadInput, match=r"another process is downloading a.osm.pbf"):
            fetch(client, offer_of(client, server), path)
    finally:
        os.close(handle)


def test_a_disk_without_room_is_refused_beforehand(tmp_path: Path) -> None:
    check_room({tmp_path / "not" / "there": 1, tmp_path: 1})
    with pytest.raises(BadInput, match=r"this needs 20,000,000 GB on the disk of .* free; make room"):
        check_room({tmp_path / "a": 10**16, tmp_path / "b": 10**16})


@contextmanager
def files_up_to(size_bytes: int) -> Iterator[None]:
    """No file of this process may grow beyond: writing fails as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_disk_that_gets_full_leaves_nothing_half(client: OnlineClient, server: ExtractServer, tmp_path: Path) -> None:
    offer = offer_of(client, server)
    with files_up_to(200_000), pytest.raises(BadInput, match=r"the download can't be kept there: .*; it needs 512 KB"):
        fetch(client, offer, tmp_path / "a.osm.pbf")
    assert list(tmp_path.glob("a.*")) == []


def test_what_nobody_came_back_for_is_swept_up(client: OnlineClient, server: ExtractServer, tmp_path: Path) -> None:
    for name in ("old.osm.pbf", "old.osm.pbf.json"):
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (0, 0))
    fetch(client, offer_of(client, server), tmp_path / "a.osm.pbf")
    assert not list(tmp_path.glob("old.*"))


_KILLED = """
import asyncio, sys
from pathlib import Path
from geosleuth.atlas.extracts import ask_offer, download
from geosleuth.atlas.online import OnlineClient, OnlineSettings
here = frozenset({"127.0.0.1"})
client = OnlineClient(OnlineSettings(allow_hosts=here, private_hosts=here, cache_path=Path(sys.argv[3])))
offer = asyncio.run(ask_offer(client, sys.argv[1]))
asyncio.run(download(client, offer, Path(sys.argv[2]), lambda done, total: done and print(done, flush=True)))
"""


def test_a_download_that_is_killed_is_taken_up(client: OnlineClient, server: ExtractServer, tmp_path: Path) -> None:
    path = tmp_path / "a.osm.pbf"
    words = [server.url + LATEST, str(path), str(tmp_path / "other.sqlite")]
    with subprocess.Popen([sys.executable, "-c", _KILLED, *words], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    before = path.stat().st_size
    assert before > 0
    fetch(client, offer_of(client, server), path)
    assert path.read_bytes() == CONTENT
    assert server.bodies_asked()[1:] == ([f"bytes={before}-"] if before < len(CONTENT) else [])
