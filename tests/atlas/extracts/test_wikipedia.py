"""Wikipedia by language, from a real server on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extract_server import ExtractServer, extract_server
from in_process import Done, geosleuth

writer: Any = pytest.importorskip("libzim.writer", reason="libzim is not installed")

NEWEST = "wikipedia_de_all_mini_2026-09.zim"
LISTED = f"""<html><a href="wikipedia_de_all_mini_2026-03.zim">x</a><a href="{NEWEST}">x</a>
<a href="wikipedia_de_all_maxi_2026-10.zim">x</a><a href="wikipedia_fr_all_mini_2026-08.zim">x</a>
<a href="../../wikipedia_../etc_all_mini_2026-09.zim">x</a><a href="https://evil.example/wikipedia_xx_all_mini_2026-09.zim">
"""


def zim_bytes(path: Path) -> bytes:
    base: Any = writer.Item

    class Page(base):  # type: ignore[misc]
        def get_path(self) -> str:
            return "Zermatt"

        def get_title(self) -> str:
            return "Zermatt"

        def get_mimetype(self) -> str:
            return "text/html"

        def get_contentprovider(self) -> Any:
            return writer.StringProvider("<html><body><p>Zermatt liegt unter dem Matterhorn.</p></body></html>")

        def get_hints(self) -> dict[Any, int]:
            return {writer.Hint.FRONT_ARTICLE: True}

    with writer.Creator(path).config_indexing(True, "deu") as creator:
        creator.set_mainpath("Zermatt")
        creator.add_item(Page())
        creator.add_metadata("Title", "Wikipedia")
        creator.add_metadata("Language", "deu")
    return path.read_bytes()


@pytest.fixture
def server(atlas_home: Path, tmp_path: Path) -> Iterator[ExtractServer]:
    assert atlas_home.is_dir()
    with extract_server() as made:
        made.files["/"] = LISTED.encode()
        made.files[f"/{NEWEST}"] = zim_bytes(tmp_path / "made.zim")
        yield made


def get(server: ExtractServer, language: str, *words: str) -> Done:
    return geosleuth("atlas", "get", language, "--wikipedia", "--mirror", server.url, "--yes", *words)


def kept(home: Path) -> list[str]:
    return sorted(path.name for part in ("cache/downloads", "data/zim") for path in (home / part).glob("*"))


def test_a_language_becomes_texts_that_documents_searches(
    server: ExtractServer, atlas_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geosleuth.atlas.online.http import OnlineClient

    monkeypatch.setattr(OnlineClient, "backoff_s", lambda _self, _attempt: 0.01)
    (atlas_home / "data" / "zim").mkdir(parents=True)
    (atlas_home / "data" / "zim" / "wikipedia_de_all_mini_2026-03.zim").write_bytes(b"an older one")
    server.cuts = [1000, None]
    done = get(server, "DE", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["month"] == "2026-09"
    assert "from 127.0.0.1" in done.stderr
    assert server.bodies_asked() == ["", "bytes=1000-"]
    assert kept(atlas_home) == [NEWEST]
    found = json.loads(geosleuth("atlas", "documents", "Zermatt Matterhorn", "--json").stdout)
    assert any(one["source"] == "Wikipedia" and "Matterhorn" in one["snippet"] for one in found)
    assert "is there already" in get(server, "de").stderr
    assert geosleuth("atlas", "remove", NEWEST).returncode == 0
    assert kept(atlas_home) == []


def damaged(server: ExtractServer) -> None:
    content = server.files[f"/{NEWEST}"]
    middle = len(content) // 2
    server.files[f"/{NEWEST}"] = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


def cut(server: ExtractServer) -> None:
    server.files[f"/{NEWEST}"] = server.files[f"/{NEWEST}"][:500]


def unlisted(server: ExtractServer) -> None:
    server.files["/"] = b"<html>nothing</html>"


def no_list(server: ExtractServer) -> None:
    del server.files["/"]


def elsewhere(server: ExtractServer) -> None:
    server.redirects[f"/{NEWEST}"] = f"https://evil.example/{NEWEST}"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (damaged, "checksum in"),
        (cut, "not a complete ZIM file"),
        (no_list, "127.0.0.1: has no /"),
        (unlisted, "lists no Wikipedia files"),
        (elsewhere, "redirects to evil.example"),
    ],
)
def test_every_fault_is_one_line_and_leaves_nothing(
    server: ExtractServer, atlas_home: Path, fault: Any, said: str
) -> None:
    fault(server)
    done = get(server, "de")
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr.splitlines()[-1]
    assert kept(atlas_home) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tlh",), "has no Wikipedia 'tlh' (mini); give the code of a language, such as de, fr, xx"),
        (("de", "--edition", "huge"), "choose one of mini, nopic, maxi"),
        (("de", "--overture"), "one thing at a time"),
    ],
)
def test_what_is_not_there_is_refused(server: ExtractServer, words: tuple[str, ...], said: str) -> None:
    done = get(server, *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
