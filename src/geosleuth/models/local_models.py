"""Open models that see, by the memory that they need; `local_models.toml` beside this file is the list."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from geosleuth.support.processes import machine_memory


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that Ollama could fetch; ``host`` is who is asked for it."""

    model: str
    size_gb: float
    memory_gb: float
    licence: str
    host: str

    @property
    def words(self) -> str:
        """The model in one line."""
        return f"{self.model} (about {self.size_gb:g} GB from {self.host}, {self.licence})"


@cache
def _load_model_table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def fitting_models(memory_bytes: int | None = None) -> list[LocalModel]:
    """Return the models that fit into a machine's memory, the best first; for this machine if nothing is said."""
    there = machine_memory() if memory_bytes is None else memory_bytes
    rows = [LocalModel(**row) for row in _load_model_table()["models"]]
    return [row for row in reversed(rows) if row.memory_gb * 10**9 <= there]


def thinks_unasked(name: str) -> bool:
    """Return whether a model of this name in Ollama thinks before each reply unless it is told not to."""
    return name.rpartition("/")[2].partition(":")[0].lower() in _load_model_table()["thinking_off"]
