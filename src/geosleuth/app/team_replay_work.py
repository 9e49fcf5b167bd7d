"""What ``team replay`` does once its words are read; imported only when it runs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geosleuth.answer import answer_to_dict
from geosleuth.app.bench_work import check_outputs as check_places
from geosleuth.app.console import progress, talk
from geosleuth.app.team_replay_reading import Answers, read_answers, read_replies
from geosleuth.app.team_replay_views import (
    Applied,
    ReplayReport,
    applied_document,
    applied_view,
    replay_document,
    replay_view,
)
from geosleuth.errors import BadInput
from geosleuth.files import refuse_to_replace, write_text_atomically
from geosleuth.geo import great_circle_km, threshold_text
from geosleuth.score import Truth
from geosleuth.team.recorded import SAME_PLACE_KM, WITHIN_KM, Panel, Said, groups_of, trust_from_json, trust_to_json
from geosleuth.team.recorded.learning import Known, learn, replay
from geosleuth.team.recorded.trust import even_odds_km

__all__ = [
    "applied_document",
    "applied_view",
    "apply_model",
    "check_outputs",
    "measure",
    "named_files",
    "replay_document",
    "replay_view",
    "save_trust",
    "write_answers",
]

_MOST_MODEL_BYTES = 256 * 1024 * 1024
_ROUNDING_KM = 0.001  # truths nearer than a metre differ by rounding alone


def named_files(files: Sequence[str]) -> dict[str, Path]:
    """The agents' names and their files; without a name, the file's own."""
    named: dict[str, Path] = {}
    for word in files:
        name, equals, path = word.partition("=")
        # A path may hold an equals sign itself: as a name only what names no folder counts.
        split = bool(equals and name and path) and "/" not in name and not Path(word).exists()
        file = Path(path if split else word)
        agent = name if split else file.stem
        if agent in named:
            raise BadInput(f"two files are called {agent}; tell them apart: {agent}1={named[agent]} {agent}2={file}")
        named[agent] = file
    if len(named) < 2:
        raise BadInput("a replay needs the answers of at least two agents: give two files or more")
    return named


def check_outputs(
    named: Mapping[str, Path], out: Path | None, save: Path | None, model: Path | None, *, overwrite: bool
) -> None:
    """Whether every output can be written; asked before the work."""
    if model is not None and save is not None:
        raise BadInput("--model answers with what was learned before, --save learns anew: give one of them")
    outputs = [path for path in (out, save) if path is not None]
    inputs = [*named.values(), *([model] if model else [])]
    check_places(outputs, (".jsonl", ".json"), None, inputs)
    if out is not None and out.suffix.lower() != ".jsonl":
        raise BadInput(f"{out}: --out writes .jsonl")
    if save is not None and save.suffix.lower() != ".json":
        raise BadInput(f"{save}: --save writes .json")
    refuse_to_replace(outputs, overwrite=overwrite)


def measure(named: Mapping[str, Path], *, folds: int, seed: int) -> ReplayReport:
    """Read the files, put them side by side, and answer every image by what the others teach."""
    answers = _read_all(named, read_answers)
    ids, notes = _shared_ids(answers)
    truths = _truths(answers, ids)
    panel = _panel(answers, ids)
    first = next(iter(answers.values()))
    groups = groups_of([(first.image[key],) for key in ids], [truths[key].point for key in ids])
    known = Known.of(panel, [truths[key] for key in ids], groups)
    notes += _split_notes(len(ids), len(set(groups.tolist())), folds, seed)
    with progress("learning", folds) as bar:
        result = replay(known, folds=folds, seed=seed, progress=lambda done: bar.at(done, folds, f"part {done}"))
    return ReplayReport(tuple(panel.agents), tuple(ids), known, result, tuple(notes), folds, seed, truths)


def write_answers(out: Path, report: ReplayReport) -> None:
    """The learned answers as records that ``bench score`` reads."""
    lines = []
    for row, key in enumerate(report.ids):
        truth = report.truths[key]
        names = {"country": truth.country, "region": truth.region, "city": truth.city}
        place = {"lat": truth.point.lat, "lon": truth.point.lon} | {k: v for k, v in names.items() if v}
        within = report.result.within[row]
        line = {"id": key, "truth": place, "fold": int(report.result.folds[row])}
        lines.append(_record(line, answer_to_dict(report.result.answers[row]), report.result.followed[row], within))
    write_text_atomically(out, "".join(lines))
    talk(f"wrote {out}")


def save_trust(save: Path, report: ReplayReport, *, seed: int) -> None:
    """Learn from all images, and keep it."""
    with progress("learning from all images", measure="time"):
        trust = learn(report.known, seed=seed)
    write_text_atomically(save, json.dumps(trust_to_json(trust), ensure_ascii=False, allow_nan=False) + "\n")
    talk(f"wrote {save}")


def apply_model(named: Mapping[str, Path], model: Path, out: Path | None) -> Applied:
    """Answer images with a trust that was learned before; no truth is read."""
    trust = trust_from_json(_load(model))
    answers = _read_all(named, read_replies)
    ids, notes = _shared_ids(answers)
    panel = _panel(answers, ids).arranged(trust.agents)
    judged = trust.judge(panel)
    found = [(judged.answer(row), judged.followed(row)) for row in range(len(ids))]
    if out is not None:
        beside = next(iter(answers.values())).beside
        lines = [
            _record({"id": key, **beside.get(key, {})}, answer_to_dict(answer), followed, judged.within[row])
            for row, (key, (answer, followed)) in enumerate(zip(ids, found, strict=True))
        ]
        write_text_atomically(out, "".join(lines))
        talk(f"wrote {out}")
    return Applied(trust.agents, trust.images, len(ids), judged.within, judged.chosen, tuple(notes))


def _record(
    line: Mapping[str, Any], answer: Mapping[str, Any], followed: Sequence[str], within: np.ndarray[Any, Any]
) -> str:
    chances = {threshold_text(km): round(float(p), 4) for km, p in zip(WITHIN_KM, within, strict=True)}
    radius = float(even_odds_km(within[None])[0])
    sure = {} if radius == float("inf") else {"even_odds_km": radius}
    whole = {**line, "answer": answer, "follows": list(followed), **sure, "within_km": chances}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"


def _read_all(named: Mapping[str, Path], reader: Any) -> dict[str, Answers]:
    total = sum(path.stat().st_size for path in named.values() if path.is_file())
    with progress("reading", total, measure="bytes") as bar:
        return {agent: reader(path, bar.advance) for agent, path in named.items()}


def _shared_ids(answers: Mapping[str, Answers]) -> tuple[list[str], list[str]]:
    shared = set.intersection(*(set(one.said) for one in answers.values()))
    if not shared:
        raise BadInput(f"{' and '.join(answers)} share no image id, so they can't be put side by side")
    notes = [
        f"{agent}: {len(one.said) - len(shared)} of {len(one.said)} images left out, because another file lacks them"
        for agent, one in answers.items()
        if len(one.said) > len(shared)
    ]
    first = next(iter(answers.values()))
    twice = sorted({first.image[key] for key in shared if key != first.image[key]})
    if twice:
        notes.append(f"{len(twice)} image(s) occur more than once and are counted each time: {', '.join(twice[:3])}")
    return sorted(shared), notes


def _truths(answers: Mapping[str, Answers], ids: Sequence[str]) -> dict[str, Truth]:
    (label, first), *others = answers.items()
    for agent, one in others:
        for key in ids:
            a, b = first.truths[key].point, one.truths[key].point
            if great_circle_km(a.lat, a.lon, b.lat, b.lon) > _ROUNDING_KM:
                raise BadInput(
                    f"{label} and {agent} disagree on where {key} was; they are not answers to the same data"
                )
    return {key: first.truths[key] for key in ids}


def _panel(answers: Mapping[str, Answers], ids: Sequence[str]) -> Panel:
    said: dict[str, list[Said | None]] = {agent: [one.said[key] for key in ids] for agent, one in answers.items()}
    return Panel.of(said)


def _split_notes(images: int, groups: int, folds: int, seed: int) -> list[str]:
    near = f"a true place within {1000 * SAME_PLACE_KM:g} m"
    together = f"; {images - groups} share a name or {near} with another and stay with it" * (groups < images)
    return [f"{images} images in {folds} parts by image (seed {seed}){together}"]


def _load(model: Path) -> object:
    try:
        if model.stat().st_size > _MOST_MODEL_BYTES:
            raise BadInput(f"{model}: too large for a learned trust")
        return json.loads(model.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{model}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{model}: not a learned trust; --save writes one") from error
