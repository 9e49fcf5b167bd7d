"""Nothing leaves without the user's say, nobody leads a request astray, and keys show up nowhere."""

import asyncio
import logging
import pickle
import socket
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from geosleuth.atlas.online import OnlineClient, OnlineSettings, make_online
from geosleuth.atlas.online.access import check_addresses, key_from_environment
from geosleuth.atlas.online.http import ServiceRequest
from geosleuth.geo import LatLon
from geosleuth.pipeline.searches import online_settings
from geosleuth.support.errors import BadInput, Offline, ServiceFault

Settings = Callable[..., OnlineSettings]
ANYWHERE = LatLon(43.73, 7.42)


def ask(settings: OnlineSettings, url: str, **more: Any) -> Any:
    async def go() -> Any:
        async with OnlineClient(settings) as client:
            return await client.json(ServiceRequest(url=url, **more))

    return asyncio.run(go())


@pytest.mark.parametrize("name", ["nominatim", "photon", "overpass", "google", "amap", "opencage"])
def test_no_service_is_asked_before_its_host_is_named(name: str, tmp_path: Path) -> None:
    atlas = make_online(name, OnlineSettings(cache_path=tmp_path / "c"))
    call = atlas.nearby(ANYWHERE, 100) if name == "overpass" else atlas.reverse(ANYWHERE)
    with pytest.raises(BadInput, match=r"this would contact [a-z.-]+, which is not allowed; add --allow ") as caught:
        asyncio.run(call)
    assert {"nominatim": "nominatim.openstreetmap.org", "amap": "restapi.amap.com"}.get(name, "") in str(caught.value)


def test_a_cached_answer_needs_the_users_say_too(service: Any, settings: Settings) -> None:
    service.reply("/x", {"n": 1})
    ask(settings(), service.url + "/x", keep_s=60.0)
    with pytest.raises(BadInput, match="not allowed"):
        ask(settings(allow_hosts=frozenset()), service.url + "/x", keep_s=60.0)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://maps.example/x", "must be asked over https"),
        ("ftp://maps.example/x", "not a web address"),
        ("file:///etc/passwd", "not a web address"),
        ("maps.example/x", "not a web address"),
        ("https://me:secret@maps.example/x", "leave them out"),
        ("https://maps.example:99999/x", "not a web address"),
        ("https://evil.example\\@maps.example/x", "leave them out"),
    ],
)
def test_addresses_that_are_none_are_refused(url: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        ask(OnlineSettings(allow_hosts=frozenset({"maps.example"})), url)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",  # noqa: S104
            "224.0.0.1",
        ),
        *("::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "::"),
    ],
)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    with pytest.raises(ServiceFault, match="is not public"):
        check_addresses("maps.example", ["93.184.215.14", address], OnlineSettings())


def test_private_hosts_may_be_at_home_but_not_anywhere() -> None:
    named = OnlineSettings(private_hosts=frozenset({"Maps.Example."}))
    check_addresses("maps.example", ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "93.184.215.14"], named)
    for address in ("169.254.169.254", "0.0.0.0", "224.0.0.1", "fe80::1"):  # noqa: S104
        with pytest.raises(ServiceFault):
            check_addresses("maps.example", [address], named)


def test_a_loopback_service_must_be_named_private(service: Any, settings: Settings, monkeypatch: Any) -> None:
    service.reply("/x", {"n": 1})
    _resolve_to(monkeypatch, "127.0.0.1")
    chosen = settings(allow_hosts=frozenset({"maps.example"}), private_hosts=frozenset())
    with pytest.raises(ServiceFault, match=r"127\.0\.0\.1 is not public; .* private_hosts"):
        ask(chosen, f"https://maps.example:{service.port}/x")
    assert service.asked == []


def _resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Let every name lead to one address after another, as a rebinding name server would."""
    looked_up: list[str] = []

    def getaddrinfo(host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        address = addresses[min(len(looked_up), len(addresses) - 1)]
        looked_up.append(str(host))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return looked_up


def test_a_name_is_looked_up_once_and_the_checked_address_is_used(
    service: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.reply("/x", {"n": 1})
    looked_up = _resolve_to(monkeypatch, "127.0.0.1", "169.254.169.254")
    chosen = settings(allow_hosts=frozenset({"maps.example"}), private_hosts=frozenset({"maps.example"}))
    assert ask(chosen, f"http://maps.example:{service.port}/x") == {"n": 1}
    assert looked_up == ["maps.example"]
    assert service.last.headers["host"] == f"maps.example:{service.port}"


def test_tls_shows_the_name_and_not_the_address(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    hello = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            connection, _ = listener.accept()
            with connection:
                hello.extend(connection.recv(65536))

        thread = threading.Thread(target=listen)
        thread.start()
        port = listener.getsockname()[1]
        _resolve_to(monkeypatch, "127.0.0.1")
        chosen = settings(allow_hosts=frozenset({"maps.example"}), private_hosts=frozenset({"maps.example"}), tries=1)
        with pytest.raises(Offline):
            ask(chosen, f"https://maps.example:{port}/x")
        thread.join()
    assert b"maps.example" in hello


def test_a_name_that_leads_nowhere_means_offline(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: Any, **__: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    with pytest.raises(Offline, match="no such host"):
        ask(settings(allow_hosts=frozenset({"maps.example"}), tries=1), "https://maps.example/x")


def test_redirects_stay_with_their_host(service: Any, settings: Settings) -> None:
    service.reply("/old", (302, {"location": "/new?q=1"}, b""))
    service.reply("/new", {"n": 1})
    assert ask(settings(), service.url + "/old") == {"n": 1}
    assert service.last.params == {"q": "1"}


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("https://evil.example/x", "redirects to evil.example"),
        ("http://169.254.169.254/latest", "redirects to 169.254.169.254"),
        ("http://localhost/x", "redirects to localhost"),
        ("http://127.0.0.1:1/x", "redirects to 127.0.0.1"),
        ("http://me@127.0.0.1/x", "redirects to"),
        ("file:///etc/passwd", "redirects to nowhere"),
        ("//[::1]/x", "redirects to ::1"),
        ("http://127.0.0.1:999999/", "redirects to"),
        ("http://[bad/", "redirects to an invalid address"),
        ("//[::1", "redirects to an invalid address"),
        ("//\xbd.example/", "redirects to"),
        ("http://127.0.0.1:x/", "redirects to an invalid address"),
        ("/" + "x" * 70_000, "invalid address|cut short"),
        ("http://xn--/", "redirects to"),
        ("http://127.0.0.1%00.evil.example/", "redirects to"),
        ("/loop", "redirects in circles"),
    ],
)
def test_redirects_elsewhere_are_not_followed(service: Any, settings: Settings, location: str, said: str) -> None:
    service.reply("/loop", (301, {"location": location}, b""))
    with pytest.raises(ServiceFault, match=said):
        ask(settings(), service.url + "/loop")


@pytest.mark.parametrize(
    "host",
    ["[bad", "a b", "a..b", "x" * 300, "[::1%25eth0]", "[v1.x]", "xn--\uffff", "\x00", "-", "%41", "１２７.0.0.1"],
)
def test_odd_spellings_of_a_host_are_typed_faults(host: str, settings: Settings, monkeypatch: Any) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", _no_such_name)
    spelled = {host, host.strip("[]"), host.lower()}
    chosen = settings(allow_hosts=frozenset(spelled), private_hosts=frozenset(spelled), tries=1)
    for scheme in ("http", "https"):
        with pytest.raises((BadInput, ServiceFault)):
            ask(chosen, f"{scheme}://{host}/x")


def _no_such_name(host: Any, *_: Any, **__: Any) -> list[Any]:
    str(host).encode("idna")  # as the real one does: it raises UnicodeError for names that are none
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("url", ["http://[bad/", "http://[bad/{z}/{x}/{y}", "http://\u2100/"])
def test_an_address_in_the_environment_that_is_none_is_one_line(url: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("GEOSLEUTH_PHOTON_URL", url)
    monkeypatch.setenv("GEOSLEUTH_MAP_TILES", url)
    with pytest.raises(BadInput, match="must be one such as https:"):
        asyncio.run(make_online("photon", online_settings(["a.example"])).geocode("Monaco"))


def test_missing_keys_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wanted = {"google": "GOOGLE_MAPS_API_KEY", "amap": "AMAP_KEY", "opencage": "OPENCAGE_KEY"}
    for name, variable in wanted.items():
        monkeypatch.delenv(variable)
        with pytest.raises(BadInput, match=f"set the environment variable {variable}"):
            make_online(name, OnlineSettings(cache_path=tmp_path / "c"))
        monkeypatch.setenv(variable, "two words")
        with pytest.raises(BadInput, match=variable) as caught:
            make_online(name, OnlineSettings(cache_path=tmp_path / "c"))
        assert "two words" not in str(caught.value)


def test_a_key_does_not_show_itself() -> None:
    key = key_from_environment("AMAP_KEY", "AMAP")
    assert "sesame" not in f"{key!r} {key} {vars}"
    with pytest.raises(TypeError):
        pickle.dumps(key)
    echoed = f"bad key {key.reveal()} or {quote(key.reveal(), safe='')}"
    assert key.scrub(echoed) == "bad key [key] or [key]"


FAILURES: list[Any] = [
    (403, {"content-type": "text/plain"}, b"KEY is wrong"),
    (400, {"content-type": "application/json"}, b'{"error": {"message": "API key KEY not valid"}}'),
    (500, {}, b"KEY"),
    b"KEY is not JSON",
    [],
    {"status": "REQUEST_DENIED", "error_message": "The key KEY is invalid"},
    {"status": "0", "info": "INVALID_USER_KEY KEY", "infocode": "10001"},
    {"status": {"code": 401, "message": "invalid KEY"}, "results": []},
    (302, {"location": "https://evil.example/?key=KEY"}, b""),
    lambda _: None,
]


@pytest.mark.parametrize("reply", FAILURES)
@pytest.mark.parametrize(
    ("name", "variable"), [("google", "GOOGLE_MAPS_API_KEY"), ("amap", "AMAP_KEY"), ("opencage", "OPENCAGE_KEY")]
)
def test_keys_never_appear_in_messages_logs_or_the_cache(
    service: Any,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    name: str,
    variable: str,
    reply: Any,
) -> None:
    caplog.set_level(logging.DEBUG)
    key = key_from_environment(variable, name).reveal()
    if isinstance(reply, bytes):
        reply = reply.replace(b"KEY", key.encode())
    elif isinstance(reply, tuple):
        headers = {one: value.replace("KEY", quote(key)) for one, value in reply[1].items()}
        reply = (reply[0], headers, reply[2].replace(b"KEY", key.encode()))
    elif isinstance(reply, dict):
        reply = {one: value.replace("KEY", key) if isinstance(value, str) else value for one, value in reply.items()}
    service.reply("*", reply)
    chosen = settings(tries=2, cache_hours={name: 1.0})

    async def go() -> Any:
        async with make_online(name, chosen) as atlas:
            assert "sesame" not in repr(atlas) + repr(vars(atlas))
            with pytest.raises(ServiceFault) as caught:
                await atlas.geocode("Monaco")
            return caught.value

    error = asyncio.run(go())
    assert key in str(service.last.params) + str(service.last.headers), "the key did not reach the service"
    seen = "".join(traceback.format_exception(error)) + repr(error) + caplog.text + "".join(capsys.readouterr())
    chain: BaseException | None = error
    while chain is not None:
        seen += repr(vars(chain))
        chain = chain.__cause__ or chain.__context__
    for spelling in ("sesame", quote("sesame+")):
        assert spelling not in seen
    _assert_not_on_disk(chosen)


def test_an_answer_that_repeats_the_key_is_used_but_not_kept(service: Any, settings: Settings) -> None:
    key = key_from_environment("OPENCAGE_KEY", "").reveal()
    chosen = settings(cache_hours={"opencage": 1.0})
    result = {"formatted": "Monaco", "components": {"country_code": "mc"}, "geometry": {"lat": 43.7, "lng": 7.4}}

    async def go() -> int:
        async with make_online("opencage", chosen) as atlas:
            return len(await atlas.geocode("Monaco"))

    service.reply("*", {"results": [result], "request": {"key": key}, "status": {"code": 200}})
    assert [asyncio.run(go()), asyncio.run(go())] == [1, 1]
    assert len(service.asked) == 2, "it was kept"
    _assert_not_on_disk(chosen)
    service.reply("*", {"results": [result], "status": {"code": 200}})
    assert [asyncio.run(go()), asyncio.run(go())] == [1, 1]
    assert len(service.asked) == 3, "it was not kept"
    _assert_not_on_disk(chosen)


def _assert_not_on_disk(settings: OnlineSettings) -> None:
    assert settings.cache_path is not None
    for file in settings.cache_path.parent.glob("*") if settings.cache_path.parent.exists() else ():
        assert b"sesame" not in file.read_bytes()


def test_a_redirect_keeps_the_key_off_the_address(service: Any, settings: Settings, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    key = key_from_environment("AMAP_KEY", "").reveal()
    service.reply("/v3/geocode/geo", (302, {"location": f"/v4/geo?address=x&key={quote(key, safe='')}"}, b""))
    service.reply("/v4/geo", {"status": "1", "geocodes": []})

    async def go() -> None:
        async with make_online("amap", settings()) as atlas:
            assert await atlas.geocode("北京") == []

    asyncio.run(go())
    assert service.last.params == {"address": "x", "key": key}
    assert "sesame" not in caplog.text
