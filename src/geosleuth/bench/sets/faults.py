"""What a data set's files hold that is no photo with a truth, and how a pass over a set deals with it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from geosleuth.errors import BadInput

from .model import Item


@dataclass(frozen=True, slots=True)
class Fault:
    """A row or file that gives no item.

    ``expected`` says that it belongs to the way the set is made, such as a photo without GPS tags in a folder that is
    read for them: a pass goes on without it. Any other fault ends the pass, because leaving it out would change every
    figure.
    """

    where: str
    reason: str
    expected: bool = False


Entry = Item | Fault


@dataclass(frozen=True, slots=True)
class Strict:
    """A data set's stream: items with unique ids; the first fault that is not expected ends it.

    ``entries`` begins a pass that shows the faults too, with ids as the files have them.
    """

    entries: Callable[[], Iterable[Entry]]

    def __call__(self) -> Iterator[Item]:
        """Begin a pass.

        Raises:
            BadInput: a row or file is no photo with a truth; the message names it.
        """
        seen: dict[str, int] = {}
        for entry in self.entries():
            if isinstance(entry, Item):
                yield _told_apart(entry, seen)
            elif not entry.expected:
                raise BadInput(f"{entry.where}: {entry.reason}")


def _told_apart(item: Item, seen: dict[str, int]) -> Item:
    """The item under an id that no item before it has: a repeat becomes ``id#2``."""
    count = seen.get(item.id, 0) + 1
    seen[item.id] = count
    if count == 1:
        return item
    while (name := f"{item.id}#{count}") in seen:
        count += 1
    seen[item.id] = count
    seen[name] = 1
    return replace(item, id=name)
