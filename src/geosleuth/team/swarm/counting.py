"""What a member's run cost by the team's tariff: every turn with all that was really shown in it."""

from typing import NoReturn

from geosleuth.agent import Context, Said, Trajectory, conversation_of
from geosleuth.policies import Message, Observed, Prompt, Step
from geosleuth.team import image_tokens, text_tokens


def run_tokens(trajectory: Trajectory, context: Context) -> int:
    """Tokens of a whole run: for each reply the words and pictures that it was asked with, and what it said.

    Args:
        trajectory: the run.
        context: what its method shows of the history. Descriptions of tools are left out: they differ by wire.
    """
    sizes = {image.handle: image.size for image in trajectory.images}
    total = 0
    for index, event in enumerate(trajectory.events):
        if isinstance(event.body, Said):
            shown = conversation_of(trajectory.events[:index], context=context, tools=(), picture=_unseen)
            total += text_tokens(shown.system) + _message_tokens(event.body.step, sizes)
            total += sum(_message_tokens(message, sizes) for message in shown.messages)
    return total


def _message_tokens(message: Message, sizes: dict[str, tuple[int, int]]) -> int:
    handles: tuple[str, ...] = ()
    match message:
        case Prompt(text=words, images=handles):
            pass
        case Step(text=text, thinking=thinking, calls=calls):
            words = text + thinking + "".join(f"{call.name}{call.arguments}" for call in calls)
        case Observed(observations=observations):
            words = "".join(one.text for one in observations)
            handles = tuple(image.handle for one in observations for image in one.images)
    return text_tokens(words) + sum(image_tokens(*sizes[handle]) for handle in handles if handle in sizes)


def _unseen(handle: str) -> NoReturn:
    raise LookupError(handle)
