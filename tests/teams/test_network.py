"""The attention network: what it computes, and that its slope is the true one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from geosleuth.lab.teams.learning.training import Targets, network_loss
from geosleuth.support.errors import BadInput, MissingExtra
from geosleuth.teams.network import (
    Array,
    Dimensions,
    Parameters,
    Projection,
    VaeEncoder,
    forward,
    fresh_parameters,
    load_picture_encoder,
)

SIZE = Dimensions(members=5, embedding=7, fea=6, hidden=4)


def example(pictures: int = 9, seed: int = 3) -> tuple[Parameters, Array, Targets]:
    rng = np.random.default_rng(seed)
    shapes = [array.shape for array in fresh_parameters(SIZE, rng).arrays()]
    parameters = Parameters(*(0.5 * rng.standard_normal(shape) for shape in shapes))
    links = rng.random((pictures, SIZE.members, SIZE.members)) * (1 - np.eye(SIZE.members))
    links /= links.sum(axis=2, keepdims=True)
    targets = Targets(rng.random((pictures, SIZE.members)), rng.random((pictures, SIZE.members)), links)
    return parameters, rng.standard_normal((pictures, SIZE.embedding)), targets


def test_the_loss_is_that_of_the_papers_formulas() -> None:
    """In another order than the paper's: the same loss and slopes, and the same Lst and A in numpy."""
    torch: Any = pytest.importorskip("torch", reason="torch trains the network; install the dev extra")
    parameters, encoded, targets = example()
    given = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in parameters.arrays()]
    emb, fea_weight, fea_bias, hidden_weight, out_weight, out_bias = given
    linear, mse, x = torch.nn.functional.linear, torch.nn.functional.mse_loss, torch.tensor(encoded)
    fea = linear(emb[None] + x[:, None], fea_weight.T, fea_bias)
    attention = torch.softmax(fea @ fea.mT / fea.shape[-1] ** 0.5, dim=-1)
    hidden = torch.nn.functional.leaky_relu(attention @ fea @ hidden_weight)
    election = torch.sigmoid(linear(hidden.flatten(1), out_weight.T, out_bias))
    others = attention * (1 - torch.eye(len(emb), dtype=torch.float64))
    links, off = others / others.sum(-1, keepdim=True), ~torch.eye(len(emb), dtype=torch.bool)
    wanted = tuple(torch.tensor(array) for array in (targets.labels, targets.distances, targets.links))
    printed = 0.7 * (election * wanted[1]).mean() + mse(election, wanted[0]) + mse(links[:, off], wanted[2][:, off])
    ours = network_loss(torch, given, x, wanted, 0.7)
    assert ours.item() == pytest.approx(printed.item(), rel=1e-10)
    slopes = zip(torch.autograd.grad(ours, given), torch.autograd.grad(printed, given), strict=True)
    for name, (mine, theirs) in zip(Parameters.names(), slopes, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-12, err_msg=name)
    said = forward(parameters, encoded)
    np.testing.assert_allclose(said.election, election.detach(), rtol=1e-10)
    np.testing.assert_allclose(said.links, links.detach(), rtol=1e-10, atol=1e-15)


def test_before_learning_everybody_stands_at_one_half() -> None:
    parameters = fresh_parameters(SIZE, np.random.default_rng(0))
    assert (forward(parameters, example()[1].astype(np.float32)).election == 0.5).all()


def test_pictures_are_seen_along_the_directions_in_which_they_differ() -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((50, 1)) * np.array([[0.0, 3.0, 0.0]]) + 0.01 * rng.standard_normal((50, 3)) + 7
    seen = Projection.fit(features, 2).encode(features)
    assert abs(np.corrcoef(seen[:, 0], features[:, 1])[0, 1]) > 0.999
    assert seen[:, 0].std() == pytest.approx(1.0, rel=0.05)
    assert seen[:, 1].std() < 0.02
    alike = Projection.fit(np.ones((4, 3)), 8)
    assert alike.encode(np.ones((2, 3))).tolist() == np.zeros((2, 8)).tolist()


def test_a_folder_without_a_vae_is_named() -> None:
    with pytest.raises(BadInput, match="AutoencoderKL"):
        VaeEncoder(Path(__file__).parent)
    assert load_picture_encoder("bundled").name == "efficientnet-lite2"


def test_without_diffusers_the_install_command_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"_class_name": "AutoencoderKL"}))
    monkeypatch.setitem(__import__("sys").modules, "diffusers", None)
    encoder = load_picture_encoder(str(tmp_path))
    assert isinstance(encoder, VaeEncoder)
    with pytest.raises(MissingExtra, match=r"diffusers.*pip install"):
        encoder.features([Image.new("RGB", (8, 8))])


@pytest.mark.slow
def test_a_vae_turns_a_picture_into_its_latent_cells(tmp_path: Path) -> None:
    diffusers = pytest.importorskip("diffusers", reason="diffusers is not installed; the dev extra brings it")
    tiny = diffusers.AutoencoderKL(
        block_out_channels=(4, 4, 4, 4), norm_num_groups=2, layers_per_block=1, latent_channels=4,
        down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
    )  # fmt: skip
    tiny.save_pretrained(tmp_path / "vae")
    encoder = load_picture_encoder(str(tmp_path), side_px=64)
    red, blue = Image.new("RGB", (90, 60), (200, 30, 30)), Image.new("RGB", (90, 60), (30, 30, 200))
    rows = encoder.features([red, blue, red])
    assert rows.shape == (3, 4 * 8 * 8)
    assert encoder.dimension == 4 * 8 * 8
    np.testing.assert_array_equal(rows[0], rows[2])
    assert np.abs(rows[0] - rows[1]).max() > 1e-3
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)
    assert encoder.name.startswith("vae@")
