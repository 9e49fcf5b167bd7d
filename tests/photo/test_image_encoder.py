"""The bundled encoder and other encoders."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from geosleuth.photo.image_encoder import BUNDLED, BundledEncoder, OnnxEncoder, Preparation, TowerEncoder, load_encoder
from geosleuth.support.errors import BadInput, MissingExtra
from scenery import scene

SCENES = [scene(seed) for seed in range(12)]


@pytest.fixture(scope="module")
def bundled() -> BundledEncoder:
    return BundledEncoder()


def test_the_shipped_network_is_the_exported_one() -> None:
    noted, name = BUNDLED.with_name("image_encoder.onnx.sha256").read_text(encoding="ascii").split()
    assert name == BUNDLED.name
    assert hashlib.sha256(BUNDLED.read_bytes()).hexdigest() == noted


def test_features_are_unit_rows_in_order(bundled: BundledEncoder) -> None:
    together = bundled.features(SCENES)
    assert together.shape == (12, bundled.dimension) == (12, 1280)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for number, image in enumerate(SCENES):
        np.testing.assert_allclose(bundled.features([image])[0], together[number], atol=1e-4)
    assert bundled.features([]).shape == (0, 1280)


def test_a_changed_picture_is_most_like_itself(bundled: BundledEncoder) -> None:
    originals = bundled.features(SCENES)
    darker = [ImageEnhance.Brightness(image).enhance(0.7) for image in SCENES]
    closer = [image.crop((60, 40, 600, 450)) for image in SCENES]
    smaller = [image.resize((200, 150)) for image in SCENES]
    for changed in (darker, closer, smaller):
        assert (bundled.features(changed) @ originals.T).argmax(axis=1).tolist() == list(range(12))


def test_any_mode_and_shape_of_picture_is_looked_at(bundled: BundledEncoder) -> None:
    pictures = [Image.new("L", (1, 1)), Image.new("RGBA", (5000, 3), "red"), Image.new("P", (3, 900)), SCENES[0]]
    assert np.isfinite(bundled.features(pictures)).all()


def test_nothing_is_loaded_before_the_first_picture_and_no_usage_is_written_down(tmp_path: Path) -> None:
    program = (
        "import sys; from geosleuth.photo.image_encoder import load_encoder; net = load_encoder(); "
        "net.name, net.dimension; early = 'onnxruntime' in sys.modules; from PIL import Image; "
        "net.features([Image.new('RGB', (9, 9))]); print(early, 'onnxruntime' in sys.modules, 'torch' in sys.modules)"
    )
    home = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=home)
    assert done.stdout.split() == ["False", "True", "False"]
    assert list(tmp_path.rglob("*")) == []


def test_an_onnx_file_on_disk_is_an_encoder(tmp_path: Path, bundled: BundledEncoder) -> None:
    copy = tmp_path / "mine.onnx"
    copy.write_bytes(BUNDLED.read_bytes())
    mine = load_encoder(str(copy))
    assert isinstance(mine, OnnxEncoder)
    assert mine.dimension == 1280
    assert mine.name.startswith("mine@")
    np.testing.assert_array_equal(mine.features(SCENES[:2]), bundled.features(SCENES[:2]))


@pytest.mark.parametrize("spec", ["nothing", "gone.onnx", "folder", "text.onnx"])
def test_what_is_no_encoder_is_one_line(tmp_path: Path, spec: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.onnx").write_text("not a network")
    with pytest.raises(BadInput, match=spec.removesuffix(".onnx")) as caught:
        load_encoder(str(tmp_path / spec)).features(SCENES[:1])
    assert "\n" not in str(caught.value)


# Networks so small that they are written down byte by byte: the fields of the ONNX format, by number.


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def tensor(name: str, shape: list[int | str]) -> bytes:
    sides = b"".join(field(1, field(1 if isinstance(side, int) else 2, side)) for side in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, sides)))


def unchanged_network(shape: list[int | str], **told: str) -> bytes:
    """A network that gives back what it is given."""
    node = field(1, "x") + field(2, "y") + field(4, "Identity")
    graph = field(1, node) + field(2, "tiny") + field(11, tensor("x", shape)) + field(12, tensor("y", shape))
    notes = b"".join(field(14, field(1, f"geosleuth.{key}") + field(2, value)) for key, value in told.items())
    return field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, graph) + notes


def test_a_map_is_averaged_and_colours_scaled_as_usual(tmp_path: Path) -> None:
    path = tmp_path / "tiny.onnx"
    path.write_bytes(unchanged_network(["n", 3, 8, 8]))
    colour = np.array([200, 30, 90])
    expected = (colour / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    (seen,) = OnnxEncoder(path).features([Image.new("RGB", (50, 20), (200, 30, 90))])
    np.testing.assert_allclose(seen, expected / np.linalg.norm(expected), atol=1e-5)


@pytest.mark.parametrize("told", [{"mean": "dark"}, {"deviation": "0"}, {"mean": "1,2"}])
def test_metadata_that_make_no_sense_are_refused(tmp_path: Path, told: dict[str, str]) -> None:
    path = tmp_path / "tiny.onnx"
    path.write_bytes(unchanged_network(["n", 3, 8, 8], **told))
    with pytest.raises(BadInput, match="make no sense"):
        OnnxEncoder(path).features(SCENES[:1])


# Towers of transformers, made on the spot.


def small_vision() -> dict[str, Any]:
    return {
        "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
        "image_size": 32, "patch_size": 8,
    }  # fmt: skip


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("towers") / "tiny-clip"
    text = {**small_vision(), "vocab_size": 50, "max_position_embeddings": 8}
    CLIPModel(CLIPConfig(text_config=text, vision_config=small_vision(), projection_dim=12)).save_pretrained(folder)
    settings = {
        "size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}, "do_center_crop": True,
        "image_mean": [0.48, 0.45, 0.4], "image_std": [0.26, 0.26, 0.27], "resample": 3,
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder


@pytest.mark.slow
def test_a_clip_folder_gives_the_pictures_embedding(clip: Path) -> None:
    import torch
    from transformers import CLIPModel

    tower = load_encoder(str(clip))
    assert tower.dimension == 12
    assert tower.name.startswith("tiny-clip@")
    image = SCENES[0].crop((0, 0, 32, 32))
    pixels = (np.asarray(image, dtype=np.float32) / 255 - [0.48, 0.45, 0.4]) / [0.26, 0.26, 0.27]
    given = torch.tensor(pixels.transpose(2, 0, 1)[None], dtype=torch.float32)
    with torch.inference_mode():
        model = CLIPModel.from_pretrained(clip)
        expected = model.visual_projection(model.vision_model(pixel_values=given).pooler_output)[0].numpy()
    np.testing.assert_allclose(tower.features([image])[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_a_dino_folder_without_settings_gives_features(tmp_path: Path) -> None:
    from transformers import Dinov2Config, Dinov2Model

    Dinov2Model(Dinov2Config(**small_vision())).save_pretrained(tmp_path / "tiny-dino")
    tower = TowerEncoder(tmp_path / "tiny-dino")
    seen = tower.features(SCENES[:9])
    assert seen.shape == (9, 16)
    np.testing.assert_allclose(np.linalg.norm(seen, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(tower.features([SCENES[8]])[0], seen[8], atol=1e-5)


def test_other_weights_have_another_name(clip: Path, tmp_path: Path) -> None:
    changed = tmp_path / clip.name
    changed.mkdir()
    for file in clip.iterdir():
        (changed / file.name).write_bytes(file.read_bytes())
    assert TowerEncoder(changed).name == TowerEncoder(clip).name
    weights = changed / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert TowerEncoder(changed).name != TowerEncoder(clip).name


def test_a_folder_with_broken_weights_is_one_line(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((clip / "config.json").read_bytes())
    with pytest.raises(BadInput, match="can't be loaded as a vision model") as caught:
        TowerEncoder(tmp_path).features(SCENES[:1])
    assert "\n" not in str(caught.value)


def test_without_transformers_the_message_says_what_to_install(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"\[weights\]'"):
        TowerEncoder(clip).features(SCENES[:1])


def test_the_middle_is_cut_out_where_a_network_wants_that() -> None:
    image = Image.new("RGB", (300, 100), "red")
    image.paste("lime", (100, 0, 200, 100))
    whole = Preparation(10, 10, (0, 0, 0), (1, 1, 1)).rows([image])[0]
    middle = Preparation(10, 10, (0, 0, 0), (1, 1, 1), shorter_side_px=10).rows([image])[0]
    assert whole[5, 0].tolist() == [255, 0, 0]
    assert middle[:, 1:-1].reshape(-1, 3).tolist() == [[0, 255, 0]] * 80
