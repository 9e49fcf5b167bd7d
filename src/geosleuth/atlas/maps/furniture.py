"""What lies on top of a map: pins, the scale bar and the credit line."""

from collections.abc import Sequence

from PIL import Image, ImageColor, ImageDraw

from geosleuth.atlas.model import Marker
from geosleuth.errors import BadInput

from . import style
from .labels import Labels, Lettered
from .lettering import stencil, writable
from .view import View

MAX_MARKERS = 500
PIN_HEIGHT_PX = 26
_PIN_RADIUS_PX = 8
_OVERSIZE = 4
_PANEL = (255, 255, 255, 190)


def check_markers(markers: Sequence[Marker]) -> None:
    """Refuse what can't be drawn.

    Raises:
        BadInput: too many markers, or a colour that is none.
    """
    if len(markers) > MAX_MARKERS:
        raise BadInput(f"a map takes up to {MAX_MARKERS} markers, not {len(markers)}")
    for marker in markers:
        _colour(marker.colour)


def draw_markers(image: Image.Image, view: View, markers: Sequence[Marker], labels: Labels) -> None:
    """Pins with their tips on the points, and their labels; the first marker lies on top."""
    spots = [
        (marker, *view.pixel(marker.point, strip.turns)) for marker in markers for strip in view.strips(PIN_HEIGHT_PX)
    ]
    visible = [(m, x, y) for m, x, y in spots if -20 < x < view.width + 20 and -2 < y < view.height + PIN_HEIGHT_PX + 2]
    for marker, x, y in reversed(visible):
        _paste_pin(image, x, y, _colour(marker.colour))
        labels.block((x - 9, y - PIN_HEIGHT_PX - 1, x + 9, y + 2))
    for marker, x, y in visible:
        if marker.label:
            middle = y - PIN_HEIGHT_PX + _PIN_RADIUS_PX
            labels.at(x, middle, [marker.label], Lettered(13, style.INK, bold=True), beside_px=_PIN_RADIUS_PX + 2)


def draw_scale_bar(image: Image.Image, view: View, labels: Labels) -> None:
    """A bar of a round length in the lower left corner, and a place kept free for it."""
    length_m, text = _round_length(view.metres_per_px * min(110, view.width / 3))
    length_px = length_m / view.metres_per_px
    drawn = stencil([text], 11)
    width, height = max(round(length_px), drawn.size[0]) + 8, drawn.size[1] + 6
    if width + 8 > image.width or height + 8 > image.height:
        return
    left, top = 4, image.height - height - 4
    _panel(image, (left, top, left + width, top + height))
    image.paste(style.INK, (left + 4, top - 1), drawn)
    pen = ImageDraw.Draw(image)
    base = top + height - 5
    pen.line(
        (left + 4, base - 4, left + 4, base, left + 4 + length_px, base, left + 4 + length_px, base - 4), style.INK
    )
    labels.block((left, top, left + width, top + height))


def draw_credit(image: Image.Image, text: str, labels: Labels | None = None) -> None:
    """Whom to credit, in the lower right corner."""
    shown = writable([text])
    if not shown:
        return
    drawn = stencil([shown], 10)
    width, height = drawn.size
    left, top = image.width - width, image.height - height
    _panel(image, (left, top, image.width, image.height))
    image.paste(style.INK, (left, top), drawn)
    if labels:
        labels.block((left, top, image.width, image.height))


def _panel(image: Image.Image, box: tuple[int, int, int, int]) -> None:
    """A pale ground under small letters."""
    pale = Image.new("RGBA", (box[2] - box[0], box[3] - box[1]), _PANEL)
    image.paste(pale.convert("RGB"), box[:2], pale.getchannel("A"))


def _paste_pin(image: Image.Image, x: float, y: float, colour: tuple[int, int, int]) -> None:
    """A drop with a white dot, drawn large and reduced."""
    width, height = 2 * _PIN_RADIUS_PX + 4, PIN_HEIGHT_PX + 4
    pin = Image.new("RGBA", (width * _OVERSIZE, height * _OVERSIZE))
    pen = ImageDraw.Draw(pin)
    for grow, fill in ((1.5, (255, 255, 255, 255)), (0.0, (*colour, 255))):
        radius = (_PIN_RADIUS_PX + grow) * _OVERSIZE
        middle_x, middle_y = width / 2 * _OVERSIZE, (_PIN_RADIUS_PX + 2) * _OVERSIZE
        tip = (PIN_HEIGHT_PX + 2 + grow) * _OVERSIZE
        pen.ellipse((middle_x - radius, middle_y - radius, middle_x + radius, middle_y + radius), fill=fill)
        pen.polygon(
            (middle_x - radius * 0.87, middle_y + radius * 0.5, middle_x + radius * 0.87, middle_y + radius * 0.5,
             middle_x, tip),
            fill=fill,
        )  # fmt: skip
    dot = 3 * _OVERSIZE
    pen.ellipse((middle_x - dot, middle_y - dot, middle_x + dot, middle_y + dot), fill=(255, 255, 255, 255))
    small = pin.reduce(_OVERSIZE)
    image.paste(small.convert("RGB"), (round(x - width / 2), round(y - PIN_HEIGHT_PX - 2)), small.getchannel("A"))


def _round_length(most_m: float) -> tuple[float, str]:
    """The longest round length up to some metres, and how it is written."""
    power = 10.0 ** (len(str(int(max(most_m, 1)))) - 1)
    length_m = max((step * power for step in (1, 2, 5) if step * power <= max(most_m, 1)), default=1.0)
    return length_m, f"{length_m / 1000:g} km" if length_m >= 1000 else f"{length_m:g} m"


def _colour(text: str) -> tuple[int, int, int]:
    try:
        red, green, blue = ImageColor.getrgb(text)[:3]
    except ValueError:
        raise BadInput(f"{text[:40]!r} is not a colour; use one such as #c4002f or red") from None
    return red, green, blue
