"""A part of a data set, and a fingerprint that tells whether two are the same."""

import hashlib
import heapq
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from geosleuth.errors import BadInput
from geosleuth.names import same_country

from .model import DataSet, Item


def subset(
    data: DataSet,
    *,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    only: Sequence[str] = (),
) -> DataSet:
    """A part of a data set, in the set's own order; without wishes, the whole.

    Args:
        data: the set.
        limit: the first so many of what the others leave.
        sample: so many at random. A smaller sample of the same seed is a part of a larger one.
        seed: of the sample.
        only: ``FIELD=VALUE``: items whose field has that value. Several values of one field are alternatives; several
            fields must all hold. ``country`` is the truth's, in any language; ``id`` is the item's own.

    Raises:
        BadInput: a wish that can't be read.
    """
    if (limit is not None and limit < 1) or (sample is not None and sample < 1):
        raise BadInput("a part of a data set has at least one photo")
    wishes = _wishes(only)
    if limit is None and sample is None and not wishes:
        return data
    return DataSet(data.card, data.root, _Part(data, limit, sample, seed, wishes))


@dataclass(frozen=True, slots=True)
class _Part:
    data: DataSet
    limit: int | None
    sample: int | None
    seed: int
    wishes: dict[str, tuple[str, ...]]

    def __call__(self) -> Iterator[Item]:
        chosen = None if self.sample is None else self._sampled(self.sample)
        left = self.limit
        for item in self._wished():
            if chosen is not None and item.id not in chosen:
                continue
            yield item
            if left is not None:
                left -= 1
                if left == 0:
                    return

    def _wished(self) -> Iterator[Item]:
        for item in self.data:
            if all(any(_has(item, name, value) for value in values) for name, values in self.wishes.items()):
                yield item

    def _sampled(self, count: int) -> frozenset[str]:
        # Each id has its own lot, so that neither the order nor the number of items changes who is drawn first.
        lots = ((_lot(self.seed, item.id), item.id) for item in self._wished())
        return frozenset(id_ for _, id_ in heapq.nsmallest(count, lots))


def _lot(seed: int, id_: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{id_}".encode("utf-8", "surrogatepass")).digest()


def _wishes(only: Sequence[str]) -> dict[str, tuple[str, ...]]:
    wishes: dict[str, tuple[str, ...]] = {}
    for word in only:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"{word[:60]!r}: a wish is FIELD=VALUE, such as country=France or split=test")
        key = name.strip()
        wishes[key] = (*wishes.get(key, ()), value.strip())
    return wishes


def _has(item: Item, name: str, value: str) -> bool:
    if name == "id":
        return item.id == value
    if name == "country" and item.truth.country is not None:
        return same_country(item.truth.country, value)
    return item.fields.get(name) == value


def fingerprint(data: DataSet, progress: Callable[[int], None] = lambda _items: None) -> tuple[int, str]:
    """How many items a set has, and a SHA-256 over ids, truths, fields, boxes and sizes of files, in order.

    Photos are not read: one that was replaced by another of the same size goes unnoticed. ``progress`` hears of every
    item.

    Raises:
        BadInput: the set can't be read to its end.
    """
    digest = hashlib.sha256(b"geosleuth data set 1\n")
    count = 0
    for item in data:
        truth = item.truth
        line = [
            item.id,
            [truth.point.lat, truth.point.lon, truth.country, truth.region, truth.city],
            sorted(item.fields.items()),
            [[box.kind, box.left, box.top, box.right, box.bottom] for box in item.boxes],
            item.picture.size_bytes(),
        ]
        digest.update(json.dumps(line).encode() + b"\n")
        count += 1
        progress(1)
    return count, digest.hexdigest()
