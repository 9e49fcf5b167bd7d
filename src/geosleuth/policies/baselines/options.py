"""The options behind a baseline's name: ``NAME,within=25,k=10``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from geosleuth.errors import BadInput
from geosleuth.geo import FARTHEST_KM


@dataclass(frozen=True, slots=True)
class Options:
    """Options by name, as they were written."""

    given: Mapping[str, str]

    def text(self, name: str, otherwise: str, choices: Sequence[str]) -> str:
        """One of several words.

        Raises:
            BadInput: it is another.
        """
        found = self.given.get(name, otherwise)
        if found not in choices:
            raise BadInput(f"{name}={found[:40]} must be {' or '.join(choices)}")
        return found

    def km(self, name: str, otherwise: float) -> float:
        """A distance.

        Raises:
            BadInput: it is none.
        """
        text = self.given.get(name)
        try:
            found = otherwise if text is None else float(text)
        except ValueError:
            found = float("nan")
        if not (isfinite(found) and 0 < found <= FARTHEST_KM):
            raise BadInput(f"{name}={(text or '')[:40]} must be a number of kilometres above 0, such as {name}=25")
        return found

    def count(self, name: str, otherwise: int, most: int) -> int:
        """A number of things, from 1.

        Raises:
            BadInput: it is none.
        """
        text = self.given.get(name)
        if text is None:
            return otherwise
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
            raise BadInput(f"{name}={text[:40]} must be a whole number from 1 to {most}")
        return int(text)


def take_options(text: str, known: Sequence[str]) -> tuple[str, Options]:
    """What stands before the options, and the options; a comma that no known option follows belongs to the name.

    Raises:
        BadInput: an option is given twice, or there is none of that name.
    """
    given: dict[str, str] = {}
    rest = text
    while True:
        before, comma, last = rest.rpartition(",")
        name, equals, value = (part.strip() for part in last.partition("="))
        if not comma or not equals:
            return rest.strip(), Options(given)
        if name not in known:
            raise BadInput(f"{name[:40]!r} is no option here; there are {', '.join(f'{one}=' for one in known)}")
        if name in given:
            raise BadInput(f"{name}= is given twice; give it once")
        given[name] = value
        rest = before
