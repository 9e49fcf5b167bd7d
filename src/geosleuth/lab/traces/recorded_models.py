"""Models whose replies are kept for good in a run's record, so that the run can be repeated without them."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Any, get_args

from geosleuth.agent import Event
from geosleuth.agent.codec import event_from_dict, event_to_dict, from_line, to_line
from geosleuth.agent.events import Said
from geosleuth.agent.policy_card import scale_of_policy
from geosleuth.atlas.online.access import Recording
from geosleuth.atlas.online.record import AnswerRecord, Recorded
from geosleuth.models import Conversation, Observed, Policy, Prompt, Step
from geosleuth.photo import BoxScale
from geosleuth.support.errors import ServiceFault
from geosleuth.tools import Toolset


class RecordedPolicy:
    """A policy that repeats what it said when it was shown the same before, and asks the model otherwise.

    With a record alone the model is never made: neither its key nor its weights are needed. A failure of the model is
    not kept, so that it can be tried again.
    """

    def __init__(self, model: str, make: Callable[[], Policy], recording: Recording) -> None:
        """Take the model's name, what makes it, and the record.

        Raises:
            UserError: the model can't be used.
        """
        self._model, self._record = model, AnswerRecord(recording.path)
        self._policy = None if recording.only else make()
        known = _compute_key("name", model)
        if self._policy is not None:
            self._record.keep(known, Recorded(self._policy.name.encode()))
        kept = self._record.get(known)
        self._name = kept.body.decode() if kept is not None and kept.body else model

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._name

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that pictures go to; none where only the record is asked."""
        return frozenset() if self._policy is None else self._policy.hosts

    async def box_scale(self, toolset: Toolset, guess: BoxScale) -> BoxScale:
        """Return in what the model is asked for boxes: as it was when its replies were kept, or as it says now.

        Before this was kept, all were asked in pixels.
        """
        key = _compute_key("boxes", self._model)
        kept = await asyncio.to_thread(self._record.get, key)
        if kept is None and self._policy is not None:
            found = await scale_of_policy(self._policy, toolset, guess)
            kept = await asyncio.to_thread(self._record.keep, key, Recorded(found.encode()))
        named = (kept.body or b"").decode() if kept is not None else "pixels"
        scales: tuple[BoxScale, ...] = get_args(BoxScale)
        return next((scale for scale in scales if scale == named), "pixels")

    async def step(self, conversation: Conversation) -> Step:
        """Return what the model said to this, or says now.

        Raises:
            ServiceFault: the model failed, or it was never shown this and may not be asked.
        """
        key = _compute_key("step", self._model, await asyncio.to_thread(describe_conversation, conversation))
        kept = await asyncio.to_thread(self._record.get, key)
        if kept is None:
            if self._policy is None:
                raise ServiceFault(
                    "record", f"{self._model} was never shown this, and only recorded replies are allowed"
                )
            said = await self._policy.step(conversation)
            line = to_line(event_to_dict(Event(0, 0.0, Said(1, said))))
            kept = await asyncio.to_thread(self._record.keep, key, Recorded(line))
        body = event_from_dict(from_line(kept.body or b"")).body
        if not isinstance(body, Said):
            raise ServiceFault("record", "holds something else than a reply")
        return body.step

    async def aclose(self) -> None:
        """Close the model."""
        if self._policy is not None:
            await self._policy.aclose()


def describe_conversation(conversation: Conversation) -> list[Any]:
    """Return all that a policy is shown, as plain data: words, tools, settings, and pictures by their pixels."""
    messages: list[Any] = []
    for message in conversation.messages:
        match message:
            case Prompt(text=text, images=handles):
                messages.append(["prompt", text, [_pixels(conversation, handle) for handle in handles]])
            case Observed(observations=observations):
                rows = [
                    [
                        observation.call_id,
                        observation.name,
                        observation.text,
                        [_pixels(conversation, image.handle) for image in observation.images],
                    ]
                    for observation in observations
                ]
                messages.append(["observed", rows])
            case Step(text=text, thinking=thinking, calls=calls):
                messages.append(["step", text, thinking, [[call.id, call.name, call.arguments] for call in calls]])
    drawn = conversation.sampling
    return [
        conversation.system,
        messages,
        [tool.name for tool in conversation.tools],
        [conversation.wire, conversation.may_call, conversation.wants_guess],
        [drawn.temperature, drawn.top_p, drawn.top_k, drawn.max_tokens, drawn.seed],
    ]


def _pixels(conversation: Conversation, handle: str) -> list[Any]:
    image = conversation.picture(handle).image
    return [handle, list(image.size), hashlib.sha256(image.tobytes()).hexdigest()]


def _compute_key(*parts: Any) -> bytes:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).digest()
