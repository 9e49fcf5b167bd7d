"""What guards decide, one by one: names of hosts, origins, tokens, pace, bodies, keys."""

import asyncio
from typing import Any

import keyring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from geosleuth.server.http import Hosts, Keys, normalize_hosts
from geosleuth.server.http.auth import Sessions, check_host, check_origin
from geosleuth.server.http.limits import Bodies, Pace, Streams, identify_client
from geosleuth.server.http.responses import PAGE_POLICY, RequestRefused, with_online_tiles
from geosleuth.server.http.static_page import tile_origin
from geosleuth.support.errors import BadInput
from geosleuth.support.net import host_name


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("localhost:8711", "localhost"), ("LOCALHOST.", "localhost"), ("[::1]:80", "::1"), ("127.0.0.1", "127.0.0.1"),
        ("a@b", ""), ("a/b", ""), ("a?b", ""), ("", ""), ("a:b", ""), ("[::1", ""), ("a:99999999", ""),
        ("[::1].evil.example", ""), ("[::1]evil.example:80", ""),
    ],
)  # fmt: skip
def test_names_of_hosts_are_read_or_refused(given: str, name: str) -> None:
    assert host_name(given) == name


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:8711", "127.9.9.9", "[::1]:8711", "photos.example.org"])
def test_own_names_are_ours(host: str) -> None:
    check_host(Headers({"host": host}), Hosts(normalize_hosts(["Photos.Example.org"])))


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.9", "", "x@localhost"]
)
def test_other_names_are_not(host: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        check_host(Headers({"host": host}), Hosts())
    assert (refused.value.status_code, refused.value.kind) == (403, "host")


def test_beyond_loopback_addresses_are_ours_and_names_are_not() -> None:
    hosts = Hosts(by_address=True)
    assert hosts.ours("192.168.0.9:8711")
    assert hosts.ours("[fe80::1]:8711")
    assert not hosts.ours("evil.example")


def test_two_hosts_are_none() -> None:
    with pytest.raises(RequestRefused):
        check_host(Headers(raw=[(b"host", b"localhost"), (b"host", b"evil.example")]), Hosts())


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost:8711"},
        {"origin": "http://localhost:8711", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
def test_our_own_page_and_programs_may_change_things(headers: dict[str, str]) -> None:
    check_origin("POST", "/api/cases", Headers({"host": "localhost:8711", **headers}))


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "file://"},
        {"origin": "http://["},
        {"origin": "http://localhost:8711.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://localhost:8711", "sec-fetch-site": "cross-site"},
    ],
)
def test_pages_of_other_sites_may_not(headers: dict[str, str]) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        with pytest.raises(RequestRefused) as refused:
            check_origin(method, "/api/cases", Headers({"host": "localhost:8711", **headers}))
        assert (refused.value.status_code, refused.value.kind) == (403, "origin")


def test_pages_of_other_sites_may_link_here_and_read_nothing() -> None:
    linked = {"host": "localhost:8711", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    check_origin("GET", "/api/runs/x/files/html", Headers(linked))
    check_origin("GET", "/", Headers({**linked, "sec-fetch-mode": "no-cors"}))
    for path in ("/api/cases", "/tiles/0/0/0.mvt"):
        with pytest.raises(RequestRefused):
            check_origin("GET", path, Headers({**linked, "sec-fetch-mode": "no-cors"}))


def test_behind_an_encrypting_proxy_the_usual_port_is_the_same_as_none() -> None:
    check_origin("POST", "/api/cases", Headers({"host": "a.example:443", "origin": "https://a.example"}))
    with pytest.raises(RequestRefused):
        check_origin("POST", "/api/cases", Headers({"host": "a.example:80", "origin": "https://a.example"}))


def test_a_session_stands_for_the_token_and_can_be_closed() -> None:
    sessions = Sessions("a long enough token")
    assert sessions.admits("a long enough token")
    assert not sessions.admits("a long enough tokem")
    assert not Sessions(None).admits("")
    first = sessions.begin()
    assert "token" not in first
    assert sessions.holds(first)
    sessions.end(first)
    assert not sessions.holds(first)
    assert "long" not in repr(sessions)


def test_sessions_are_bounded() -> None:
    sessions = Sessions("a long enough token")
    made = [sessions.begin() for _ in range(1000)]
    held = [one for one in made if sessions.holds(one)]
    assert held == made[-len(held) :]
    assert 0 < len(held) < 500


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 3)), max_size=60))
def test_nobody_asks_faster_than_the_pace(asked: list[tuple[str, float]]) -> None:
    now = 0.0
    pace = Pace(2.0, 5.0, most_clients=8, clock=lambda: now)
    passed: dict[str, int] = {}
    for client, rest in asked:
        now += rest
        if pace.wait_s(client) == 0:
            passed[client] = passed.get(client, 0) + 1
    assert all(count <= 5 + 2 * now for count in passed.values())


def test_whoever_waits_as_long_as_was_said_comes_in() -> None:
    now = 0.0
    pace = Pace(2.0, 1.0, clock=lambda: now)
    assert pace.wait_s("a") == 0
    wait_s = pace.wait_s("a")
    assert wait_s == pytest.approx(0.5)
    now += wait_s
    assert pace.wait_s("a") == 0
    assert pace.wait_s("b") == 0


def test_a_million_clients_cost_no_more_than_a_few_thousand() -> None:
    pace = Pace(1.0, 1.0, most_clients=100)
    for number in range(5000):
        pace.wait_s(str(number))
    assert len(pace) == 100


@pytest.mark.parametrize(
    ("peer", "client"),
    [
        (("127.0.0.1", 5), "127.0.0.1"),
        (("::ffff:10.0.0.1", 5), "10.0.0.1"),
        (("2001:db8:1:2:3:4:5:6", 5), "2001:db8:1:2::/64"),
        (("2001:db8:1:2:ffff::1", 5), "2001:db8:1:2::/64"),
        (("unix", 0), "unix"),
        (None, ""),
    ],
)
def test_clients_are_told_apart_by_address(peer: tuple[str, int] | None, client: str) -> None:
    assert identify_client({"client": peer}) == client


def test_streams_are_counted_for_each_and_together() -> None:
    streams = Streams(each=1, together=2)
    with streams.one_more("a"), streams.one_more("b"):
        for client in ("a", "c"):
            with pytest.raises(RequestRefused) as refused, streams.one_more(client):
                pass
            assert refused.value.status_code == 429
    with streams.one_more("a"):
        pass


def body_through(pieces: list[bytes], *, announced: str | None, cap: int, piece_s: float = 5) -> tuple[int, int]:
    """Send a body through the guard: the status of the answer, and how many bytes the app was given."""
    taken, status = 0, 0
    waiting = iter(pieces)

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal taken
        more = True
        while more:
            message = await receive()
            taken += len(message["body"])
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Message:
        piece = next(waiting, None)
        if piece is None:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": piece, "more_body": piece != b""}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    headers = [] if announced is None else [(b"content-length", announced.encode())]
    scope: dict[str, Any] = {"type": "http", "path": "/x", "method": "POST", "headers": headers}

    async def go() -> None:
        nonlocal status
        try:
            await Bodies(app, most_bytes=lambda _: cap, piece_s=piece_s)(scope, receive, send)
        except RequestRefused as refused:
            status = refused.status_code

    asyncio.run(go())
    return status, taken


def test_bodies_are_taken_up_to_the_cap_and_cut_off_beyond_it() -> None:
    assert body_through([b"x" * 50, b"x" * 50, b""], announced=None, cap=100) == (200, 100)
    status, taken = body_through([*[b"x" * 60] * 1000, b""], announced=None, cap=100)
    assert status == 413
    assert taken <= 100
    assert body_through([b"x", b""], announced="101", cap=100) == (413, 0)
    assert body_through([b"x", b""], announced="9" * 5000, cap=100) == (413, 0)


def test_a_body_that_stops_coming_is_not_waited_for() -> None:
    assert body_through([b"x"], announced=None, cap=100, piece_s=0.05)[0] == 408


@pytest.mark.parametrize(
    ("template", "origin"),
    [
        ("https://tiles.example.org/{z}/{x}/{y}.png", "https://tiles.example.org"),
        ("http://127.0.0.1:8080/{z}/{x}/{y}.png", "http://127.0.0.1:8080"),
        ("http://tiles.example.org/{z}/{x}/{y}.png", ""),
        ("https://a.example; script-src */{z}", ""),
        ("https://a.example'/", ""),
        ("javascript:alert(1)//", ""),
        ("https://*/{z}", ""),
    ],
)
def test_only_an_address_gets_into_the_pages_policy(template: str, origin: str) -> None:
    assert tile_origin(template) == origin


def test_an_online_tile_source_is_the_one_host_more() -> None:
    policy = with_online_tiles(PAGE_POLICY, ("https://tiles.example.org",))
    assert "img-src 'self' https://tiles.example.org blob: data:" in policy
    assert "connect-src 'self' https://tiles.example.org" in policy
    assert policy.replace(" https://tiles.example.org", "") == PAGE_POLICY
    assert "script-src 'self';" in policy


class Ring(KeyringBackend):
    """A keyring in memory: a stand-in for the system's."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.held[service, username]


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    made = Ring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: made)
    return made


def where(keys: Keys, service: str) -> str | None:
    return next(one.where for one in keys.states() if one.service == service)


def test_a_key_in_memory_is_gone_with_the_process(ring: Ring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keys = Keys()
    keys.put("openai", " sk-secret ", "memory")
    assert keys.environment() == {"OPENAI_API_KEY": "sk-secret"}
    assert where(keys, "openai") == "memory"
    assert ring.held == {}
    assert "secret" not in repr(keys) + repr(keys.states())
    assert Keys().environment() == {}
    keys.forget("openai")
    assert where(keys, "openai") is None


def test_a_key_in_the_keyring_is_found_again_and_can_be_deleted(ring: Ring) -> None:
    Keys().put("anthropic", "sk-secret", "keyring")
    assert list(ring.held) == [("geosleuth", "anthropic")]
    keys = Keys()
    assert where(keys, "anthropic") == "keyring"
    assert keys.environment() == {"ANTHROPIC_API_KEY": "sk-secret"}
    keys.forget("anthropic")
    assert ring.held == {}
    assert where(Keys(), "anthropic") != "keyring"


def test_where_there_is_no_keyring_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", NoKeyring)
    keys = Keys()
    with pytest.raises(BadInput, match="this system has no keyring"):
        keys.put("openai", "sk-secret", "keyring")
    assert keys.environment() == {}


@pytest.mark.parametrize(("service", "key"), [("nobody", "x"), ("openai", " "), ("openai", "a\nb"), ("openai", "ключ")])
def test_what_is_no_key_is_refused(service: str, key: str) -> None:
    with pytest.raises(BadInput, match=r"no key|no service"):
        Keys().put(service, key, "memory")
