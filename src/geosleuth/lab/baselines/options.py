"""The options of a baseline's name, as in ``nearest:GALLERY,k=10``; its pictures, and its answer as a step."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from geosleuth.answer import Answer, render
from geosleuth.geo import MAX_DISTANCE_KM
from geosleuth.models.protocol import Conversation, Prompt, Step, Usage
from geosleuth.support.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

# Names that a baseline may have before a colon.
BASELINES = ("blind", "nearest", "geoclip")


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """Options by name, as they were written."""

    given: Mapping[str, str]

    def text(self, name: str, otherwise: str, choices: Sequence[str]) -> str:
        """One of several words.

        Raises:
            BadInput: it is another.
        """
        found = self.given.get(name, otherwise)
        if found not in choices:
            raise BadInput(f"{name}={found[:40]} must be {' or '.join(choices)}")
        return found

    def km(self, name: str, otherwise: float) -> float:
        """A distance.

        Raises:
            BadInput: it is none.
        """
        text = self.given.get(name)
        try:
            found = otherwise if text is None else float(text)
        except ValueError:
            found = float("nan")
        if not (isfinite(found) and 0 < found <= MAX_DISTANCE_KM):
            raise BadInput(f"{name}={(text or '')[:40]} must be a number of kilometres above 0, such as {name}=25")
        return found

    def count(self, name: str, otherwise: int, most: int) -> int:
        """A number of things, from 1.

        Raises:
            BadInput: it is none.
        """
        text = self.given.get(name)
        if text is None:
            return otherwise
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
            raise BadInput(f"{name}={text[:40]} must be a whole number from 1 to {most}")
        return int(text)


def take_options(text: str, known: Sequence[str]) -> tuple[str, BaselineOptions]:
    """Split a text into the name before the options, and the options.

    A comma before no known option is part of the name.

    Raises:
        BadInput: an option is given twice, or there is none of that name.
    """
    given: dict[str, str] = {}
    rest = text
    while True:
        before, comma, last = rest.rpartition(",")
        name, equals, value = (part.strip() for part in last.partition("="))
        if not comma or not equals:
            return rest.strip(), BaselineOptions(given)
        if name not in known:
            raise BadInput(f"{name[:40]!r} is no option here; there are {', '.join(f'{item}=' for item in known)}")
        if name in given:
            raise BadInput(f"{name}= is given twice; give it once")
        given[name] = value
        rest = before


def first_images(conversation: Conversation) -> "list[Image]":
    """The photos of the task, as they were first shown; of a panorama the flat views cut from it."""
    for message in conversation.messages:
        if isinstance(message, Prompt) and message.images:
            return [conversation.picture(handle).image for handle in message.images]
    return []


def picture_key(images: "Sequence[Image]") -> str:
    """Return the key of a task's pictures: the hexadecimal SHA-256 of their pixels; for several, of all of them."""
    import hashlib

    from geosleuth.tools.similar.index_file import pixel_digest

    digests = [pixel_digest(image) for image in images]
    return (digests[0] if len(digests) == 1 else hashlib.sha256(b"".join(digests)).digest()).hex()


def compute_seed(conversation: Conversation, images: "Sequence[Image]") -> bytes:
    """Return the seed for all randomness of one answer: from the run's seed and the pictures."""
    return f"{conversation.sampling.seed or 0} {picture_key(images)}".encode()


def answering(name: str, answer: Answer, began: float) -> Step:
    """An answer as the step that ends a run."""
    return Step(text=render(answer), model=name, usage=Usage(seconds=round(time.perf_counter() - began, 6)))


def is_baseline(spec: str) -> bool:
    """Return whether a name is a baseline's: it uses no tools, no network and no prompt of a method."""
    return spec.partition(":")[0].strip() in BASELINES
