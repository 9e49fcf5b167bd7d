"""How a point is taken out of a tool's words: questions about businesses, without a picture, looked up for real.

A model that can't copy what a tool tells learns from no search, and reinforcement learning then takes the searches out
of it. These lessons cost a small part of what a drawn scene does, so there can be many.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from geosleuth.agent.conversation import CHARACTERS_PER_TOKEN, cut
from geosleuth.geo import distance_km
from geosleuth.names import country_name
from geosleuth.tools import Observation, ToolCall
from geosleuth.world.world import World

from .lessons import Lesson, answer_words, asked, told
from .teacher import AREA_KM, CLUES, NEAR_KM, SEARCH, nearest_shown

_BY_PHONE = 0.3
"""The share of questions after a telephone number, where there is one."""

LookUp = Callable[[ToolCall], Observation]
"""Carries out a call on the world's map."""

_WITH_TOWN = 0.5  # how often a business is asked for together with its town


def look_ups(
    world: World,
    system: Mapping[str, Any],
    look_up: LookUp,
    result_tokens: int | None,
    chance: random.Random,
    count: int,
) -> Iterator[Lesson]:
    """Questions after businesses of towns of the training split; those whose answer is not shown are left out.

    Args:
        world: whose businesses are asked for.
        system: the message that chats with tools begin with.
        look_up: asks the map.
        result_tokens: how long a result may be, as shown; None is no limit.
        chance: decides what is asked.
        count: how many questions are tried.
    """
    towns = world.towns_in("train")
    for number in range(count):
        town = chance.choice(towns)
        business = chance.choice(world.businesses(town))
        by_phone = business.phone is not None and chance.random() < _BY_PHONE
        question = (
            f"Where is {business.phone} from?" if by_phone else f"Where is {business.name} in {town.name_on_signs}?"
        )
        there = f", {town.name_on_signs}" if chance.random() < _WITH_TOWN else ""
        asked_for = {"text": business.phone} if by_phone else {"address": f"{business.name}{there}"}
        name, arguments = CLUES if by_phone else SEARCH, asked_for
        seen = look_up(ToolCall(f"call-{number + 1}", name, arguments))
        text = seen.text if result_tokens is None else cut(seen.text, result_tokens * CHARACTERS_PER_TOKEN)
        point = nearest_shown(seen.data if isinstance(seen.data, Mapping) else {}, business.point, text)
        if point is None or distance_km(point, business.point) > (AREA_KM if by_phone else NEAR_KM):
            continue
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        yield Lesson(
            "copying",
            [
                dict(system),
                asked(question),
                {"role": "assistant", "content": [], "tool_calls": [call]},
                {"role": "tool", "name": name, "content": [{"type": "text", "text": text}]},
                told(answer_words(country_name(town.country), None, point)),
            ],
            tools=True,
        )
