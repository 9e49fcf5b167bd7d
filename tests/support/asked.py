"""A photo with a past and a conversation about it, for tests of policies."""

import asyncio
from pathlib import Path

from PIL import Image

from geosleuth.models import Conversation, EndpointSettings, Observed, Policy, Prompt, Sampling, Step, Wire
from geosleuth.photo import Album, open_photo
from geosleuth.tools import ImageInfo, Observation, Tool, tool
from geosleuth.tools.calls import Case, Output

TELLING = "eiffel-tower-holiday"
QUICK = EndpointSettings(tries=3, backoff_s=0.01, backoff_max_s=0.02, connect_s=2, try_s=2, total_s=5)


@tool("look")
async def look(case: Case, bbox_2d: list[int], label: str | None = None) -> Output:  # noqa: ARG001
    """Look closer.

    Args:
        bbox_2d: left, top, right, bottom.
        label: what for.
    """
    raise AssertionError("policies only speak of tools")


TOOLS: tuple[Tool, ...] = (look,)


def album_of(folder: Path, size: tuple[int, int] = (120, 80)) -> Album:
    """The album of a photo whose file name and metadata tell where it is from."""
    path = folder / f"{TELLING}.jpg"
    image = Image.new("RGB", size, (90, 120, 200))
    exif = Image.Exif()
    exif[0x010E] = f"{TELLING} in Paris"
    exif[0x010F] = "Secretive Cameras"
    image.save(path, exif=exif)
    assert TELLING.encode() in path.read_bytes()
    album = Album()
    album.add(open_photo(path).photo)
    return album


def conversation_about(
    album: Album,
    *more: Step | Prompt | Observed,
    tools: tuple[Tool, ...] = TOOLS,
    wire: Wire = "native",
    sampling: Sampling | None = None,
    may_call: bool = True,
) -> Conversation:
    """The task and whatever was said since."""
    task = Prompt("Where was this taken?", ("image-1",))
    return Conversation(
        "You are a detective.", (task, *more), tools, album.__getitem__, wire, sampling or Sampling(), may_call
    )


def seen(album: Album, call_id: str, *, text: str = "A closer look.", name: str = "look") -> Observed:
    """What comes back from a look closer: a crop of 60 x 40 pixels, magnified."""
    view = album.crop("image-1", [0, 0, 60, 40])
    info = ImageInfo(view.handle, view.size, 1, view.box_in_original)
    return Observed((Observation(call_id, name, text, images=(info,)),))


def step_of(policy: Policy, conversation: Conversation) -> Step:
    """One step, and the end of the policy."""
    (step,) = steps_of(policy, conversation)
    return step


def steps_of(policy: Policy, *conversations: Conversation) -> list[Step]:
    """One step for each conversation, all at once, and the end of the policy."""

    async def ask() -> list[Step]:
        try:
            return await asyncio.gather(*(policy.step(one) for one in conversations))
        finally:
            await policy.aclose()

    return asyncio.run(ask())
