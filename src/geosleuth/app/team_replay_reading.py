"""Files of recorded answers for a replay: with truths to learn from, or without any to answer for."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geosleuth.answer import FORMAT, answer_from_dict, parse_lenient
from geosleuth.bench.records import Record, read_records
from geosleuth.errors import BadInput
from geosleuth.score import Truth
from geosleuth.team.recorded import Said

_MOST_LINE = 64 * 1024 * 1024
_TRUTH_KEYS = ("lat", "lon", "country", "region", "city")


@dataclass(slots=True)
class Answers:
    """One agent's, by image id; an image that occurs again has its occurrence in its id.

    Attributes:
        said: what it said.
        image: the image itself.
        truths: where images really were; empty where truths were not read.
        beside: what a line says of the truth, unread, to be handed on.
    """

    said: dict[str, Said] = field(default_factory=dict)
    image: dict[str, str] = field(default_factory=dict)
    truths: dict[str, Truth] = field(default_factory=dict)
    beside: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_answers(path: Path, progress: Callable[[int], None]) -> Answers:
    """Records with truths.

    Raises:
        BadInput: the file or a line of it can't be read; the message names the line.
    """
    records = list(read_records(path, progress))
    if not records:
        raise BadInput(f"{path}: the file holds no record")
    keys = _keys([(record.id, record.repeat) for record in records])
    answers = Answers()
    for key, record in zip(keys, records, strict=True):
        answers.said[key] = _said(record)
        answers.image[key] = record.id
        answers.truths[key] = record.truth
    return answers


def read_replies(path: Path, progress: Callable[[int], None]) -> Answers:
    """Lines with an id and a reply or an answer; what they say of truths is not looked at.

    Raises:
        BadInput: the file or a line of it can't be read; the message names the line.
    """
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise BadInput(f"{path}: with --model, answers are read from files that end in .jsonl")
    found: list[tuple[str, str | None, Said, dict[str, Any]]] = []
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(iter(lambda: stream.readline(_MOST_LINE), b""), 1):
                progress(len(line))
                if line.strip():
                    found.append(_reply(line, f"{path}:{number}"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    if not found:
        raise BadInput(f"{path}: the file holds no record")
    keys = _keys([(image, repeat) for image, repeat, _, _ in found])
    answers = Answers()
    for key, (image, _, said, beside) in zip(keys, found, strict=True):
        answers.said[key], answers.image[key], answers.beside[key] = said, image, beside
    return answers


def _said(record: Record) -> Said:
    answer = record.read("lenient")
    return Said(record.reply if record.reply is not None else (answer.explanation or ""), answer)


def _reply(line: bytes, where: str) -> tuple[str, str | None, Said, dict[str, Any]]:
    try:
        data = json.loads(line)
        if not isinstance(data, Mapping):
            raise TypeError("a record is a JSON object")
        unread = data.get("ground_truth") if "solution_str" in data else data.get("truth")
        image = (unread.get("image") if isinstance(unread, Mapping) else None) or data.get("id", data.get("index"))
        if isinstance(image, bool) or not isinstance(image, str | int) or image == "":
            raise TypeError("an id must be a text or a whole number, and not empty")
        repeat = str(data["index"]) if "solution_str" in data and "index" in data else None
        return str(image), repeat, _words(data), _handed_on(unread)
    except (ValueError, TypeError, KeyError, RecursionError, BadInput) as error:
        raise BadInput(f"{where}: not a record: {' '.join(str(error).split())[:200]}") from error


def _words(data: Mapping[str, Any]) -> Said:
    if isinstance(data.get("answer"), Mapping):
        answer = answer_from_dict({"format": FORMAT, **data["answer"]})
        return Said(answer.explanation or "", answer)
    reply = data.get("solution_str", data.get("reply"))
    if not isinstance(reply, str):
        raise TypeError("a record has a reply or an answer")
    return Said(reply, parse_lenient(reply))


def _handed_on(unread: object) -> dict[str, Any]:
    if not isinstance(unread, Mapping):
        return {}
    return {"truth": {key: unread[key] for key in _TRUTH_KEYS if unread.get(key) is not None}}


def _keys(images: list[tuple[str, str | None]]) -> list[str]:
    """Ids that tell repeated images apart, as the ruler names them."""
    counts = Counter(image for image, _ in images)
    seen: Counter[str] = Counter()
    taken = set(counts)
    keys = []
    for image, repeat in images:
        key = image
        if counts[image] > 1:
            seen[image] += 1
            key = f"{image}#{repeat or seen[image]}"
            while key in taken:
                key += f"#{seen[image]}"
            taken.add(key)
        keys.append(key)
    return keys
