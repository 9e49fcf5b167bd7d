"""What all baselines share: the pictures of a task, and an answer as a step."""

import time
from typing import TYPE_CHECKING

from geosleuth.answer import Answer, render
from geosleuth.policies.model import Conversation, Prompt, Step, Usage
from geosleuth.tools.similar.store import pixel_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image


def first_images(conversation: Conversation) -> "list[Image]":
    """The photos of the task, as they were first shown; of a panorama the flat views cut from it."""
    for message in conversation.messages:
        if isinstance(message, Prompt) and message.images:
            return [conversation.picture(handle).image for handle in message.images]
    return []


def picture_key(images: "Sequence[Image]") -> str:
    """What a task's pictures are known by: the SHA-256 of their pixels, in hexadecimal; of several, of all of them."""
    import hashlib

    digests = [pixel_digest(image) for image in images]
    return (digests[0] if len(digests) == 1 else hashlib.sha256(b"".join(digests)).digest()).hex()


def seed_of(conversation: Conversation, images: "Sequence[Image]") -> bytes:
    """All chance of one answer: the run's seed and the pictures."""
    return f"{conversation.sampling.seed or 0} {picture_key(images)}".encode()


def answering(name: str, answer: Answer, began: float) -> Step:
    """An answer as the step that ends a run."""
    return Step(text=render(answer), model=name, usage=Usage(seconds=round(time.perf_counter() - began, 6)))
