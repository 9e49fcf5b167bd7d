"""When search services fail, and that their keys show up nowhere."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from PIL import Image

from geosleuth.atlas.online import OnlineSettings
from geosleuth.photo import Photo, first_view
from geosleuth.support.errors import BadInput, Offline, ServiceFault
from geosleuth.tools.web import IMAGE_NAMES, WEB_NAMES, Published, make_image_search, make_web
from search_server import KEY, VARIABLES, SearchServer, serving, settings_for

EVERYONE = (*WEB_NAMES, *IMAGE_NAMES)
PHOTO = Photo(Image.new("RGB", (64, 48), "#336699"))
HOST = "127.0.0.1"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchServer]:
    for variable in VARIABLES:
        monkeypatch.setenv(variable, KEY)
    with serving() as one:
        yield one


def search(name: str, settings: OnlineSettings) -> list[Any]:
    async def go() -> list[Any]:
        if name in WEB_NAMES:
            async with make_web(name, settings) as web:
                assert KEY not in repr(web) + repr(vars(web))
                return [*await web.search("yellow taxis")]
        published = [Published(PHOTO, "https://me.example/photo.jpg")] if name == "serper" else []
        async with make_image_search(name, settings, published=published) as images:
            assert KEY not in repr(images) + repr(vars(images))
            return [*await images.search(first_view(PHOTO))]

    return asyncio.run(go())


def answer_of(name: str, text: str) -> Any:
    """An answer in the service's shape whose one page repeats a text."""
    page = {"title": text, "name": text, "url": f"https://a.example/{quote(text, safe='')}", "content": text}
    page |= {"link": page["url"], "hostPageUrl": page["url"], "description": text}
    if name == "duckduckgo":
        return f'<a class="result__a" href="{page["url"]}">{text}</a><a class="result__snippet">{text}</a>'.encode()
    if name in WEB_NAMES:
        return {"results": {"web": [page]} if name == "you" else [page], "web": {"results": [page]}}
    return {"image_id": "abc", "visual_matches": [page], "organic": [page]}


@pytest.mark.parametrize("name", EVERYONE)
def test_a_refused_key_is_named_by_its_variable(name: str, server: SearchServer, tmp_path: Path) -> None:
    server.answer("*", (401, {"content-type": "application/json"}, f'{{"error": "bad key {KEY}"}}'.encode()))
    with pytest.raises(ServiceFault, match=r"127\.0\.0\.1: refused the request \(status 401\)") as caught:
        search(name, settings_for(server, tmp_path))
    assert not caught.value.retryable
    assert len(server.asked) == 1
    if name not in ("searxng", "duckduckgo"):
        assert KEY not in str(caught.value)
        assert "check the key in " in str(caught.value)
        assert "[key]" in str(caught.value)


@pytest.mark.parametrize("name", EVERYONE)
@pytest.mark.parametrize("status", [429, 500, 503])
def test_trouble_that_may_pass_is_tried_again(name: str, status: int, server: SearchServer, tmp_path: Path) -> None:
    server.answer("*", (status, {}, b""), answer_of(name, "Taxis"))
    found = search(name, settings_for(server, tmp_path, tries=3))
    assert [one.title for one in found] == ["Taxis"]
    server.answer("*", (status, {}, b""))
    with pytest.raises(ServiceFault, match=rf"status {status}.*tried 2 times") as caught:
        search(name, settings_for(server, tmp_path / "other"))
    assert caught.value.retryable


@pytest.mark.parametrize("name", EVERYONE)
def test_huge_answers_are_not_read(name: str, server: SearchServer, tmp_path: Path) -> None:
    server.answer("*", b" " * 300_000)
    with pytest.raises(ServiceFault, match="longer than 200,000 bytes"):
        search(name, settings_for(server, tmp_path, max_bytes=200_000))


@pytest.mark.parametrize("name", EVERYONE)
def test_nested_json_and_numbers_that_are_none(name: str, server: SearchServer, tmp_path: Path) -> None:
    for answer in (b'{"results": ' + b"[" * 5000 + b"]" * 5000 + b"}", b'{"results": NaN}'):
        server.answer("*", answer)
        with pytest.raises(ServiceFault, match="answered"):
            search(name, settings_for(server, tmp_path))


def test_nobody_listens(server: SearchServer, tmp_path: Path) -> None:
    gone = settings_for(server, tmp_path, base_urls=dict.fromkeys(EVERYONE, "http://127.0.0.1:9"))
    with pytest.raises(Offline):
        search("tavily", gone)


@pytest.mark.parametrize("name", EVERYONE)
def test_a_host_that_is_not_allowed_is_not_contacted(name: str, server: SearchServer, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=rf"would contact {HOST}, which is not allowed"):
        search(name, settings_for(server, tmp_path, allow_hosts=frozenset({"example.org"})))
    assert server.asked == []


@pytest.mark.parametrize("name", EVERYONE)
@pytest.mark.parametrize("spell", [str, lambda key: quote(key, safe=""), lambda key: key.replace("/", "&#x2F;")])
def test_keys_show_up_nowhere(
    name: str,
    spell: Callable[[str], str],
    server: SearchServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    server.answer("*", answer_of(name, f"your key is {spell(KEY)}"))
    settings = settings_for(server, tmp_path, cache_hours=dict.fromkeys(EVERYONE, 1.0))
    found = search(name, settings)
    server.answer("*", answer_of(name, "Taxis"))
    search(name, settings)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    if name not in ("searxng", "duckduckgo"):
        assert len(found) == 1
        for secret in (KEY, quote(KEY, safe="")):
            assert secret.encode() not in written
            assert secret not in caplog.text + repr(found)
        on_the_wire = repr([(asked.params, asked.headers) for asked in server.asked])
        assert KEY in on_the_wire


def test_what_was_found_is_kept_only_where_that_was_asked_for(server: SearchServer, tmp_path: Path) -> None:
    for name in EVERYONE:
        folder = tmp_path / name
        server.answer("*", answer_of(name, "Taxis"))
        before = len(server.asked)
        search(name, settings_for(server, folder))
        each = len(server.asked) - before
        search(name, settings_for(server, folder))
        kept = name in ("searxng", "duckduckgo")
        assert len(server.asked) - before == (each if kept else 2 * each), name
        assert (folder / "cache").exists() == kept
