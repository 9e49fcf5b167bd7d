"""What a reply costs in tokens, by one tariff for all members, so that ways of working can be compared.

Providers count differently, and some do not count images at all. Here texts and pictures are judged as the agent's
loop judges them, see `geosleuth.agent.conversation`.
"""

import math

from geosleuth.agent.conversation import CHARACTERS_PER_TOKEN, PIXELS_PER_TOKEN


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def image_tokens(width: int, height: int) -> int:
    """Tokens of a picture of so many pixels."""
    return math.ceil(width * height / PIXELS_PER_TOKEN)


def reply_tokens(asked: str, said: str, sizes: tuple[tuple[int, int], ...] = ()) -> int:
    """Tokens of one reply: all the words it was asked with, the pictures shown with them, and what it said."""
    return text_tokens(asked) + text_tokens(said) + sum(image_tokens(*size) for size in sizes)
