"""Photos that are no files yet: an address, standard input, the clipboard."""

import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from extract_server import ExtractServer, extract_server
from locating import Done, locate_here
from serving import photo_bytes, recording

pytestmark = pytest.mark.usefixtures("atlas_home")
PHOTO = photo_bytes("Rue Grimaldi")


@pytest.fixture
def model(tmp_path: Path) -> tuple[str, str]:
    return "--model", f"replay:{recording(tmp_path / 'recorded.jsonl')}"


@pytest.fixture
def web() -> Any:
    with extract_server() as server:
        server.files = {"/a/street.jpg": PHOTO, "/a/street.jpg?x=1": PHOTO, "/page.html": b"<html>no photo</html>"}
        yield server


class _Piped(io.StringIO):
    """A standard input with bytes in it."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.buffer = io.BytesIO(data)  # type: ignore[misc]


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes, *words: object) -> Done:
    monkeypatch.setattr("in_process.io.StringIO", lambda: _Piped(data))
    return locate_here(*words)


def test_an_address_is_fetched_after_a_yes(web: ExtractServer, model: tuple[str, str]) -> None:
    done = locate_here(f"{web.url}/a/street.jpg?x=1", *model, "--yes", "--json")
    assert done.code == 0, done.err
    assert done.err.startswith("this fetches the photo from 127.0.0.1\n")
    assert done.document["answer"]["lat"] == pytest.approx(43.7384)
    assert [path for _, path, _ in web.asked] == ["/a/street.jpg?x=1"]


def test_nothing_is_fetched_without_one(web: ExtractServer) -> None:
    address = f"{web.url}/a/street.jpg"
    assert locate_here(address).refusal == "this fetches the photo from 127.0.0.1; add --yes to allow it"
    assert "--offline" in locate_here(address, "--yes", "--offline").refusal
    assert "--sidecars" in locate_here(address, "--yes", "--sidecars").refusal
    assert web.asked == []


def test_several_addresses_are_a_batch(web: ExtractServer, tmp_path: Path) -> None:
    out = tmp_path / "found.geojson"
    (tmp_path / "own.jpg").write_bytes(PHOTO)
    done = locate_here(f"{web.url}/a/street.jpg", tmp_path / "own.jpg", "--yes", "--out", out)
    assert done.code == 0, done.err
    assert "street.jpg" in out.read_text()


@pytest.mark.parametrize(
    ("path", "told"),
    [("/missing.jpg", "127.0.0.1"), ("/page.html", "page.html"), ("/elsewhere.jpg", "redirects to example.org")],
)
def test_what_can_not_be_had_is_one_line(web: ExtractServer, path: str, told: str) -> None:
    web.redirects = {"/elsewhere.jpg": "https://example.org/x.jpg"}
    done = locate_here(f"{web.url}{path}", "--yes")
    assert done.code in (1, 2)
    assert told in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://example.org/a.jpg", "https"),
        ("https://", "not a web address"),
        ("https://user:word@example.org/a.jpg", "password"),
    ],
)
def test_what_is_no_address_to_fetch_from_is_refused(address: str, told: str) -> None:
    assert told in locate_here(address, "--yes").err.splitlines()[-1]


def test_a_photo_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch, model: tuple[str, str]) -> None:
    done = piped(monkeypatch, PHOTO, "-", *model, "--json")
    assert done.code == 0, done.err
    assert done.document["answer"]["lat"] == pytest.approx(43.7384)


def test_standard_input_meets_the_caps_of_photos(monkeypatch: pytest.MonkeyPatch) -> None:
    assert piped(monkeypatch, b"", "-").refusal == "standard input holds no photo; it is empty"
    assert "stdin: " in piped(monkeypatch, b"no photo", "-").refusal
    assert "write - once" in piped(monkeypatch, PHOTO, "-", "-").refusal
    assert "allowed" in piped(monkeypatch, bytes(100 * 1024 * 1024 + 1), "-").refusal


def program(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{body}")
    path.chmod(0o755)


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="the clipboard is read by Pillow here")
def test_a_photo_comes_from_the_clipboard(
    tmp_path: Path, model: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "photo").write_bytes(PHOTO)
    print_it = f"import sys; sys.stdout.buffer.write(open({str(tmp_path / 'photo')!r}, 'rb').read())"
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    program(tmp_path, "xclip", f"assert {'image/png'!r} in __import__('sys').argv\n{print_it}")
    done = locate_here("clipboard:", *model, "--json")
    assert done.code == 0, done.err
    program(tmp_path, "xclip", "")
    assert locate_here("clipboard:").refusal == "the clipboard holds no photo; it is empty"
    monkeypatch.delenv("DISPLAY")
    assert "xclip" in locate_here("clipboard:").refusal


def test_nothing_of_a_fetched_photo_stays(web: ExtractServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    locate_here(f"{web.url}/page.html", "--yes")
    assert list((tmp_path / "temporary").iterdir()) == []
