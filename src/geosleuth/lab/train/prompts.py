"""Prompts of reinforcement learning: rows of scenes or photos, those that teach something, and their order.

The order of a whole run is laid out before it starts. So a curriculum is nothing but an order, and a resumed run
after a kill meets the same rows in the same places.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geosleuth.lab.bench.sets import Item, draw, open_set
from geosleuth.lab.bench.sets.dataset import is_for_testing
from geosleuth.lab.scenes.environment import build_photo_row, scene_rows
from geosleuth.lab.traces.filtering import build_tries, curriculum, find_teachable, read_tries
from geosleuth.support.errors import BadInput

from .recipe import DataPart, Recipe

Row = dict[str, Any]
"""What an episode is posed from, and ``id``: the photo's own in its data set, or ``scene-N``. No prompt yet."""

Indices = NDArray[np.int64]


def prompt_rows(data: DataPart, start: int = 0) -> list[Row]:
    """Return the rows that a recipe's data has, in their own order: photos of a data set, or scenes.

    Of photos a limit draws so many at random; scenes are random already.

    Args:
        data: of the recipe.
        start: the number of the first scene.

    Raises:
        BadInput: the data set can't be opened, or its photos are not files of their own.
    """
    if data.limit is None or not data.photos:
        return list(islice(all_rows(data, start), data.limit))
    return list(all_rows(data, chosen=draw((name for name, _ in photo_items(data)), data.limit, data.seed)))


def all_rows(data: DataPart, start: int = 0, *, chosen: Container[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a recipe's data regardless of its limit; of photos only those ``chosen``, if any are."""
    if not data.photos:
        return ({"id": scene_id(row["scene"]), **row} for row in scene_rows(data.scenes, start))
    items = (entry for entry in photo_items(data) if chosen is None or entry[0] in chosen)
    return ({"id": name, **build_photo_row(item)} for name, item in items)


def photo_items(data: DataPart) -> Iterator[tuple[str, Item]]:
    """Yield the photos of a recipe's data sets, of each set the recipe's share, with a name that is unique in the run.

    Raises:
        BadInput: a set can't be opened, is for testing, or the shares don't fit the sets.
    """
    specs = data.photos or ()
    if data.shares and (len(data.shares) != len(specs) or not all(0 < entry <= 1 for entry in data.shares)):
        raise BadInput(
            f"data.shares: give a share above 0 and up to 1 for each of the {len(specs)} sets of data.photos"
        )
    for spec, share in zip(specs, data.shares or (1.0,) * len(specs), strict=True):
        opened = open_set(spec)
        for item in opened:
            if share < 1 and _hash_to_unit(f"{data.seed} {opened.card.name} {item.id}") >= share:
                continue
            if not data.allow_test and is_for_testing(opened.card, item):
                raise BadInput(
                    f"{spec}: these are test photos ({opened.card.title}), and a policy that has learned them has no "
                    "score worth telling; name a training part (geosleuth dataset list), or add --allow-test, which "
                    "marks the policy and all its scores"
                )
            # Sets may share ids; a single one keeps its own, by which tries know its photos.
            yield item.id if len(specs) == 1 else f"{opened.card.name}/{item.id}", item


def _hash_to_unit(text: str) -> float:
    """Return a number from 0 to 1 that depends only on the text."""
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") / 2**64


def scene_id(number: int) -> str:
    """Return what a scene is called in files of tries and results."""
    return f"scene-{number}"


def phases(rows: Sequence[Mapping[str, Any]], data: DataPart) -> list[Indices]:
    """Return the parts of a run: for each the numbers of the rows that teach something in it.

    Without tries there is one part with all rows. With tries but no phases there is one with the rows that teach
    something at any of the regimes. Rows without tries are left out then.

    Raises:
        BadInput: no rows; phases without tries; tries that can't be read; none of the rows is left in a phase.
    """
    if not rows:
        raise BadInput("there are no rows to learn from; look at data.photos, data.scenes and data.limit")
    if data.tries is None:
        if data.phases_km:
            raise BadInput("data.phases_km needs data.tries: a curriculum chooses rows by how tries at them went")
        return [np.arange(len(rows), dtype=np.int64)]
    numbers = {str(row["id"]): number for number, row in enumerate(rows)}
    tried = {one: values for one, values in read_tries([data.tries]).items() if one in numbers}
    if not tried:
        raise BadInput(f"{data.tries}: none of its tries are at rows of this recipe; ids are such as {rows[0]['id']!r}")
    found = find_teachable(build_tries(tried), data.regimes_km)
    parts = curriculum(found, data.phases_km or (data.regimes_km,))
    own = np.array([numbers[item] for item in found.tries.ids], dtype=np.int64)
    for part in parts:
        if not len(part):
            at = ", ".join(f"{km:g}" for km in part.thresholds_km)
            raise BadInput(f"{data.tries}: no row is right in some tries and wrong in others at {at} km; try more rows")
    return [np.sort(own[part.photos]) for part in parts]


def run_order(parts: Sequence[Indices], recipe: Recipe) -> Indices:
    """Return the row of each prompt of a run, in order.

    Every phase is shuffled, and begun again in another order where it has fewer rows than prompts. Where the recipe
    says how many steps there are, phases share them in proportion to their rows. The last sampling is filled up.

    Raises:
        BadInput: there are no rows.
    """
    sizes = np.array([len(part) for part in parts])
    if not sizes.sum():
        raise BadInput(f"recipe {recipe.name}: its data has no rows")
    optim = recipe.optim
    wanted = optim.epochs * sizes.sum() if optim.steps is None else optim.steps * (optim.mini_batch or optim.batch)
    prompts = ceil(wanted / optim.batch) * optim.batch
    ends = np.rint(np.cumsum(sizes) / sizes.sum() * prompts).astype(int)
    lengths = np.diff(ends, prepend=0)
    drawn = [
        _repeat_shuffled(part, int(length), (recipe.run.seed, number))
        for number, (part, length) in enumerate(zip(parts, lengths, strict=True))
    ]
    return np.concatenate(drawn)


def _repeat_shuffled(part: Indices, length: int, seed: tuple[int, int]) -> Indices:
    rng = np.random.default_rng(seed)
    passes = [rng.permutation(part) for _ in range(ceil(length / len(part)))] if length else []
    return np.concatenate([part[:0], *passes])[:length]
