"""Stand-ins for models that play scenes: they say what a script says, whatever they see."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from geosleuth.lab.scenes.environment import Setting, offline_setting
from geosleuth.lab.train.generator import Asked, ChatWords
from geosleuth.models.weights_engine import Abilities, Generated

ALL_ROLES = frozenset({"user", "assistant", "system", "tool"})


def called(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def answered(lat: float, lon: float, country: str = "Monaco") -> str:
    return json.dumps({"lat": lat, "lon": lon, "country": country})


ZOOM = called("zoom", bbox_2d=[0, 0, 300, 200])
NEAR, FAR = answered(43.7384, 7.4246), answered(-33.87, 151.21, "Australia")


def plain_setting() -> Setting:
    """The method of few words on the base atlas alone, so that no world's map has to be made."""
    return offline_setting("nano", answer_by="reply")


class Scripted:
    """Replies by the turn of a conversation; ``sizes`` are those of the batches that were asked for."""

    def __init__(self, say: Callable[[int, Asked], str]) -> None:
        self.words = ChatWords(Abilities(True, True, True, ALL_ROLES), frozenset({"<|im_end|>"}), "scripted")
        self._say = say
        self.sizes: list[int] = []

    def prepare(self, asked: Asked) -> Asked:
        return asked

    def replies(self, asked: Sequence[Asked]) -> list[Any]:
        self.sizes.append(len(asked))
        return [Generated(self._say(turn_of(one), one), 100, 20, False) for one in asked]


def turn_of(asked: Asked) -> int:
    return sum(message["role"] == "assistant" for message in asked.messages)
