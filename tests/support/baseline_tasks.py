"""One photo put to a policy that answers in one step."""

import asyncio

from PIL.Image import Image

from geosleuth.agent.methods import method
from geosleuth.answer import Answer
from geosleuth.models import Conversation, Policy, Prompt, Sampling
from geosleuth.photo import Photo, first_view


def asked(image: Image | None, seed: int | None = None) -> Conversation:
    """The conversation that a run begins with."""
    view = None if image is None else first_view(Photo(image), handle="image_1")
    message = Prompt("Where was this photo taken?", () if view is None else ("image_1",))

    def picture(_handle: str) -> object:
        return view

    return Conversation("", (message,), (), picture, sampling=Sampling(seed=seed))  # type: ignore[arg-type]  # a view


def ask(policy: Policy, image: Image | None, *, seed: int | None = None) -> Answer:
    """What the policy answers, read as the loop reads it."""
    step = asyncio.run(policy.step(asked(image, seed)))
    assert not step.calls
    return method("default").read_answer(step.text)
