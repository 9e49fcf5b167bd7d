"""Pictures at the size at which a model sees them, made where they come from, so that few pixels travel."""

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from geosleuth.world.environment import GeoEnvironment

if TYPE_CHECKING:
    from PIL.Image import Image

_OPENINGS = 8  # the replies of a group come one after the other, so that few are enough


@dataclass(frozen=True, slots=True)
class Shrink:
    """Brings a picture to the size that an image processor would give it, so that only these pixels need to travel.

    The rule is that of Qwen's processors: sides are multiples of ``factor``, the area lies between two bounds.
    """

    factor: int
    least_pixels: int
    most_pixels: int
    resample: int

    def __call__(self, picture: "Image") -> "Image":
        """The picture in that size."""
        size = self.fitted(*picture.size)
        rgb = picture if picture.mode == "RGB" else picture.convert("RGB")
        return rgb if size == picture.size else rgb.resize(size, self.resample)

    def fitted(self, width: int, height: int) -> tuple[int, int]:
        """The width and height at which a picture is seen."""

        def sides(scale: float, to_whole: Callable[[float], int]) -> tuple[int, int]:
            across, down = (max(1, to_whole(side * scale / self.factor)) * self.factor for side in (width, height))
            return across, down

        whole = sides(1.0, round)
        area = (round(width / self.factor) * self.factor) * (round(height / self.factor) * self.factor)
        if area > self.most_pixels:
            return sides(1 / math.sqrt(width * height / self.most_pixels), math.floor)
        if area < self.least_pixels:
            return sides(math.sqrt(self.least_pixels / (width * height)), math.ceil)
        return whole


def shrink_of(processor: Any) -> Shrink | None:
    """How pictures can be made small before they travel; None where the processor does it in a way of its own."""
    images: Any = getattr(processor, "image_processor", None)
    size = getattr(images, "size", None)
    # Other kinds resize with other libraries, whose pixels differ by a hair.
    if not type(images).__name__.startswith("Qwen2VLImageProcessorPil") or size is None:
        return None
    least, most = size["shortest_edge"], size["longest_edge"]
    return Shrink(images.patch_size * images.merge_size, int(least), int(most), int(images.resample))


def shrinking(environment: type[GeoEnvironment], *, shrink: Shrink, tools: Sequence[str]) -> type[GeoEnvironment]:
    """The same environment, its pictures at the size at which the model sees them; groups share those they open with.

    As a ``partial`` it can be sent to the processes that serve environments.

    Args:
        environment: a class for TRL's ``environment_factory``.
        shrink: of the model's processor, see `shrink_of`.
        tools: the names of its tools, as the model knows them.
    """
    openings: OrderedDict[str, dict[int, Image]] = OrderedDict()

    def small(content: Any, made: dict[int, "Image"]) -> Any:
        if not isinstance(content, list):
            return content
        parts = []
        for at, part in enumerate(content):
            if part["type"] == "image":
                if at not in made:
                    made[at] = shrink(part["image"])
                parts.append({**part, "image": made[at]})
            else:
                parts.append(part)
        return parts

    def shrunk(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(self: Any, /, *given: Any, **named: Any) -> Any:
            return small(method(self, *given, **named), {})

        return call

    def reset(self: Any, **columns: Any) -> Any:
        row = columns.get("id")
        made = {} if row is None else openings.setdefault(str(row), {})
        while len(openings) > _OPENINGS:
            openings.popitem(last=False)
        return small(environment.reset(self, **columns), made)

    members = {name: shrunk(getattr(environment, name)) for name in tools}
    return type(environment.__name__, (environment,), {**members, "reset": wraps(environment.reset)(reset)})
