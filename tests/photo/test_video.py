"""Clips: which frames are chosen, how places are told apart, and what hostile files meet."""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from clips import CODECS, PLACES, Shot, View, board, clip_bytes, still, three_places, write_clip
from geosleuth.photo.video import places_shown, read_clip
from geosleuth.photo.video_limits import VideoLimits, detect_container, is_video
from geosleuth.support.errors import BadInput

SMALL = (320, 180)


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return three_places(tmp_path_factory.mktemp("clips") / "walk.mp4")


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shots = [still(board(number, "Café"), 0.5) for number in (0, 1)]
    return write_clip(tmp_path_factory.mktemp("clips") / "short.mp4", shots, rate=8, size=SMALL)


@pytest.mark.parametrize("ending", sorted(CODECS))
def test_every_container_is_read_and_its_cut_found(tmp_path: Path, ending: str) -> None:
    shots = [still(board(0, "Café"), 1), still(board(1, "Bar"), 1)]
    clip = read_clip(write_clip(tmp_path / f"clip.{ending}", shots, rate=10, size=SMALL))
    assert [round(start, 1) for start, _ in clip.scenes] == [0.0, 1.0]
    assert clip.seconds == pytest.approx(2, abs=0.2)
    assert clip.decoded == 20
    assert {frame.scene for frame in clip.frames} == {0, 1}
    assert all(frame.open_photo().photo.size == SMALL for frame in clip.frames)
    assert clip.notes == ()


def test_places_are_told_apart_by_what_they_say(walk: Path) -> None:
    shown = places_shown(read_clip(walk))
    assert [place.spans[0][0] for place in shown] == [0.0, 1.5, 3.0]
    for place, lines in zip(shown, PLACES.values(), strict=True):
        assert set(lines) <= {line for frame in place.frames for line in frame.reads}
        assert all(place.spans[0][0] <= frame.seconds <= place.spans[0][1] for frame in place.frames)


@pytest.mark.slow
def test_a_place_that_comes_again_is_one_place(tmp_path: Path) -> None:
    first = board(0, "Boulangerie", "Rue Grimaldi")
    back = Shot(first, (View(0, width=0.8), View(1, width=0.75)))
    shots = [still(first, 1), still(board(1, "Farmácia", "Lisboa"), 1), back]
    shown = places_shown(read_clip(write_clip(tmp_path / "again.mp4", shots, rate=10, size=(640, 360))))
    assert [len(place.spans) for place in shown] == [2, 1]
    assert [round(start) for start, _ in shown[0].spans] == [0, 2]


@pytest.mark.slow
def test_the_sharp_moment_of_a_hurried_pan_is_chosen(tmp_path: Path) -> None:
    hurried = Shot(
        board(0, "Boulangerie", "Monaco"),
        (View(0, 0.2, width=0.7, smear=22), View(1.2, 0.45, width=0.7, smear=22), View(1.3), View(1.7, width=0.98),
         View(1.8, 0.5, width=0.8, smear=22), View(3, 0.9, width=0.7, smear=22)),
    )  # fmt: skip
    (place,) = places_shown(read_clip(write_clip(tmp_path / "pan.mp4", [hurried], rate=24, size=(640, 360))))
    assert any(1.25 <= frame.seconds <= 1.75 for frame in place.frames)
    assert "Boulangerie" in {line for frame in place.frames for line in frame.reads}


def test_a_dissolve_parts_two_places_and_a_pan_does_not(tmp_path: Path) -> None:
    one, other = (board(number, "Café", size=(640, 360)).resize(SMALL) for number in (0, 2))
    shares = [0.0] * 15 + [at / 15 for at in range(16)] + [1.0] * 15
    path = tmp_path / "dissolve.mp4"
    path.write_bytes(clip_bytes("mp4", (Image.blend(one, other, share) for share in shares), rate=15, size=SMALL))
    clip = read_clip(path)
    assert len(clip.scenes) == 2
    assert 1.2 < clip.scenes[1][0] < 2.2
    wide = Image.new("RGB", (2560, 720))
    wide.paste(board(0, "Café"), (0, 0))
    wide.paste(board(2, "Bar"), (1280, 0))
    pan = Shot(wide, (View(0, 0.25, width=0.5), View(3, 0.75, width=0.5)))
    assert len(read_clip(write_clip(tmp_path / "pan.mp4", [pan], rate=15, size=SMALL)).scenes) == 1


EXAMPLES = Path(__file__).resolve().parents[2] / "examples/photos"


@pytest.mark.slow
def test_a_cut_between_two_shop_fronts_of_like_build_parts_them(tmp_path: Path) -> None:
    pictures = [Image.open(EXAMPLES / f"drawn-{name}.jpg").convert("RGB") for name in ("bakery", "bookshop")]
    frames = [picture.resize((960, 720)) for picture in pictures for _ in range(12)]
    path = tmp_path / "tour.mp4"
    path.write_bytes(clip_bytes("mp4", iter(frames), rate=10, size=(960, 720)))
    clip = read_clip(path)
    assert [start for start, _ in clip.scenes] == [0.0, 1.2]
    assert {frame.scene for frame in clip.frames if frame.seconds >= 1.2} == {1}


def test_the_beginning_of_a_fast_pan_is_no_cut(tmp_path: Path) -> None:
    street = Image.open(EXAMPLES / "drawn-bakery.jpg").convert("RGB").resize((1920, 1080))

    def seen(left: int) -> Image.Image:
        return street.crop((left, 0, left + 960, 540))

    pan = [seen(0)] * 8 + [seen(80 * step) for step in range(1, 11)] + [seen(800)] * 6
    path = tmp_path / "pan.mp4"
    path.write_bytes(clip_bytes("mp4", iter(pan), rate=10))
    assert len(read_clip(path).scenes) == 1


def test_a_clip_that_a_phone_filmed_upright_comes_out_upright(tmp_path: Path) -> None:
    upright = Image.new("RGB", (180, 320), (40, 90, 200))
    upright.paste((220, 30, 30), (0, 0, 180, 80))
    stored = upright.transpose(Image.Transpose.ROTATE_90)
    data = bytearray(clip_bytes("mov", iter([stored] * 6), rate=6, size=SMALL))
    # The matrix of the track's header, as phones write it: to be turned clockwise by 90 degrees.
    struct.pack_into(">9i", data, data.index(b"tkhd") + 44, 0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30)
    path = tmp_path / "portrait.mov"
    path.write_bytes(data)
    picture = read_clip(path).frames[0].open_photo().photo.image
    assert picture.size == (180, 320)
    red, _, blue = np.asarray(picture)[20, 90]
    assert red > 150 > blue


def test_what_is_no_clip_is_refused_in_one_line(tmp_path: Path, short: Path) -> None:
    whole = short.read_bytes()
    empty, folder, pipe = tmp_path / "empty.mp4", tmp_path / "folder.mp4", tmp_path / "pipe.mp4"
    empty.write_bytes(b"")
    folder.mkdir()
    os.mkfifo(pipe)
    photo = tmp_path / "photo.mp4"
    Image.new("RGB", (20, 20)).save(photo, "JPEG")
    head = tmp_path / "head.mp4"
    head.write_bytes(whole[:200])
    for path, words in (
        (empty, "the file is empty"), (folder, "this is a folder"), (pipe, "a device or a pipe"),
        (photo, "this is no video"), (head, "cut short or damaged"), (tmp_path / "none.mp4", "there is no such file"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=words) as refused:
            read_clip(path)
        assert "\n" not in str(refused.value)


def test_a_clip_cut_short_gives_what_it_has(tmp_path: Path) -> None:
    shots = [still(board(number, "Café"), 1) for number in (0, 1)]
    whole = write_clip(tmp_path / "whole.mkv", shots, rate=10, size=SMALL).read_bytes()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(whole[: len(whole) // 2])
    clip = read_clip(cut)
    assert 0 < clip.decoded < 20


def test_limits_bind(short: Path) -> None:
    for limits, words in (
        (VideoLimits(max_bytes=100), "larger than the"),
        (VideoLimits(max_pixels=1000), "more than the 0.001 million"),
        (VideoLimits(max_duration_s=0.2), "longer than the"),
        (VideoLimits(memory_bytes=64 << 20), "memory|breaks the decoder|damaged"),
    ):
        with pytest.raises(BadInput, match=words):
            read_clip(short, limits)
    assert "only its key frames" in read_clip(short, VideoLimits(max_frames=4)).notes[0]
    assert len(read_clip(short, VideoLimits(max_kept=1)).frames) == 1


def test_without_the_extra_one_line_says_what_to_install(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(BadInput, match=r"pip install .*\[media\]'"):
        read_clip(short)


_CONFINED = """
import io, json, socket, sys
from geosleuth.photo import video_decoder as decoder
from geosleuth.photo.video_limits import VideoContainer, VideoLimits
port = int(sys.argv[1])
stream = open(sys.argv[2], "rb", buffering=0)
decoder._import_all()
decoder.confine(VideoLimits())
told = []
for what in (lambda: open("/etc/hostname"), lambda: socket.create_connection(("127.0.0.1", port))):
    try:
        what()
        told.append("opened")
    except OSError:
        told.append("refused")
for name in ("hls", "concat", "dash"):
    try:
        stream.seek(0)
        decoder.Decoder(stream, VideoLimits(), decoder.Sender(io.BytesIO())).work(VideoContainer(name, name, name))
        told.append("read")
    except (decoder.Refusal, ValueError):
        told.append("refused")
print(json.dumps(told))
"""


@pytest.mark.parametrize("kind", ["m3u8", "ffconcat", "mpd"])
def test_a_playlist_in_disguise_opens_no_file_and_no_socket(tmp_path: Path, kind: str) -> None:
    canary = tmp_path / "canary.mp4"
    os.mkfifo(canary)  # whoever opens it for reading lets a writer in
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        port = listener.getsockname()[1]
        elsewhere = f"http://127.0.0.1:{port}/a.ts"
        disguised = tmp_path / "clip.mp4"
        disguised.write_text(
            {
                "m3u8": f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{canary}\n#EXTINF:10,\n{elsewhere}\n",
                "ffconcat": f"ffconcat version 1.0\nfile {canary}\nfile {elsewhere}\n",
                "mpd": f"<?xml version='1.0'?><MPD><BaseURL>{elsewhere}</BaseURL></MPD>",
            }[kind]
        )
        assert detect_container(disguised.read_bytes()[:64]) is None
        with pytest.raises(BadInput, match="this is no video"):
            read_clip(disguised)
        # Even where FFmpeg is made to take it for a playlist, the process can open nothing.
        words = [sys.executable, "-c", _CONFINED, str(port), str(disguised)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
        assert json.loads(done.stdout) == ["refused"] * 5
        with pytest.raises(TimeoutError):
            listener.accept()
    with pytest.raises(OSError, match="No such device or address"):
        os.close(os.open(canary, os.O_WRONLY | os.O_NONBLOCK))


def test_the_decoder_speaks_one_line_of_a_file_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\x1aE\xdf\xa3" + bytes(range(256)) * 8)
    with path.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "geosleuth.photo.video_decoder", json.dumps(asdict(VideoLimits()))],
            stdin=stream, capture_output=True, timeout=120, check=True,
        )  # fmt: skip
    assert b'"error"' in done.stdout
    assert done.stderr == b""


def test_several_clips_can_be_read_at_once(short: Path) -> None:
    read: list[int] = []
    threads = [threading.Thread(target=lambda: read.append(read_clip(short).decoded)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [8, 8]


def test_a_clip_is_known_by_its_content_or_its_name(tmp_path: Path, short: Path) -> None:
    nameless = tmp_path / "film"
    nameless.write_bytes(short.read_bytes())
    assert is_video(nameless)
    assert is_video("missing.webm")
    photo = tmp_path / "photo.jpg"
    Image.new("RGB", (20, 20)).save(photo)
    assert not is_video(photo)
