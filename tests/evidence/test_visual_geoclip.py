"""GeoCLIP as a visual prior: with a package of its layout made on the spot, and with the real one where it is."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geosleuth.evidence.visual import GeoClipPrior, load_prior, visual_clue
from geosleuth.support.errors import BadInput
from later import later
from scenery import scene
from small_geoclip import tiny_clip, tiny_geoclip

torch = later("torch")
transformers = later("transformers")

PLACES = [(48.85, 2.35), (48.86, 2.36), (-33.87, 151.21), (35.68, 139.69), (40.71, -74.0), (0.0, -150.0)]


@pytest.fixture
def geoclip(tmp_path: Path) -> Iterator[Path]:
    """A package laid out as geoclip is, with few places and random weights, instead of the real one."""
    with tiny_geoclip(tmp_path, PLACES) as folder:
        yield folder


def expected(clip: Path, folder: Path, image: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """What GeoCLIP's own arithmetic gives for each place."""
    import geoclip as package  # type: ignore[import-not-found]

    from geosleuth.photo.image_encoder import TowerEncoder

    weights = folder / "model" / "weights"
    layers = torch.nn.Sequential(torch.nn.Linear(768, 768), torch.nn.ReLU(), torch.nn.Linear(768, 512))
    layers.load_state_dict(torch.load(weights / "image_encoder_mlp_weights.pth", weights_only=True))
    with torch.inference_mode():
        seen = torch.nn.functional.normalize(layers(torch.from_numpy(TowerEncoder(clip).embeddings([image]))), dim=1)
        places = torch.nn.functional.normalize(package.LocationEncoder()(torch.tensor(PLACES)), dim=1)
        sharpness = torch.load(weights / "logit_scale_weights.pth", weights_only=True).exp()
        return np.asarray((sharpness * seen @ places.T).softmax(dim=1)[0].double().numpy())


def test_places_are_weighed_as_geoclip_weighs_them(geoclip: Path, tmp_path: Path) -> None:
    clip = tiny_clip(tmp_path / "clip")
    image = scene(4)
    prior = load_prior(f"geoclip:{clip}")
    assert isinstance(prior, GeoClipPrior)
    told = prior.look(image)
    shares = expected(clip, geoclip, image)
    on_land = shares[:5].sum()
    assert told.seen["FR"] == pytest.approx(shares[:2].sum() / on_land, rel=1e-3)
    assert told.seen["JP"] == pytest.approx(shares[3] / on_land, rel=1e-3)
    assert sum(cell.share for cell in told.cells) == pytest.approx(1.0)
    assert (told.source, told.reach.familiarity) == ("GeoCLIP", None)
    assert told.base["FR"] == pytest.approx(0.4)
    assert "calibrated" in (visual_clue(told).caution or "")


def test_a_tower_of_another_width_is_refused(geoclip: Path, tmp_path: Path) -> None:
    assert geoclip.is_dir()
    prior = GeoClipPrior(tiny_clip(tmp_path / "clip", width=64))
    with pytest.raises(BadInput, match="64 wide, and GeoCLIP expects 768"):
        prior.look(scene(4))


@pytest.mark.skipif(find_spec("geoclip") is not None, reason="geoclip is installed")
def test_without_the_package_the_command_that_brings_it_is_named(tmp_path: Path) -> None:
    prior = GeoClipPrior(tiny_clip(tmp_path / "clip"))
    with pytest.raises(BadInput, match="pip install geoclip"):
        prior.look(scene(4))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("geoclip") is None, reason="geoclip is not installed")
def test_the_real_package_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path / "home"))
    told = GeoClipPrior(tiny_clip(tmp_path / "clip")).look(scene(4))
    assert len(told.cells) > 1000
    assert len(told.seen) > 100
    assert sum(told.countries.values()) == pytest.approx(1.0)
