"""When to stop asking a model that fails: after the same trouble so many times in a row."""

import re

GIVE_UP = 5
"""How often in a row a model may fail in the same way before the rest is left."""

# Numbers of requests and times differ where the trouble is the same. Possessive: a long trouble costs no more than once
# through it.
_NUMBERS = re.compile(r"(?<![0-9a-f-])[a-f-]*+[0-9][0-9a-f-]*+")


class InARow:
    """Counts how often in a row a model has failed in the same way."""

    def __init__(self, most: int = GIVE_UP) -> None:
        """Say that it is enough after so many times."""
        self._most = most
        self._trouble, self._count = "", 0

    def is_enough(self, trouble: str) -> bool:
        """Hear of one more photo: the model's trouble with it, empty where there was none; true where to give up."""
        told = _NUMBERS.sub("#", trouble)
        self._count = self._count + 1 if told == self._trouble else 1
        self._trouble = told
        return bool(told) and self._count >= self._most
