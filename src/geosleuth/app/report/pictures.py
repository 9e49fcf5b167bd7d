"""Pixels on the page: photos embedded once as JPEG, boxes drawn over them, and parts of them shown again."""

import io
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from geosleuth.agent import Trajectory, rebuild_album
from geosleuth.agent.display import Box, Seen
from geosleuth.bench.page.charts import n
from geosleuth.bench.page.markup import Html, el, join, name
from geosleuth.errors import BadInput
from geosleuth.photo import Photo, View
from geosleuth.photo.views import FIRST_VIEW_PIXELS
from geosleuth.tools import ImageInfo

if TYPE_CHECKING:
    from PIL.Image import Image

Pictures = Callable[[str], View]
"""Gives the pixels of a handle, or raises `BadInput`: ``album.__getitem__``."""

MOST_PHOTOS = 8
_LONGEST_PX = 1400
_CUT_PX = 420
_MOSAIC = 24
_QUALITY = 80
_MARGIN = 0.25


def pictures_of(trajectory: Trajectory, photos: Sequence[Photo], *, max_pixels: int = FIRST_VIEW_PIXELS) -> Pictures:
    """The pictures of a run, cut again from its photos; those that came from elsewhere, such as maps, are refused.

    Args:
        trajectory: says which part of which photo each handle shows.
        photos: those that the run's album began with, in the same order; of a panorama its cuts.
        max_pixels: what the run's album allowed, see `Method.first_view_pixels`.

    Raises:
        BadInput: these are not the photos of that run.
    """
    rebuilt = rebuild_album(trajectory, photos, max_pixels=max_pixels)

    def picture(handle: str) -> View:
        if handle in rebuilt.missing:
            raise BadInput(f"{handle} is not a part of any of the photos")
        return rebuilt.album[handle]

    return picture


def data_uri(image: "Image", longest_px: int, quality: int = _QUALITY) -> str:
    """A picture as the text of a small JPEG, with no metadata of any kind."""
    scale = min(1.0, longest_px / max(image.size))
    size = (max(1, round(image.size[0] * scale)), max(1, round(image.size[1] * scale)))
    stream = io.BytesIO()
    image.resize(size, reducing_gap=3.0).save(stream, "JPEG", quality=quality, optimize=True)
    return uri("image/jpeg", stream.getvalue())


def uri(kind: str, data: bytes) -> str:
    """Bytes as a data URI."""
    return f"data:{kind};base64,{b64encode(data).decode('ascii')}"


class Embedded:
    """The photos of a run as the page shows them, each embedded at most once."""

    def __init__(self, trajectory: Trajectory, pictures: Pictures | None, *, legible: bool) -> None:
        """Get the pixels; without ``legible`` so coarsely that no writing can be read."""
        self.photos: dict[int, ImageInfo] = {}
        for image in trajectory.task.images:
            if len(self.photos) < MOST_PHOTOS:
                self.photos.setdefault(image.photo, image)
        self._pictures = pictures
        self.legible = legible
        self._uris = {number: found for number, image in self.photos.items() if (found := self._uri(image.handle))}

    def __bool__(self) -> bool:
        return bool(self._uris)

    def _uri(self, handle: str) -> str | None:
        view = self._view(handle)
        if view is None:
            return None
        if not self.legible:
            scale = _MOSAIC / max(view.size)
            size = (max(1, round(view.size[0] * scale)), max(1, round(view.size[1] * scale)))
            return data_uri(view.image.resize(size, reducing_gap=3.0), _MOSAIC)
        return data_uri(view.image, _LONGEST_PX)

    def _view(self, handle: str) -> View | None:
        try:
            return self._pictures(handle) if self._pictures else None
        except BadInput:
            return None

    def figures(self, seen: Sequence[Seen]) -> Html:
        """Every photo with its boxes; a photo without pixels is left out."""
        return join(
            self._figure(number, image, [line for line in seen if line.photo == number])
            for number, image in self.photos.items()
            if number in self._uris
        )

    def _figure(self, number: int, image: ImageInfo, seen: Sequence[Seen]) -> Html:
        width, height = image.size
        many = f"Photo {number}" if len(self.photos) > 1 else "The photo"
        told = f"{many} with {len(seen)} pieces of text marked in it" if seen else many
        pixels = {
            "id": f"photo-{number}",
            "href": self._uris[number],
            "width": width,
            "height": height,
            "preserveAspectRatio": "none",
        }
        drawing = el(
            "svg",
            {"class": "photo", "viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": told},
            el("image", pixels),
            # Plain boxes first, so that numbered ones lie on top.
            *(_box(line, width, height) for line in sorted(seen, key=lambda line: line.number is not None)),
        )
        if not self.legible:
            words = f"{many}, made illegible: what is written in it could tell more than may be told."
        else:
            words = _caption(many, seen)
        return el("figure", {"class": "shot"}, drawing, el("figcaption", None, words))

    def part(self, photo: int, box: Box, kind: str, label: str) -> Html | None:
        """A part of an embedded photo, drawn from the same pixels once more."""
        image = self.photos.get(photo)
        if image is None or photo not in self._uris or not self.legible:
            return None
        width, height = image.size
        high = (box[3] - box[1]) * height * _MARGIN
        left, top = max(0.0, box[0] * width - high), max(0.0, box[1] * height - high)
        right, bottom = min(float(width), box[2] * width + high), min(float(height), box[3] * height + high)
        across, down = max(1.0, right - left), max(1.0, bottom - top)
        return el(
            "svg",
            {"class": kind, "viewBox": f"{n(left)} {n(top)} {n(across)} {n(down)}", "role": "img", "aria-label": label},
            el("use", {"href": f"#photo-{photo}"}),
        )

    def cut(self, image: ImageInfo) -> Html | None:
        """A picture that a tool made: from its own pixels where they are at hand, else out of its photo."""
        if not self.legible:
            return None
        first = self.photos.get(image.photo)
        view = self._view(image.handle)
        if view is not None and (first is None or first.handle != image.handle):
            return el(
                "svg",
                {"class": "cut", "viewBox": f"0 0 {image.size[0]} {image.size[1]}", "role": "img",
                 "aria-label": image.handle},
                el("image", {"href": data_uri(view.image, _CUT_PX), "width": image.size[0], "height": image.size[1]}),
            )  # fmt: skip
        if first is None or first.handle == image.handle:
            return None
        outer, inner = first.box_in_original, image.box_in_original
        across, down = max(1, outer[2] - outer[0]), max(1, outer[3] - outer[1])
        box = (
            (inner[0] - outer[0]) / across,
            (inner[1] - outer[1]) / down,
            (inner[2] - outer[0]) / across,
            (inner[3] - outer[1]) / down,
        )
        return self.part(image.photo, box, "cut", image.handle)


def badges(numbers: Iterable[int]) -> Html:
    """The numbers of boxes, as they stand on the photo."""
    return join(el("span", {"class": "badge-number"}, number) for number in numbers)


def _caption(many: str, seen: Sequence[Seen]) -> Html:
    named = [line for line in seen if line.number is not None]
    others = len(seen) - len(named)
    parts: list[object] = [f"{many}. "]
    for line in named:
        parts += [el("span", {"class": "key-line"}, badges([line.number or 0]), " ", name(line.text, 60)), " "]
    if others:
        parts.append(
            f"Dashed: {others} more {'line' if others == 1 else 'lines'} of text, which told little or nothing."
            if named
            else f"Dashed: {others} {'line' if others == 1 else 'lines'} of text that could be read."
        )
    return join(parts)


def _box(line: Seen, width: int, height: int) -> Html:
    unit = max(width, height) / 100
    x, y = line.box[0] * width, line.box[1] * height
    across, down = (line.box[2] - line.box[0]) * width, (line.box[3] - line.box[1]) * height
    frame = {"x": n(x), "y": n(y), "width": n(across), "height": n(down), "rx": n(0.4 * unit)}
    title = el("title", None, line.text)
    if line.number is None:
        wide = {"stroke-width": n(0.3 * unit), "stroke-dasharray": f"{n(unit)} {n(0.7 * unit)}"}
        return el(
            "g",
            {"class": "plain-box"},
            title,
            el("rect", {**frame, "class": "casing", "stroke-width": n(0.3 * unit)}),
            el("rect", {**frame, **wide}),
        )
    radius = 1.9 * unit
    cx, cy = max(radius, x), max(radius, y)
    return el(
        "g",
        {"class": "clue-box"},
        title,
        el("rect", {**frame, "class": "casing", "stroke-width": n(0.85 * unit)}),
        el("rect", {**frame, "stroke-width": n(0.45 * unit)}),
        el("circle", {"cx": n(cx), "cy": n(cy), "r": n(radius), "stroke-width": n(0.25 * unit)}),
        el(
            "text",
            {"x": n(cx), "y": n(cy + 0.92 * unit), "font-size": n(2.6 * unit), "text-anchor": "middle"},
            line.number,
        ),
    )
