"""The photos of a ``team`` command: of any data set that ``bench run`` opens."""

from pathlib import Path

from geosleuth.lab.bench.sets import Item, describe, open_set
from geosleuth.lab.bench.sets.subsets import is_missing
from geosleuth.support.console import talk
from geosleuth.support.errors import BadInput
from geosleuth.support.text.numbers import plural


def load_photos(dataset: Path) -> list[Item]:
    """Return the photos of a folder, a table, or a set by name; what is left out is said.

    Raises:
        BadInput: there are none.
    """
    data = open_set(str(dataset))
    seen = describe(data)
    for count, why in (
        (seen.left_out, seen.left_out_shown[0].reason if seen.left_out_shown else ""),
        (seen.missing, "no such file"),
    ):
        if count:
            talk(f"{dataset}: {plural(count, 'photo is', 'photos are')} left out: {why}")
    found = [item for item in data if not is_missing(item)]
    if not found:
        raise BadInput(f"{dataset}: no photo has a known place; give geotagged photos, or a table with path, lat, lon")
    return found
