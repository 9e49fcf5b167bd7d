"""Clips made of drawn pictures, as somebody with a phone films them: pans, zooms, blur, cuts; encoded by PyAV."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.stream import VideoStream
from PIL import Image, ImageDraw, ImageFilter, ImageFont

SIZE = (960, 540)
_FONT = Path(__file__).resolve().parents[2] / "src/geosleuth/atlas/maps/fonts/sans-semibold.woff2"
CODECS = {"mp4": "libx264", "mov": "libx264", "mkv": "libx264", "webm": "libvpx", "avi": "mpeg4"}
"""What is written into a file of each ending."""


@dataclass(frozen=True)
class View:
    """Where the camera looks at a second of its shot: the middle and the width in shares of the picture.

    ``smear`` is motion blur across and ``soft`` a lens out of focus, in pixels.
    """

    seconds: float
    x: float = 0.5
    y: float = 0.5
    width: float = 1.0
    smear: float = 0.0
    soft: float = 0.0


@dataclass(frozen=True)
class Shot:
    """A picture that the camera moves over; between two views it goes evenly."""

    picture: Image.Image = field(repr=False)
    views: tuple[View, ...]

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return self.views[-1].seconds

    def at(self, seconds: float, size: tuple[int, int] = SIZE) -> Image.Image:
        """What the camera sees."""
        times = [view.seconds for view in self.views]

        def now(name: str) -> float:
            return float(np.interp(seconds, times, [getattr(view, name) for view in self.views]))

        wide, tall = self.picture.size
        across = now("width") * wide
        down = min(across * size[1] / size[0], float(tall))
        across = down * size[0] / size[1]
        left = min(max(now("x") * wide - across / 2, 0.0), wide - across)
        top = min(max(now("y") * tall - down / 2, 0.0), tall - down)
        box = (left, top, left + across, top + down)
        seen = self.picture.resize(size, Image.Resampling.BICUBIC, box=box, reducing_gap=2.0)
        if (soft := now("soft")) > 0.3:
            seen = seen.filter(ImageFilter.GaussianBlur(soft))
        if (smear := round(now("smear"))) > 1:
            pixels = np.asarray(seen, dtype=np.float32)
            sums = np.cumsum(np.pad(pixels, ((0, 0), (smear, 0), (0, 0)), mode="edge"), axis=1)
            seen = Image.fromarray(((sums[:, smear:] - sums[:, :-smear]) / smear).clip(0, 255).astype(np.uint8))
        return seen


def still(picture: Image.Image, seconds: float = 2.0) -> Shot:
    """A shot that hardly moves."""
    return Shot(picture, (View(0, width=1.0), View(seconds, width=0.97)))


def frames_of(shots: Sequence[Shot], rate: int, size: tuple[int, int]) -> Iterator[Image.Image]:
    """All frames."""
    for shot in shots:
        for number in range(round(shot.seconds * rate)):
            yield shot.at(number / rate, size)


def write_clip(
    path: Path, shots: Sequence[Shot], *, rate: int = 24, size: tuple[int, int] = SIZE, codec: str | None = None
) -> Path:
    """Write a clip in the format of its ending."""
    path.write_bytes(clip_bytes(path.suffix[1:], frames_of(shots, rate, size), rate=rate, size=size, codec=codec))
    return path


def clip_bytes(
    ending: str,
    frames: Iterator[Image.Image],
    *,
    rate: int = 24,
    size: tuple[int, int] = SIZE,
    codec: str | None = None,
) -> bytes:
    """A clip as a file."""
    kept = io.BytesIO()
    form = {"mkv": "matroska"}.get(ending, ending)
    name = codec or CODECS[ending]
    with av.open(kept, "w", format=form) as container:
        stream = container.add_stream(name, rate=Fraction(rate))
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = size
        stream.pix_fmt = "yuvj420p" if name == "mjpeg" else "yuv420p"
        if name == "libx264":
            stream.options = {"preset": "veryfast", "crf": "23"}
        else:
            stream.bit_rate = 4_000_000
        for picture in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.asarray(picture.convert("RGB")), format="rgb24")))
        container.mux(stream.encode())
    return kept.getvalue()


PLACES: dict[str, tuple[str, ...]] = {
    "Helsinki": ("Helsinki", "Suomi"),
    "Vaduz": ("Vaduz", "Liechtenstein"),
    "Rosenheim": ("Bäckerei Huber", "Rosenheim"),
}
"""Three places that the detective finds by what stands there."""

_GROUNDS = ((150, 190, 225), (226, 205, 170), (120, 150, 110))


def board(number: int, *lines: str, size: tuple[int, int] = (1280, 720)) -> Image.Image:
    """A wall with a sign on it; walls of different numbers look different."""
    picture = Image.new("RGB", size, _GROUNDS[number % len(_GROUNDS)])
    pen = ImageDraw.Draw(picture)
    for row in range(0, size[1], 40 + 10 * number):
        pen.line((0, row, size[0], row + 12 * number), fill=(90, 80 + 30 * number, 70), width=3 + number)
    pen.rectangle((240, 120, 1040, 560), fill=(250, 248, 240), outline=(40, 40, 40), width=6)
    font = ImageFont.truetype(str(_FONT), 84)
    for at, line in enumerate(lines):
        pen.text((280, 160 + 120 * at), line, fill=(20, 20, 20), font=font)
    return picture


def three_places(path: Path, seconds: float = 1.5) -> Path:
    """A clip that shows three places."""
    shots = [still(board(number, *lines), seconds) for number, lines in enumerate(PLACES.values())]
    return write_clip(path, shots, rate=12, size=(854, 480))
