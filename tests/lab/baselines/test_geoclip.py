"""GeoCLIP as a baseline: its best place, and a refusal in one line where it is not there."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from baseline_tasks import ask
from geosleuth.geo import LatLon
from geosleuth.models import make_policy
from geosleuth.support.errors import BadInput
from later import later
from scenery import scene
from small_geoclip import tiny_clip, tiny_geoclip

torch = later("torch")
transformers = later("transformers")

PLACES = [(48.85, 2.35), (-33.87, 151.21), (35.68, 139.69), (40.71, -74.0)]


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """A CLIP model with random weights."""
    return tiny_clip(tmp_path / "clip")


def test_without_the_package_it_is_refused_in_one_line(clip: Path) -> None:
    if find_spec("geoclip") is not None:
        pytest.skip("geoclip is installed here")
    with pytest.raises(
        BadInput, match=r"this needs geoclip, which is not installed; run: .*pip install geoclip"
    ) as told:
        make_policy(f"geoclip:{clip}")
    assert "\n" not in str(told.value)


def test_without_weights_it_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no config\.json") as told:
        make_policy(f"geoclip:{tmp_path}")
    assert "\n" not in str(told.value)


def test_it_answers_with_the_place_that_fits_best(tmp_path: Path, clip: Path) -> None:
    with tiny_geoclip(tmp_path, PLACES):
        policy = make_policy(f"geoclip:{clip},within=750")
        answer = ask(policy, scene(1))
        from geosleuth.evidence.visual import GeoClipPrior

        places, shares = GeoClipPrior(clip).shares(scene(1))
    best = int(shares.argmax())
    assert answer.point == LatLon(*PLACES[best]) == LatLon(float(places.lats[best]), float(places.lons[best]))
    assert answer.probability == pytest.approx(0.9 * shares[best], abs=1e-3)
    assert answer.radius_km == 750.0
    assert shares.sum() == pytest.approx(1.0)
