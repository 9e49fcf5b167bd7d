"""Features that stand together, against trying every combination there is."""

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from geosleuth.atlas.regions import Regions, colocated, feature_query, import_osm
from geosleuth.atlas.regions.candidates import Candidates, resolve
from geosleuth.atlas.regions.combinations import lie_in_order
from geosleuth.geo import Box, FloatArray, LatLon, bearing_deg, distance_km, great_circle_km
from geosleuth.support.errors import BadInput

WORDS = [
    "cafe", "amenity=restaurant", "pharmacy", "hotel", "bus stop", "shop", "bench", "Carrefour", "amenity=parking",
    "bank", "supermarket", "post box", "school", "church", "traffic lights", "Casino", "tourism=artwork", "atm",
    "Rue Grimaldi",
]  # fmt: skip


def brute_force(
    sets: list[Candidates], within_m: float, bearings: list[float | None], *, in_order: bool
) -> list[float]:
    """The spread of the tightest combination around each candidate of the smallest set, in order."""
    anchor = min(range(len(sets)), key=lambda number: len(sets[number]))
    best: dict[int, float] = {}
    spots = [
        [
            (int(key), LatLon(float(lat), float(lon)), int(owner))
            for lat, lon, owner, key in zip(one.lats, one.lons, one.owner_of, one.keys[one.owner_of], strict=True)
        ]
        for one in sets
    ]
    first_pairs = {
        (i, j): {
            (a, b): distance_km(spots[i][a][1], spots[j][b][1]) * 1000
            for a in range(len(spots[i]))
            for b in range(len(spots[j]))
        }
        for i, j in itertools.combinations(range(len(sets)), 2)
    }
    for combination in itertools.product(*(range(len(one)) for one in spots)):
        spread = max(first_pairs[i, j][combination[i], combination[j]] for i, j in first_pairs)
        owner = spots[anchor][combination[anchor]][2]
        if spread > within_m or spread >= best.get(owner, np.inf):
            continue
        chosen = [spots[number][at] for number, at in enumerate(combination)]
        if len({key for key, _, _ in chosen}) < len(chosen):
            continue
        points = [point for _, point, _ in chosen]
        turned = [
            abs((bearing_deg(points[0], point) - wanted + 180) % 360 - 180)
            for point, wanted in zip(points, bearings, strict=True)
            if wanted is not None
        ]
        if any(turn > 30 for turn in turned):
            continue
        lats, lons = np.array([[p.lat for p in points]]), np.array([[p.lon for p in points]])
        if in_order and not lie_in_order(lats, lons)[0]:
            continue
        best[owner] = spread
    return sorted(best.values())


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60))])
def test_random_triples_equal_brute_force(regions: Regions, seed: int) -> None:
    chance = random.Random(seed)
    opened = regions.store.open_all()
    compared = 0
    while compared < 2:
        words = chance.sample(WORDS, chance.choice([2, 3, 3]))
        within_m = chance.choice([30.0, 80.0, 200.0, 500.0])
        bearings: list[float | None] = [None, *(chance.choice([None, chance.uniform(0, 360)]) for _ in words[1:])]
        in_order = chance.random() < 0.4
        box = chance.choice([None, Box(43.733, 7.415, 43.742, 7.43)])
        known: dict[tuple[str, int | str], int] = {}
        sets = [resolve(regions.store, opened, word, box, known) for word in words]
        if not all(sets) or np.prod([len(one.lats) for one in sets]) > 60_000:
            continue
        compared += 1
        expected = brute_force(sets, within_m, bearings, in_order=in_order)
        found = regions.colocated(words, within_m, within=box, bearings_deg=bearings[1:], in_order=in_order, limit=1000)
        assert [one.spread_m for one in found] == pytest.approx(expected, abs=1e-6)
        some = regions.colocated(words, within_m, within=box, bearings_deg=bearings[1:], in_order=in_order, limit=3)
        assert [one.spread_m for one in some] == pytest.approx(expected[:3], abs=1e-6)


def test_what_is_found_is_what_was_asked_for(regions: Regions) -> None:
    found = regions.colocated(["pharmacy", "cafe", "amenity=bank"], 300)
    assert found
    for one in found:
        assert [place.kind for place in one.places] == ["amenity=pharmacy", "amenity=cafe", "amenity=bank"]
        widest = max(distance_km(a.point, b.point) for a, b in itertools.combinations(one.places, 2)) * 1000
        assert one.spread_m == pytest.approx(widest)
        assert one.spread_m <= 300
        assert 0 < one.score <= 1
    spreads = [one.spread_m for one in found]
    assert spreads == sorted(spreads)


def test_one_feature_plays_one_part(regions: Regions) -> None:
    for one in regions.colocated(["cafe", "amenity=cafe"], 500):
        assert one.places[0].id != one.places[1].id


def test_a_street_counts_along_its_whole_length(regions: Regions) -> None:
    found = regions.colocated(["Rue Grimaldi", "Rue Suffren Reymond"], 15)
    assert len(found) == 1
    corner = regions.crossing("Rue Grimaldi", "Rue Suffren Reymond")[0].place.point
    assert distance_km(found[0].point, corner) < 0.02


def test_two_sides_of_the_antimeridian(tmp_path: Path) -> None:
    nodes = [(1, 179.9999, "cafe", "West"), (2, -179.9999, "pharmacy", "East"), (3, -179.9, "pharmacy", "Far")]
    source = tmp_path / "line.osm"
    source.write_text(
        "<osm version='0.6'>"
        + "".join(
            f"<node id='{number}' lat='-17' lon='{lon}'><tag k='amenity' v='{kind}'/><tag k='name' v='{name}'/></node>"
            for number, lon, kind, name in nodes
        )
        + "</osm>"
    )
    import_osm(source, folder=tmp_path)
    regions = Regions(tmp_path)
    (found,) = regions.colocated(["cafe", "pharmacy"], 1000)
    assert [place.name for place in found.places] == ["West", "East"]
    assert found.spread_m == pytest.approx(21.3, abs=0.2)
    assert abs(found.point.lon) == pytest.approx(180)
    assert [one.places[1].name for one in regions.colocated(["cafe", "pharmacy"], 1000, bearings_deg=[90])] == ["East"]
    assert regions.colocated(["cafe", "pharmacy"], 1000, bearings_deg=[270]) == []
    assert {hit.place.name for hit in regions.nearby(LatLon(-17, 180), 100)} == {"West", "East"}


LONG = {"Rue Haute": 0.002, "Route Longue": 0.03}  # degrees to the north: 220 m and 3.3 km


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Regions, dict[str, FloatArray]]:
    """Two regions: 6,000 benches, 3,000 bus stops, 15 chapels of a name, streets of two others; and where they are."""
    chance = np.random.default_rng(27)
    many = {"bench": 6000, "bus_stop": 3000, "Saint Anne": 15, "Rue Haute": 300, "Route Longue": 120}
    spots = {what: chance.uniform((45.0, 6.0), (45.3, 6.3), (count, 2)) for what, count in many.items()}
    tags = {
        "bench": "<tag k='amenity' v='bench'/>",
        "bus_stop": "<tag k='highway' v='bus_stop'/>",
        "Saint Anne": "<tag k='amenity' v='place_of_worship'/><tag k='name' v='Saint Anne'/>",
    }
    folder = tmp_path_factory.mktemp("crowded")
    for half in range(2):
        nodes, ways = list[str](), list[str]()
        for what, at in spots.items():
            for lat, lon in at[half::2]:
                number = len(nodes) + 10_000_000 * half + 1
                nodes.append(f"<node id='{number}' lat='{lat:.7f}' lon='{lon:.7f}'>{tags.get(what, '')}</node>")
                if what not in tags:
                    nodes.append(f"<node id='{number + 1}' lat='{lat + LONG[what]:.7f}' lon='{lon:.7f}'/>")
                    road = f"<tag k='highway' v='residential'/><tag k='name' v='{what}'/>"
                    ways.append(f"<way id='{number}'><nd ref='{number}'/><nd ref='{number + 1}'/>{road}</way>")
        source = folder / f"half{half}.osm"
        source.write_text(f"<osm version='0.6'>{''.join(nodes)}{''.join(ways)}</osm>")
        import_osm(source, folder=folder)
    return Regions(folder), spots


@pytest.mark.parametrize(("common", "worth_a_sample"), [(10, 100), (10_000, 1_000_000)])
@pytest.mark.parametrize(
    ("one", "two", "within_m"),
    [
        ("bench", "bus stop", 300.0),
        ("bench", "bus stop", 3000.0),
        ("bench", "bus stop", 5.0),
        ("Saint Anne", "bench", 300.0),
        ("Rue Haute", "bus stop", 100.0),
        ("Route Longue", "bus stop", 100.0),
        ("Saint Anne", "Route Longue", 1000.0),
    ],
)
def test_the_tightest_of_what_stands_everywhere(
    crowded: tuple[Regions, dict[str, FloatArray]],
    monkeypatch: pytest.MonkeyPatch,
    *,
    one: str,
    two: str,
    within_m: float,
    common: int,
    worth_a_sample: int,
) -> None:
    monkeypatch.setattr(feature_query, "_COMMON", common)
    monkeypatch.setattr(colocated, "_WORTH_A_SAMPLE", worth_a_sample)
    regions, spots = crowded
    rarest, other = sorted((one, two), key=lambda what: len(spots[what.replace("bus stop", "bus_stop")]))

    def along(what: str) -> list[FloatArray]:
        steps = np.linspace((0.0, 0.0), (LONG.get(what, 0.0), 0.0), 301 if what in LONG else 1)
        return [at + steps for at in spots[what.replace("bus stop", "bus_stop")]]

    others = np.concatenate(along(other))

    def metres_to_others(at: FloatArray) -> float:
        near = others[np.abs(others[:, 1] - at[0, 1]) < 0.02]  # 1.5 km
        return float(np.min(great_circle_km(*at.T[..., None], *near.T))) * 1000

    nearest = [metres_to_others(at) for at in along(rarest)]
    expected = sorted(metres for metres in nearest if metres <= within_m)[:10]
    found = regions.colocated([one, two], within_m)
    # Streets count in steps of about 11 m.
    assert [hit.spread_m for hit in found] == pytest.approx(expected, abs=6.0 if {one, two} & set(LONG) else 0.1)


def test_a_distance_of_a_hair(crowded: tuple[Regions, dict[str, FloatArray]]) -> None:
    assert crowded[0].colocated(["bench", "bus stop"], 1e-6) == []


def test_nothing_of_that_name_is_no_result(regions: Regions) -> None:
    assert regions.colocated(["cafe", "amenity=space_elevator"], 500) == []


@pytest.mark.parametrize(
    ("features", "within_m", "bearings", "says"),
    [
        (["cafe"], 100.0, None, "two to five"),
        (["cafe"] * 6, 100.0, None, "two to five"),
        (["cafe", " "], 100.0, None, "is empty"),
        (["cafe", "bank"], 0.0, None, "largest distance"),
        (["cafe", "bank"], float("nan"), None, "largest distance"),
        (["cafe", "bank"], 100.0, [1.0, 2.0, 3.0], "a bearing"),
        (["cafe", "bank"], 100.0, [float("inf")], "a bearing"),
    ],
)
def test_questions_without_sense_are_refused(
    regions: Regions, features: list[str], within_m: float, bearings: list[float | None] | None, says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        regions.colocated(features, within_m, bearings_deg=bearings)


def test_a_crowded_question_stays_bounded(regions: Regions) -> None:
    found = regions.colocated(["street", "bench", "shop", "bus stop", "amenity=parking"], 5000, limit=10)
    assert len(found) == 10
