"""GeoCLIP in small: a CLIP model with random weights, and a package laid out as geoclip is, with few places."""

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from later import later

torch = later("torch")
transformers = later("transformers")

_PACKAGE = """
import torch

class LocationEncoder(torch.nn.Module):
    def __init__(self, from_pretrained=True):
        super().__init__()
        assert from_pretrained
        torch.manual_seed(5)
        self.layer = torch.nn.Linear(2, 512)

    def forward(self, points):
        return torch.sin(self.layer(points / 10)).detach()
"""


def tiny_clip(folder: Path, width: int = 768) -> Path:
    """A CLIP model with random weights and an embedding as wide as the large ones have."""
    torch.manual_seed(1)
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    words = {**small, "vocab_size": 99, "max_position_embeddings": 8, "bos_token_id": 0, "eos_token_id": 1}
    config = transformers.CLIPConfig(
        projection_dim=width, text_config=words, vision_config={**small, "image_size": 32, "patch_size": 8}
    )
    transformers.CLIPModel(config).eval().save_pretrained(folder)
    return folder


@contextmanager
def tiny_geoclip(folder: Path, places: Sequence[tuple[float, float]]) -> Iterator[Path]:
    """The package, instead of the real one, until the block ends; its home is in the folder too."""
    package = folder / "site" / "geoclip"
    for part in ("model/weights", "model/gps_gallery"):
        (package / part).mkdir(parents=True)
    (package / "__init__.py").write_text(_PACKAGE)
    torch.manual_seed(2)
    layers = torch.nn.Sequential(torch.nn.Linear(768, 768), torch.nn.ReLU(), torch.nn.Linear(768, 512))
    torch.save(layers.state_dict(), package / "model" / "weights" / "image_encoder_mlp_weights.pth")
    torch.save({}, package / "model" / "weights" / "location_encoder_weights.pth")
    torch.save(torch.tensor(3.0), package / "model" / "weights" / "logit_scale_weights.pth")
    with (package / "model" / "gps_gallery" / "coordinates_100K.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("LAT", "LON"), *places])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(folder / "home"))
        patch.syspath_prepend(str(package.parent))
        real = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "geoclip"}
        yield package
        sys.modules.pop("geoclip", None)
        sys.modules.update(real)
