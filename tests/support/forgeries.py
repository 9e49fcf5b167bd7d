"""Packages of evidence forged with sense: one statement is another, and every digest is right again."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

REPORT, RESULT, TOOLS, TRAJECTORY, VERSIONS = (
    "report.html", "result.json", "tools.jsonl", "trajectory.jsonl", "versions.json",
)  # fmt: skip
LEVELS = ("country", "region", "city", "street", "exact")
Files = Mapping[str, bytes]
# Moments and durations differ each time and state nothing about the place.
_CLOCK = {"at_s", "seconds", "at"}
_TAGS = re.compile(rb">([^<>]{4,})<")


def forged_results(files: Files, rng: random.Random, count: int) -> Iterator[tuple[str, Files]]:
    """Yield packages whose result has one other value, one value more or one less."""
    document = json.loads(files[RESULT])
    leaves = [path for path in _leaves(document) if path[0] != "check"]
    for number in range(count):
        path = leaves[number % len(leaves)] if number < len(leaves) else rng.choice(leaves)
        changed = _with(document, path, _other(_at(document, path), rng, number))
        yield f"result {'.'.join(map(str, path))}", {**files, RESULT: _json(changed)}


def forged_reports(files: Files, rng: random.Random, count: int) -> Iterator[tuple[str, Files]]:
    """Yield packages whose report says, hides, adds or shows something else."""
    page = files[REPORT]
    start = page.index(b"<body")
    spots = [found for found in _TAGS.finditer(page, start) if found[1].strip()]
    added = (
        b"<p>Found in Paris, France.</p>", b"<!-- Paris -->", b"<style>h1{display:none}</style>",
        b'<script>document.title="Paris"</script>', b'<img src="data:image/png;base64,AAAA">', b"<p hidden></p>",
    )  # fmt: skip
    pixels = list(re.finditer(rb'href="data:image/jpeg;base64,([^"]{200,})"', page))
    for number in range(count):
        spot = rng.choice(spots)
        match number % 4:
            case 0:
                what, new = "words", page[: spot.start(1)] + b"Paris, France" + page[spot.end(1) :]
            case 1:
                more = added[number // 4 % len(added)]
                what, new = f"adds {more[:12]!r}", page[: spot.end() - 1] + more + page[spot.end() - 1 :]
            case 2:
                what, new = "hides", page[: spot.start(1)] + page[spot.end(1) :]
            case _:
                shown = rng.choice(pixels)
                at = shown.start(1) + rng.randrange(100, len(shown[1]) - 10)
                letter = b"A" if page[at : at + 1] != b"A" else b"B"
                what, new = "pixels", page[:at] + letter + page[at + 1 :]
        yield f"report {number} {what}: {spot[1][:40]!r}", {**files, REPORT: new}


def forged_lines(name: str, files: Files, rng: random.Random, count: int) -> Iterator[tuple[str, Files]]:
    """Yield packages in whose trajectory or list of tool answers one line states something else, or is gone."""
    lines = [json.loads(line) for line in files[name].splitlines()]
    leaves = [(at, path) for at, line in enumerate(lines) for path in _leaves(line) if not _CLOCK & set(path)]
    rng.shuffle(leaves)
    for number, (at, path) in enumerate(leaves[:count]):
        changed = [*lines]
        if number % 10 == 9 and len(lines) > 2:
            del changed[at]
            what = f"without line {at}"
        else:
            changed[at] = _with(lines[at], path, _other(_at(lines[at], path), rng, number))
            what = f"line {at} {'.'.join(map(str, path))}"
        yield f"{name} {what}", {**files, name: b"".join(_line(one) for one in changed)}


def forged_levels(files: Files) -> Iterator[tuple[str, Files]]:
    """Yield packages that say of themselves that they may tell more, or less, than their run does."""
    document = json.loads(files[RESULT])
    for field in ("allowed_granularity", "granularity"):
        for level in LEVELS:
            if level != document[field]:
                yield f"{field} {level}", {**files, RESULT: _json({**document, field: level})}
    for level in LEVELS:
        if level != document["allowed_granularity"]:
            both = {**document, "allowed_granularity": level, "granularity": level}
            yield f"both {level}", {**files, RESULT: _json(both)}


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict) and value:
        return [leaf for name, one in value.items() for leaf in _leaves(one, (*path, name))]
    if isinstance(value, list) and value:
        return [leaf for at, one in enumerate(value) for leaf in _leaves(one, (*path, at))]
    return [path]


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _other(value: Any, rng: random.Random, number: int) -> Any:
    """Return another value of the same type, so that readers take it."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((1, 2, 7))
    if isinstance(value, float):
        return value + rng.choice((0.0001, 0.01, 0.5)) * (-1 if value > 0.5 else 1)
    if isinstance(value, str):
        return rng.choice(("Paris", "Springfield", f"forged {number}")) if value != "Paris" else "Lyon"
    if isinstance(value, list):
        return ["Paris"]
    return {"Paris": 1} if isinstance(value, dict) else "Paris"


def _json(document: Any) -> bytes:
    return f"{json.dumps(document, ensure_ascii=False, indent=1)}\n".encode()


def _line(document: Any) -> bytes:
    return f"{json.dumps(document, ensure_ascii=False)}\n".encode()
