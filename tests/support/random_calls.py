"""Calls that a model might make on a bad day: right ones, wrong ones, and nonsense, all drawn from one seed."""

import random
from collections.abc import Iterable
from typing import Any

from geosleuth.tools import Tool

NAMES = (
    "Monaco",
    "Rue Grimaldi, Monaco",
    "京都",
    "Perth",
    "pharmacy",
    "Springfield",
    "La Condamine",
    "São Paulo",
    "Lidl",
)
WORDS = {
    "country": ("Monaco", "fr", "Japan", "Atlantis"),
    "image": ("image-1", "image-2", "image-99", ""),
    "place": NAMES,
    "time": ("2024-06-21 12:00", "noon", "2024-02-30"),
    "date": ("2024-06-21", "yesterday"),
    "point": ("43.73, 7.42", "north of here", "91, 181"),
    "id": ("geonames:2993458", "country:MC", "nothing"),
}
NONSENSE: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, float("nan"), float("inf"), "", " ", "\x00", "\u202eabc", "a" * 5000, "\ud800", [], [[]],
    {}, [None], {"a": {"b": []}}, b"bytes", object(), {1: 2}, [1, 2, 3], ["x"] * 200, "<tool_call>", "{\"lat\": 1}",
)  # fmt: skip
ANSWERS = (
    '{"lat": 43.73, "lon": 7.42, "country": "Monaco"}',
    '{"lat": 999, "lon": "x"}',
    "<answer>Country: France</answer>",
    "I do not know.",
    "",
    '{"format": "geosleuth-answer/1", "explanation": "nothing to be seen"}',
)


def random_arguments(tool: Tool, rng: random.Random) -> dict[str, Any]:
    """Arguments for a tool: mostly what it asks for, at times anything."""
    given = {
        one.name: _fitting(one.name, one.schema(), rng) if rng.random() < 0.85 else rng.choice(NONSENSE)
        for one in tool.parameters
        if rng.random() < (0.95 if one.is_required else 0.4)
    }
    if rng.random() < 0.05:
        given[rng.choice(("self", "case", "truth", "lat", "unheard_of", "class"))] = rng.choice(NONSENSE)
    return given


def valid_arguments(tool: Tool, rng: random.Random) -> dict[str, Any]:
    """Arguments of the right kinds for a tool; whether they name anything is another matter."""
    return {
        one.name: _fitting(one.name, one.schema(), rng)
        for one in tool.parameters
        if one.is_required or rng.random() < 0.3
    }


def random_call(tools: Iterable[Tool], rng: random.Random) -> tuple[str, dict[str, Any]]:
    """A tool of the set and arguments for it."""
    chosen = rng.choice(list(tools))
    if chosen.name == "answer":
        return chosen.name, {"reply": rng.choice(ANSWERS) if rng.random() < 0.9 else rng.choice(NONSENSE)}
    return chosen.name, random_arguments(chosen, rng)


def _fitting(name: str, schema: dict[str, Any], rng: random.Random) -> Any:
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        if "bbox" in name:
            return [rng.randint(0, 300), rng.randint(0, 300), rng.randint(200, 900), rng.randint(200, 700)]
        return [_fitting(name, schema.get("items", {}), rng) for _ in range(rng.randint(1, 4))]
    if kind in ("number", "integer"):
        low, high = (-90, 90) if name.startswith("lat") else (-180, 180) if name.startswith("lon") else (0, 100)
        drawn = rng.uniform(low, high)
        return round(drawn) if kind == "integer" else round(drawn, 4)
    if kind == "boolean":
        return rng.random() < 0.5
    return rng.choice(next((words for part, words in WORDS.items() if part in name), NAMES))
