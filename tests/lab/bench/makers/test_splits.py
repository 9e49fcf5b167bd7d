"""No place is in two parts."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.geo import distances_km
from geosleuth.lab.bench.makers.place_labels import EXCLUDED_PART, LabelledPlace, leave_strips, read_shares, split
from geosleuth.support.errors import BadInput

SHARES = {"train": 0.7, "val": 0.1, "test": 0.2}
PHOTOS = st.lists(
    st.builds(LabelledPlace, st.sampled_from(["AA", "BB", "CC"]), st.integers(0, 30)), min_size=1, max_size=200
)


@given(PHOTOS, st.integers(0, 5))
def test_a_place_is_in_one_part(photos: list[LabelledPlace], seed: int) -> None:
    parts = split(photos, SHARES, seed=seed)
    assert len(parts) == len(photos)
    assert set(parts) <= set(SHARES)
    where: dict[object, set[str]] = {}
    for photo, part in zip(photos, parts, strict=True):
        where.setdefault(photo.place, set()).add(part)
    assert all(len(found) == 1 for found in where.values())


@given(PHOTOS, st.integers(0, 5))
def test_no_part_is_larger_than_its_share_and_the_largest_place(photos: list[LabelledPlace], seed: int) -> None:
    counts = Counter(split(photos, SHARES, seed=seed))
    largest = max(Counter(photo.place for photo in photos).values())
    assert all(counts[part] <= share * len(photos) + largest + 1e-6 for part, share in SHARES.items())


@given(
    st.lists(st.tuples(st.floats(-89, 89), st.floats(-180, 180), st.sampled_from(list(SHARES))), max_size=40),
    st.sampled_from([1.0, 50.0, 900.0]),
)
def test_strips_keep_parts_apart(photos: list[tuple[float, float, str]], gap_km: float) -> None:
    # Crowd them, so that there is something to leave out.
    lats = [lat * gap_km / 3000 for lat, _, _ in photos]
    lons = [lon * gap_km / 3000 for _, lon, _ in photos]
    parts = [part for _, _, part in photos]
    left = leave_strips(parts, lats, lons, SHARES, gap_km=gap_km)
    assert all(new in (old, EXCLUDED_PART) for old, new in zip(parts, left, strict=True))
    assert all(new == "test" for old, new in zip(parts, left, strict=True) if old == "test")
    stays = [number for number, part in enumerate(left) if part != EXCLUDED_PART]
    for one in stays:
        others = [other for other in stays if left[other] != left[one]]
        km = distances_km(
            lats[one], lons[one], np.array([lats[n] for n in others]), np.array([lons[n] for n in others])
        )
        assert not (km < gap_km).any()


@pytest.mark.parametrize("gap_km", [0.05, 1.0, 60.0])
def test_a_crowd_is_left_out_as_if_each_were_compared_with_each(gap_km: float) -> None:
    chance = np.random.default_rng(5)
    # Half of them within some kilometres, a quarter at one spot, a quarter across a hundred kilometres.
    spread = np.repeat([0.05, 0.0, 1.0], [300, 150, 150])[:, None]
    at = np.array([47.0, 179.99]) + spread * chance.uniform(-1, 1, (600, 2))
    lats, lons = at[:, 0], (at[:, 1] + 180) % 360 - 180
    parts = chance.choice(list(SHARES), 600, p=[0.9, 0.05, 0.05]).tolist()
    left = leave_strips(parts, lats.tolist(), lons.tolist(), SHARES, gap_km=gap_km)
    rank = np.array([list(SHARES).index(part) for part in parts])
    near = distances_km(lats[:, None], lons[:, None], lats, lons) < gap_km
    gone = np.any(near & (rank > rank[:, None]), axis=1).tolist()
    assert any(gone)
    assert left == [EXCLUDED_PART if out else part for out, part in zip(gone, parts, strict=True)]


def test_shares_are_read() -> None:
    assert read_shares("train=8, test = 2") == {"train": 0.8, "test": 0.2}
    for wrong in ("train", "train=1", "train=0,test=1", "a/b=1,c=1", "a=1,a=2", "a=nan,b=1"):
        with pytest.raises(BadInput, match="--parts"):
            read_shares(wrong)
    with pytest.raises(BadInput, match="--strip"):
        leave_strips(["a"], [0.0], [0.0], ["a"], gap_km=0.0)
