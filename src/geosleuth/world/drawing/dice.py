"""Chance that a seed decides."""

import random


def dice(seed: str | int) -> random.Random:
    """Chance for drawing: the same seed falls the same way on every machine."""
    return random.Random(seed)  # noqa: S311 - no secret depends on it
