"""GeoCLIP as a baseline: its best place, and a refusal in one line where it is not there."""

import csv
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from baseline_tasks import ask
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.policies import make_policy
from geosleuth.policies.baselines import make_baseline
from scenery import scene

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PLACES = [(48.85, 2.35), (-33.87, 151.21), (35.68, 139.69), (40.71, -74.0)]
# Looks at nothing but the number of the place: the picture's embedding decides which fits best.
_PACKAGE = """
import torch

class LocationEncoder(torch.nn.Module):
    def __init__(self, from_pretrained=True):
        super().__init__()

    def forward(self, points):
        torch.manual_seed(5)
        return torch.sin(points @ torch.randn(2, 512))
"""


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """A CLIP model with random weights."""
    torch.manual_seed(1)
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    words = {**small, "vocab_size": 99, "max_position_embeddings": 8, "bos_token_id": 0, "eos_token_id": 1}
    config = transformers.CLIPConfig(
        projection_dim=768, text_config=words, vision_config={**small, "image_size": 32, "patch_size": 8}
    )
    transformers.CLIPModel(config).eval().save_pretrained(tmp_path / "clip")
    return tmp_path / "clip"


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
        make_baseline(f"geoclip:{tmp_path}")
    assert "\n" not in str(told.value)


def test_it_answers_with_the_place_that_fits_best(tmp_path: Path, clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site" / "geoclip"
    for part in ("model/weights", "model/gps_gallery"):
        (folder / part).mkdir(parents=True)
    (folder / "__init__.py").write_text(_PACKAGE)
    torch.manual_seed(2)
    layers = torch.nn.Sequential(torch.nn.Linear(768, 768), torch.nn.ReLU(), torch.nn.Linear(768, 512))
    torch.save(layers.state_dict(), folder / "model" / "weights" / "image_encoder_mlp_weights.pth")
    torch.save({}, folder / "model" / "weights" / "location_encoder_weights.pth")
    torch.save(torch.tensor(3.0), folder / "model" / "weights" / "logit_scale_weights.pth")
    with (folder / "model" / "gps_gallery" / "coordinates_100K.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("LAT", "LON"), *PLACES])
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.delitem(sys.modules, "geoclip", raising=False)
    try:
        policy = make_baseline(f"geoclip:{clip},within=750")
        answer = ask(policy, scene(1))
        from geosleuth.clues.visual import GeoClipPrior

        places, shares = GeoClipPrior(clip).shares(scene(1))
    finally:
        sys.modules.pop("geoclip", None)
    best = int(shares.argmax())
    assert answer.point == LatLon(*PLACES[best]) == LatLon(float(places.lats[best]), float(places.lons[best]))
    assert answer.probability == pytest.approx(0.9 * shares[best], abs=1e-3)
    assert answer.radius_km == 750.0
    assert shares.sum() == pytest.approx(1.0)
