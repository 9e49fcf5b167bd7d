"""Signs with true names, read where their own map is not installed and other maps are, or none.

    python benchmarks/foreign_signs.py FOLDER [--table FILE] [--count N] [--seed N] [--show] [--json FILE] [--check]

FOLDER holds extracts of OpenStreetMap, each named by its country's or town's name (`liechtenstein.osm.pbf`). Names of
businesses and streets are taken from each, by a seed, and stand on a sign of one, two or three lines. A stand-in reads
them letter by letter, so that reading is no part of the figures. Each sign is located three times: with all other
extracts installed, with all extracts, and with none.

Counted for each: answers, those with the right country, those at 0.5 or more with the right country, and those at 0.5
or more that lie in an installed extract, more than 25 km from the sign. `--table` adds signs from a file: country code,
latitude, longitude and lines, separated by tabs; they are located with all extracts installed and with none. `--check`
exits with 1 where a limit is missed.
"""

import argparse
import json
import platform
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import osmium  # noqa: E402

from geosleuth.atlas import Atlas, OfflineAtlas  # noqa: E402
from geosleuth.evidence.calibration import CalibrationSample  # noqa: E402
from geosleuth.evidence.heartlands import find_country  # noqa: E402
from geosleuth.geo import LatLon, distance_km  # noqa: E402
from geosleuth.models.detective import Detective  # noqa: E402
from geosleuth.names import country_code  # noqa: E402
from homes import add_region  # noqa: E402
from sign_reader import locate_lines  # noqa: E402

LEAST_RIGHT, MOST_LURED, LEAST_ANSWERED = 0.95, 0.01, 0.60
CONFIDENT = 0.5

_SHOPS = ("shop", "amenity", "tourism", "craft", "office")
_STREETS = {"primary", "secondary", "tertiary", "residential", "unclassified", "living_street", "pedestrian"}
_NEAR_KM, _FAR_KM = 0.25, 25.0


@dataclass(frozen=True, slots=True)
class Named:
    """A business or a street of an extract."""

    name: str
    point: LatLon
    is_street: bool


@dataclass(frozen=True, slots=True)
class Sign:
    """Lines of a sign, the extract they are from, and where it stands."""

    lines: tuple[str, ...]
    kind: str
    extract: str
    point: LatLon
    country: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was made of a sign. ``lured`` names the installed extract that the answer wrongly lies in.

    ``sample`` is the decision, and whether the sign stands within its radius, or for a whole country in it.
    """

    sign: Sign
    installed: str
    country: str | None
    probability: float
    address: str
    lured: str | None
    sample: CalibrationSample | None

    @property
    def is_right(self) -> bool:
        """Whether the country is the true one."""
        return self.country == self.sign.country


def read_names(extract: Path) -> list[Named]:
    """Return businesses and streets of an extract, each name once."""
    found: dict[str, Named] = {}
    for thing in osmium.FileProcessor(str(extract)).with_locations():
        tags = dict(thing.tags)
        name = tags.get("name", "")
        if not 4 <= len(name) <= 40 or not any(map(str.isalpha, name)):
            continue
        if isinstance(thing, osmium.osm.Node) and any(key in tags for key in _SHOPS):
            found.setdefault(name, Named(name, LatLon(thing.location.lat, thing.location.lon), is_street=False))
        elif isinstance(thing, osmium.osm.Way) and tags.get("highway") in _STREETS:
            nodes = [node for node in thing.nodes if node.location.valid()]
            if nodes:
                middle = nodes[len(nodes) // 2]
                found.setdefault(name, Named(name, LatLon(middle.lat, middle.lon), is_street=True))
    return [found[name] for name in sorted(found)]


def make_signs(extract: Path, count: int, seed: int) -> list[Sign]:
    """Return signs of an extract: each of five kinds equally often."""
    title = extract.name.split(".")[0]
    named, draw = read_names(extract), random.Random(f"{seed} {title}")
    shops, streets = ([one for one in named if one.is_street == is_street] for is_street in (False, True))
    signs = []
    for number in range(count):
        kind = ("business", "street", "business and street", "two streets", "business and two streets")[number % 5]
        first = draw.choice(shops if kind.startswith("business") else streets)
        near = sorted((one for one in streets if one != first), key=lambda one: distance_km(one.point, first.point))[:6]
        near = [one for one in near if distance_km(one.point, first.point) <= _NEAR_KM] or near[:1]
        wanted = {"business": 0, "street": 0, "business and two streets": 2}.get(kind, 1)
        others = draw.sample(near, min(wanted, len(near)))
        country = find_country(first.point) or ""
        signs.append(Sign((first.name, *(one.name for one in others)), kind, title, first.point, country))
    return signs


def locate_sign(sign: Sign, atlas: Atlas, areas: Mapping[str, Sequence[Named]], installed: str) -> Outcome:
    """Return what the detective makes of a sign."""
    detective = Detective()
    answer = locate_lines(sign.lines, atlas, detective=detective).answer
    named = answer.address.country.conclusion
    lured, sample = None, None
    off_km = 0.0 if answer.point is None else distance_km(answer.point, sign.point)
    if answer.point is not None and off_km > _FAR_KM >= (answer.radius_km or 0):
        for title, names in areas.items():
            if title != sign.extract and any(distance_km(one.point, answer.point) <= 1 for one in names):
                lured = title
    country = country_code(named) if named else None
    if country and detective.newest is not None:
        decision = detective.newest.decision
        near = decision.is_country or off_km <= (answer.radius_km or 0.0)
        sample = CalibrationSample.create(decision, right=country == sign.country and near)
    return Outcome(sign, installed, country, answer.probability or 0.0, str(answer.address), lured, sample)


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the shares that the module describes."""
    answered = [one for one in outcomes if one.country]
    sure = [one for one in answered if one.probability >= CONFIDENT]
    two = [one for one in outcomes if len(one.sign.lines) >= 2]
    return {
        "signs": len(outcomes),
        "answered": len(answered),
        "right": sum(one.is_right for one in answered),
        "sure": len(sure),
        "sure_right": sum(one.is_right for one in sure),
        "lured": sum(one.lured is not None for one in sure),
        "two_names": len(two),
        "two_names_right": sum(one.is_right for one in two),
    }


def read_table(path: Path) -> list[Sign]:
    """Return the signs of a file."""
    signs = []
    for row in path.read_text(encoding="utf-8").splitlines():
        country, lat, lon, *lines = row.split("\t")
        signs.append(Sign(tuple(lines), "table", path.stem, LatLon(float(lat), float(lon)), country))
    return signs


def run(folder: Path, table: Path | None, count: int, seed: int) -> Iterator[Outcome]:
    """Yield the outcome of every sign in every setting."""
    extracts = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.osm.pbf"))}
    names = {title: read_names(path) for title, path in extracts.items()}
    signs = {title: make_signs(path, count, seed) for title, path in extracts.items()}
    signs |= {table.stem: read_table(table)} if table else {}
    with TemporaryDirectory() as scratch:
        for title, chosen in signs.items():
            for setting in ("others", "none", "all") if title in extracts else ("others", "none"):
                regions = Path(scratch) / f"{setting}-{title}"
                regions.mkdir()
                used = [one for one in extracts if setting == "all" or (setting == "others" and one != title)]
                for one in used:
                    add_region(extracts[one], regions)
                atlas, areas = OfflineAtlas(regions), {one: names[one] for one in used}
                for sign in chosen:
                    yield locate_sign(sign, atlas, areas, setting)


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", type=Path, help="more signs")
    parser.add_argument("--count", type=int, default=50, help="signs of each extract (50)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print every wrong answer at 0.5 or more")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    outcomes: list[Outcome] = []
    for outcome in run(asked.folder, asked.table, asked.count, asked.seed):
        outcomes.append(outcome)
        if asked.show and outcome.probability >= CONFIDENT and not outcome.is_right:
            sign = f"{' | '.join(outcome.sign.lines)} ({outcome.sign.country})"
            print(f"{outcome.installed}: {sign}: {outcome.address} {outcome.probability:.2f}", flush=True)
        if sys.stderr.isatty():
            print(f"\r{len(outcomes)} signs", end="", file=sys.stderr)
    print(f"{platform.machine()}, seed {asked.seed}")
    for setting in ("others", "none", "all"):
        for title in (*sorted({one.sign.extract for one in outcomes}), ""):
            chosen = [one for one in outcomes if one.installed == setting and title in ("", one.sign.extract)]
            print(
                f"{setting:7} {title or 'together':16} "
                + "  ".join(f"{name} {value}" for name, value in figures(chosen).items())
            )
    if asked.json:
        asked.json.write_text(
            json.dumps([asdict(one) for one in outcomes], ensure_ascii=False, indent=1), encoding="utf-8"
        )
    foreign = figures([one for one in outcomes if one.installed != "all"])
    missed = [
        foreign["sure"] and foreign["sure_right"] / foreign["sure"] < LEAST_RIGHT,
        foreign["lured"] / max(1, foreign["signs"]) > MOST_LURED,
        foreign["two_names_right"] / max(1, foreign["two_names"]) < LEAST_ANSWERED,
    ]
    return 1 if asked.check and any(missed) else 0


if __name__ == "__main__":
    sys.exit(main())
