"""What ``geosleuth locate`` refuses: one line, exit code 2, nothing sent, nothing built, nothing written."""

import io
import os
import pty
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from geosleuth.atlas.base import base_path
from geosleuth.cli.preparation import confirm
from later import later
from locating import FINAL, at, command, environment, locate_here, photo_file
from openai_server import ServerUrl, openai_server
from scenery import scene

later("pydantic_ai")


@pytest.fixture
def server() -> Iterator[ServerUrl]:
    with openai_server([FINAL]) as url:
        yield url


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new user's: no base atlas has been built yet."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("GEOSLEUTH_HOME", str(folder))
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_KEY", "_TOKEN")) or name.startswith("AWS_"):
            monkeypatch.delenv(name)
    return folder


@pytest.fixture
def service(tmp_path: Path, home: Path) -> Path:
    """The folder that photos and trajectories are in."""
    assert home.is_dir()
    folder = tmp_path / "service"
    folder.mkdir()
    return folder


def contents(*folders: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def bomb(path: Path) -> None:
    """A few kilobytes that claim to be 2.5 thousand million pixels."""
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1_000_000), 9)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def truncated(path: Path) -> None:
    scene(1).save(path)
    path.write_bytes(path.read_bytes()[:-3000])


BAD_PHOTOS: dict[str, tuple[Callable[[Path], object], str]] = {
    "not an image": (lambda path: path.write_text("Dear Sir or Madam"), "give a JPEG, PNG, WebP, TIFF or HEIC"),
    "truncated": (truncated, "cut"),
    "bomb": (bomb, "50000 x 50000"),
    "zero bytes": (lambda path: path.write_bytes(b""), "the file is empty"),
    "empty folder": (lambda path: path.mkdir(), "holds no photo"),
    "nonexistent": (lambda _: None, "there is no such file"),
    "pipe": (os.mkfifo, "device or a pipe"),
    "GIF": (lambda path: scene(1).save(path, "GIF"), "GIF"),
}


@pytest.mark.parametrize("kind", BAD_PHOTOS)
def test_bad_photos(service: Path, home: Path, server: ServerUrl, kind: str) -> None:
    make, reason = BAD_PHOTOS[kind]
    path = service / "photo.jpg"
    make(path)
    good = photo_file(service, "good.jpg")
    before = contents(service, home)
    for photos in ((path,), ("--same-place", good, path)):
        refusal = locate_here(*photos, *at(server), "--trajectory", service / "run.jsonl").refusal
        assert refusal.startswith(f"{path}: ")
        assert reason.casefold() in refusal.casefold()
    assert contents(service, home) == before
    assert server.requests == []


def test_a_photo_without_permission(service: Path, home: Path, server: ServerUrl) -> None:
    path = photo_file(service)
    path.chmod(0)
    # What the command needs is loaded by somebody who may read it.
    locate_here(service / "none.jpg", *at(server))
    root = os.geteuid() == 0
    if root:
        os.seteuid(65_534)
    try:
        refusal = locate_here(path, *at(server)).refusal
        unwritable = locate_here(path, *at(server), "--trajectory", service / "run.jsonl").refusal
    finally:
        if root:
            os.seteuid(0)
    assert "no permission to read it" in refusal
    # Somebody who is not root may write into the folder, and hears of the photo.
    assert "ermission" in unwritable
    assert [one.name for one in service.iterdir()] == [path.name]
    assert list(home.iterdir()) == []


def cmyk(path: Path) -> None:
    scene(1).convert("CMYK").save(path, "JPEG")


def sixteen_bits(path: Path) -> None:
    Image.frombytes("I;16", (64, 48), bytes(range(256)) * 24).save(path, "PNG")


def animated(path: Path) -> None:
    scene(1).save(path, "WEBP", save_all=True, append_images=[scene(2), scene(3)])


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (cmyk, "cmyk.jpg"),
        (sixteen_bits, "deep.png"),
        (animated, "moving.webp"),
        (lambda path: scene(1).save(path, "PNG"), "wrong.jpg"),
        (lambda path: scene(1).save(path, "JPEG"), "none"),
    ],
    ids=["CMYK", "16-bit", "animated", "wrong extension", "no extension"],
)
def test_odd_photos_that_can_be_opened_are(
    tmp_path: Path, server: ServerUrl, make: Callable[[Path], object], name: str
) -> None:
    path = tmp_path / name
    make(path)
    done = locate_here(path, *at(server), "--tools", "none")
    assert done.code == 0, done.err
    (request,) = server.requests
    assert [data[:3] for data in request.images] == [b"\xff\xd8\xff"]


BAD_WORDS: dict[str, tuple[tuple[object, ...], str]] = {
    "tool": (("--model", "server:a", "--base-url", "URL", "--tools", "zoom,fly"), "there is no tool 'fly'"),
    "no tool": (("--model", "server:a", "--base-url", "URL", "--tools", ","), "write --tools none"),
    "method": (("--model", "server:a", "--base-url", "URL", "--method", "guess"), "there is no method 'guess'"),
    "wire": (("--model", "server:a", "--base-url", "URL", "--wire", "copper"), "native or tagged"),
    "boxes": (("--model", "server:a", "--base-url", "URL", "--boxes", "inches"), "pixels or thousandths"),
    "prefix": (("--model", "closedai:gpt"), "begins with one of openai:, anthropic:"),
    "all models": (("--model", "foo"), "; none is the detective, and replay:FILE a recording"),
    "no name": (("--model", "openai:"), "write openai:NAME"),
    "no key": (("--model", "openai:gpt-5"), "OPENAI_API_KEY"),
    "no address": (("--model", "server:a"), "--base-url http://127.0.0.1:8000/v1"),
    "no weights": (("--model", "hf:missing-folder"), "there is no folder"),
    "no recording": (("--model", "replay:missing.jsonl"), "missing.jsonl: can't be read"),
    "recording with an address": (("--model", "replay:x", "--base-url", "URL"), "leave out --base-url"),
    "remote while offline": (("--model", "openai:gpt-5", "--offline"), "--offline rules out"),
    "maps while offline": (("--model", "replay:REC", "--offline", "--maps", "nominatim"), "--offline rules out"),
    "maps": (("--model", "server:a", "--base-url", "URL", "--maps", "nominatim"), "nominatim.openstreetmap.org"),
    "web": (("--model", "server:a", "--base-url", "URL", "--web-search", "bravo"), "no web search 'bravo'"),
    "index": (("--model", "server:a", "--base-url", "URL", "--image-search", "no.index"), "no.index"),
    "old trajectory": (("--model", "server:a", "--base-url", "URL", "--trajectory", "REC"), "is there already"),
    "lost trajectory": (("--model", "server:a", "--base-url", "URL", "--trajectory", "no/r.jsonl"), "does not exist"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_WORDS)
def test_words_that_must_be_mended(
    service: Path, home: Path, server: ServerUrl, recording: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(service)
    words, reason = BAD_WORDS[kind]
    given = [str(word).replace("URL", server).replace("REC", str(recording)) for word in words]
    photo = photo_file(service)
    before = contents(service, home, recording.parent)
    assert reason in locate_here(photo, *given).refusal
    assert contents(service, home, recording.parent) == before
    assert not base_path().exists()
    assert server.requests == []


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recording")
    with openai_server([FINAL]) as url:
        done = locate_here(photo_file(folder), *at(url), "--tools", "none", "--trajectory", folder / "run.jsonl")
    assert done.code == 0, done.err
    return folder / "run.jsonl"


def test_a_damaged_recording_is_refused_with_its_line(service: Path, recording: Path) -> None:
    old = service / "old.jsonl"
    old.write_text(
        recording.read_text().replace('"version":1', '"version":7', 1).replace('"version": 1', '"version": 7', 1)
    )
    assert "is of version 7" in locate_here(photo_file(service), "--model", f"replay:{old}").refusal
    bent = service / "bent.jsonl"
    lines = recording.read_text().splitlines(keepends=True)
    bent.write_text("".join([*lines[:2], "{]\n", *lines[2:]]))
    assert f"{bent}, line 3: " in locate_here(photo_file(service), "--model", f"replay:{bent}").refusal


# Leave to send: the model's name says that its server hands photos on.

CLOUD = "ollama:gpt-oss:120b-cloud"


def test_a_script_must_say_yes_before_a_photo_leaves(service: Path, home: Path, server: ServerUrl) -> None:
    words = (photo_file(service), "--model", CLOUD, "--base-url", server, "--trajectory", service / "run.jsonl")
    refusal = locate_here(*words).refusal
    assert "sends the photo, its crops and what tools find to ollama.com" in refusal
    assert refusal.endswith("; add --yes to allow it")
    assert server.requests == []
    assert not (service / "run.jsonl").exists()
    assert list(home.iterdir()) == []


def test_a_remote_host_is_named(service: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    refusal = locate_here(photo_file(service), "--model", "anthropic:claude").refusal
    assert "to api.anthropic.com; add --yes" in refusal
    assert "secret" not in refusal
    assert list(home.iterdir()) == []


def at_a_terminal(words: list[str], reply: str, variables: dict[str, str]) -> tuple[int, str, str]:
    """The exit code, stdout, and what the terminal showed to somebody who types a reply to the question."""
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            words, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=environment(variables), text=True
        ) as process:
            os.close(theirs)
            theirs = -1
            shown = ""
            while "[y/N]" not in shown and (piece := read(ours)):
                shown += piece
            os.write(ours, reply.encode())
            while piece := read(ours):
                shown += piece
            assert process.stdout is not None
            out = process.stdout.read()
        return process.returncode, out, shown
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)


def read(terminal: int) -> str:
    try:
        return os.read(terminal, 4096).decode("utf-8", "replace")
    except OSError:
        return ""


@pytest.mark.parametrize("reply", ["n\n", "\n", "", "perhaps\n", "yet\n", "no, yes\n"])
def test_anything_but_yes_is_no(monkeypatch: pytest.MonkeyPatch, reply: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(reply))
    assert not confirm("Go on?")
    monkeypatch.setattr("sys.stdin", io.StringIO("Yes\n"))
    assert confirm("Go on?")


@pytest.mark.parametrize("reply", ["\x04", pytest.param("perhaps\n", marks=pytest.mark.slow)])
def test_at_a_terminal_anything_but_yes_stops_it(service: Path, home: Path, server: ServerUrl, reply: str) -> None:
    words = command(photo_file(service), "--model", CLOUD, "--base-url", server, "--trajectory", service / "run.jsonl")
    code, out, shown = at_a_terminal(words, reply, {"GEOSLEUTH_HOME": str(home)})
    assert (code, out) == (2, "")
    assert "to ollama.com. Go on? [y/N]" in " ".join(shown.split())
    assert "nothing was sent" in shown
    assert server.requests == []
    assert not (service / "run.jsonl").exists()
    assert list(home.iterdir()) == []


@pytest.mark.usefixtures("atlas_home")
def test_at_a_terminal_yes_goes_on_and_shows_who_is_at_work(tmp_path: Path, server: ServerUrl) -> None:
    words = command(photo_file(tmp_path), "--model", CLOUD, "--base-url", server)
    code, out, shown = at_a_terminal(words, "y\n", {"TERM": "xterm", "NO_COLOR": "1"})
    assert code == 0, shown
    assert "43.735, 7.421" in out
    assert f"{CLOUD} looks at the photo" in shown
    assert "turn 1: answers" in shown
    assert len(server.requests) == 1


@pytest.mark.usefixtures("atlas_home")
def test_yes_is_leave_and_the_host_is_named_all_the_same(tmp_path: Path, server: ServerUrl) -> None:
    done = locate_here(photo_file(tmp_path), "--model", CLOUD, "--base-url", server, "--yes", "--tools", "none")
    assert done.code == 0, done.err
    assert "to ollama.com" in done.err.splitlines()[0]


def test_weights_that_can_not_be_used_are_refused_before_the_run(service: Path, home: Path) -> None:
    pytest.importorskip("transformers")
    folder = service / "text-model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llama"}')
    header = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    before = contents(service)
    photo = photo_file(service)
    refusal = locate_here(photo, "--model", f"hf:{folder}", "--trajectory", service / "run.jsonl", "--offline")
    assert "not made for images and text" in refusal.err.splitlines()[-1]
    assert (refusal.code, refusal.out) == (2, "")
    assert contents(service).keys() == {*before, photo}
    assert list(home.iterdir()) == []


def test_a_folder_that_is_not_there_is_called_a_folder(service: Path) -> None:
    told = locate_here(f"{service / 'nodir'}/")
    assert (told.code, told.out) == (2, "")
    assert told.err == f"geosleuth: {service / 'nodir'}/: there is no such folder; check the path\n"
