"""Handler of ``team replay``; imported only when it runs."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from geosleuth.answer import FORMAT as ANSWER_FORMAT
from geosleuth.answer import answer_from_dict, answer_to_dict, parse_lenient
from geosleuth.geo import FloatArray, great_circle_km, threshold_text
from geosleuth.lab.bench.export import finite
from geosleuth.lab.bench.records import Record, read_records
from geosleuth.lab.cli.handlers.bench import check_outputs as check_places
from geosleuth.lab.score import Comparison, Summary, Truth, compare_paired, summarise
from geosleuth.lab.teams.recorded import (
    SAME_PLACE_KM,
    WITHIN_KM,
    Panel,
    PanelReply,
    number_groups,
    trust_from_json,
    trust_to_json,
)
from geosleuth.lab.teams.recorded.learn_trust import LEARNED, REPORTED_KM, SINGLE, KnownTrust, Replay, learn, replay
from geosleuth.lab.teams.recorded.panel import IntArray
from geosleuth.lab.teams.recorded.trust import PLACES, even_odds_km
from geosleuth.support.console import progress, table_view, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_json, write_text_atomically
from geosleuth.support.text.numbers import p_value

_MAX_LINE = 64 * 1024 * 1024
_TRUTH_KEYS = ("lat", "lon", "country", "region", "city")

FORMAT = "geosleuth-replay/1"
_MAX_MODEL_BYTES = 256 * 1024 * 1024
_ROUNDING_KM = 0.001  # truths nearer than a metre differ by rounding alone


@dataclass(slots=True)
class Answers:
    """One agent's, by image id; an image that occurs again has its occurrence in its id.

    Attributes:
        said: what it said.
        image: the image itself.
        truths: where images really were; empty if truths were not read.
        beside: what a line says of the truth, unread, to be handed on.
    """

    said: dict[str, PanelReply] = field(default_factory=dict)
    image: dict[str, str] = field(default_factory=dict)
    truths: dict[str, Truth] = field(default_factory=dict)
    beside: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_answers(path: Path, progress: Callable[[int], None]) -> Answers:
    """Read records with truths.

    Raises:
        BadInput: the file or a line of it can't be read; the message names the line.
    """
    records = list(read_records(path, progress))
    if not records:
        raise BadInput(f"{path}: the file holds no record")
    keys = _keys([(record.id, record.repeat) for record in records])
    answers = Answers()
    for key, record in zip(keys, records, strict=True):
        answers.said[key] = _convert_record(record)
        answers.image[key] = record.id
        answers.truths[key] = record.truth
    return answers


def read_replies(path: Path, progress: Callable[[int], None]) -> Answers:
    """Read lines with an id and a reply or an answer; their truths are ignored.

    Raises:
        BadInput: the file or a line of it can't be read; the message names the line.
    """
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise BadInput(f"{path}: with --model, answers are read from files that end in .jsonl")
    found: list[tuple[str, str | None, PanelReply, dict[str, Any]]] = []
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE), b""), 1):
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


def _convert_record(record: Record) -> PanelReply:
    answer = record.read("lenient")
    return PanelReply(record.reply if record.reply is not None else (answer.explanation or ""), answer)


def _reply(line: bytes, where: str) -> tuple[str, str | None, PanelReply, dict[str, Any]]:
    try:
        data = json.loads(line)
        if not isinstance(data, Mapping):
            raise TypeError("a record is a JSON object")
        unread = data.get("ground_truth") if "solution_str" in data else data.get("truth")
        image = (unread.get("image") if isinstance(unread, Mapping) else None) or data.get("id", data.get("index"))
        if isinstance(image, bool) or not isinstance(image, str | int) or image == "":
            raise TypeError("an id must be a text or a whole number, and not empty")
        repeat = str(data["index"]) if "solution_str" in data and "index" in data else None
        return str(image), repeat, _parse_reply_row(data), _select_truth_fields(unread)
    except (ValueError, TypeError, KeyError, RecursionError, BadInput) as error:
        raise BadInput(f"{where}: not a record: {' '.join(str(error).split())[:200]}") from error


def _parse_reply_row(data: Mapping[str, Any]) -> PanelReply:
    if isinstance(data.get("answer"), Mapping):
        answer = answer_from_dict({"format": ANSWER_FORMAT, **data["answer"]})
        return PanelReply(answer.explanation or "", answer)
    reply = data.get("solution_str", data.get("reply"))
    if not isinstance(reply, str):
        raise TypeError("a record has a reply or an answer")
    return PanelReply(reply, parse_lenient(reply))


def _select_truth_fields(unread: object) -> dict[str, Any]:
    if not isinstance(unread, Mapping):
        return {}
    return {"truth": {key: unread[key] for key in _TRUTH_KEYS if unread.get(key) is not None}}


def _keys(images: list[tuple[str, str | None]]) -> list[str]:
    """Return ids that distinguish repeated images, named as the scorer names them."""
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


@dataclass(frozen=True, slots=True, eq=False)
class ReplayReport:
    """A measured replay, with what was odd about the files."""

    agents: tuple[str, ...]
    ids: tuple[str, ...]
    known: KnownTrust
    result: Replay
    notes: tuple[str, ...]
    folds: int
    seed: int
    truths: Mapping[str, Truth]


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """Trust learned before, applied to new images."""

    agents: tuple[str, ...]
    learned_from: int
    images: int
    within: FloatArray
    chosen: IntArray
    notes: tuple[str, ...]


def replay_view(report: ReplayReport) -> RenderableType:
    """Return the table of ways to answer, the paired tests, calibration, and how it was split."""
    result = report.result
    rows = []
    for name, distances in result.rows.items():
        label = f"{name} ({result.single})" if name == SINGLE else name
        rows.append(
            (
                Text(label, style="bold" if name == LEARNED else ""),
                *map(_render_replay_share, _compute_shares(distances)),
            )
        )
    table = table_view(("right within, %", *(f">{threshold_text(km)} km" for km in REPORTED_KM)), rows)
    table.columns[0].no_wrap, table.columns[0].min_width = True, 16
    errors = result.calibration_errors()
    calibrated = ", ".join(f"{threshold_text(km)} km {error:.3f}" for km, error in errors.items())
    election = ", ".join(f"{name} {lst:.2f}" for name, lst in zip(report.agents, result.election, strict=True))
    parts: list[RenderableType] = [
        Text(f"{len(report.agents)} agents, {len(report.ids):,} images: {', '.join(report.agents)}"),
        table,
        Text(
            f"95 % intervals by Wilson; {LEARNED} against {result.single}, exact McNemar test, Holm over the columns:"
        ),
        _tests(_against_single(result)),
        Text(f"calibration error of its probabilities: {calibrated}"),
        Text(f"calibration error of each answer's radius of even odds: {result.even_odds_error():.3f}"),
        Text(f"smileGeo's election over all images: {election}; th = 50 km, answers can't change in a replay, so that"),
        Text("K = 2 gives the first elected's answers (two agree or don't); in the row below it everybody is elected"),
        *(Text(note) for note in report.notes),
    ]
    return Group(*parts)


def replay_document(report: ReplayReport) -> dict[str, Any]:
    """Return the same as one JSON document."""
    result = report.result
    best = {
        threshold_text(km): max(_summary(agent).within[km].percent.value for agent in result.of_agents.values())
        for km in REPORTED_KM
    }
    return {
        "format": FORMAT,
        "agents": list(report.agents),
        "images": len(report.ids),
        "folds": report.folds,
        "seed": report.seed,
        "notes": list(report.notes),
        "best_single": result.single,
        "best_agent_at_each_distance": best,
        "rows": {name: _build_distance_row(distances) for name, distances in result.rows.items()},
        "each_agent": {name: _build_distance_row(distances) for name, distances in result.of_agents.items()},
        "learned_against_best_single": [
            {
                "within_km": item.threshold_km,
                "only_best_single": item.only_first,
                "only_learned": item.only_second,
                "p": item.p,
                "p_holm": item.p_adjusted,
            }
            for item in _against_single(result).accuracies
        ],
        "calibration_error": {threshold_text(km): error for km, error in result.calibration_errors().items()},
        "even_odds_calibration_error": finite(result.even_odds_error()),
        "smilegeo": {
            "election": dict(zip(report.agents, result.election.tolist(), strict=True)),
            "links": result.links.tolist(),
        },
    }


def render_applied(applied: Applied) -> RenderableType:
    """Return how many images were answered, whom the answers follow, and how sure they are."""
    names = (*applied.agents, PLACES)
    counts = [int((applied.chosen == at).sum()) for at in range(len(names))]
    follows = ", ".join(f"{name} {count:,}" for name, count in zip(names, counts, strict=True))
    silent = int((applied.chosen < 0).sum())
    chances = ", ".join(
        f"{threshold_text(km)} km {100 * share:.1f} %"
        for km, share in zip(WITHIN_KM, applied.within.mean(axis=0), strict=True)
    )
    return Group(
        Text(f"{applied.images:,} images answered with what was learned from {applied.learned_from:,} others"),
        Text(f"follows: {follows}" + (f"; no agent gave a point on {silent:,}" if silent else "")),
        Text(f"expected to be right within: {chances}"),
        *(Text(note) for note in applied.notes),
    )


def build_applied_document(applied: Applied) -> dict[str, Any]:
    """Return the same as one JSON document."""
    means = applied.within.mean(axis=0).tolist()
    return {
        "format": FORMAT,
        "agents": list(applied.agents),
        "learned_from": applied.learned_from,
        "images": applied.images,
        "follows": {name: int((applied.chosen == at).sum()) for at, name in enumerate((*applied.agents, PLACES))},
        "unlocated": int((applied.chosen < 0).sum()),
        "expected_within": {threshold_text(km): share for km, share in zip(WITHIN_KM, means, strict=True)},
        "notes": list(applied.notes),
    }


def _summary(distances: FloatArray) -> Summary:
    return summarise(distances, thresholds_km=REPORTED_KM)


def _compute_shares(distances: FloatArray) -> list[tuple[float, float, float]]:
    shares = [item.percent for item in _summary(distances).within.values()]
    return [(share.value, share.low, share.high) for share in shares]


def _render_replay_share(share: tuple[float, float, float]) -> Text:
    value, low, high = share
    return Text.assemble(f"{value:.2f}", (f" {low:.1f}–{high:.1f}", "dim"))


def _build_distance_row(distances: FloatArray) -> dict[str, Any]:
    shares = zip(REPORTED_KM, _compute_shares(distances), strict=True)
    return {
        "unlocated": int(np.isnan(distances).sum()),
        "within": {threshold_text(km): {"percent": v, "low": lo, "high": hi} for km, (v, lo, hi) in shares},
    }


def _against_single(result: Replay) -> Comparison:
    return compare_paired(result.rows[SINGLE], result.rows[LEARNED], REPORTED_KM)


def _tests(comparison: Comparison) -> RenderableType:
    rows = [
        (
            f"{threshold_text(item.threshold_km)} km", f"{item.second_percent - item.first_percent:+.2f}",
            str(item.only_first), str(item.only_second), p_value(item.p), p_value(item.p_adjusted),
        )
        for item in comparison.accuracies
    ]  # fmt: skip
    return table_view(("within", ">change", ">only best single", ">only learned", ">p", ">Holm"), rows)


def parse_named_files(files: Sequence[str]) -> dict[str, Path]:
    """Return the agents' names and their files; without a name, the file's own."""
    named: dict[str, Path] = {}
    for word in files:
        name, equals, path = word.partition("=")
        # A path may hold an equals sign itself: as a name only what names no folder counts.
        split = bool(equals and name and path) and "/" not in name and not Path(word).exists()
        file = Path(path if split else word)
        agent = name if split else file.stem
        if agent in named:
            raise BadInput(f"two files are called {agent}; rename them: {agent}1={named[agent]} {agent}2={file}")
        named[agent] = file
    if len(named) < 2:
        raise BadInput("a replay needs the answers of at least two agents: give two files or more")
    return named


def check_outputs(
    named: Mapping[str, Path], out: Path | None, save: Path | None, model: Path | None, *, overwrite: bool
) -> None:
    """Check that every output can be written, before the work."""
    if model is not None and save is not None:
        raise BadInput("--model uses what was learned before, --save learns again: give one of them")
    if out is not None and out.suffix.lower() != ".jsonl":
        raise BadInput(f"{out}: --out writes .jsonl")
    if save is not None and save.suffix.lower() != ".json":
        raise BadInput(f"{save}: --save writes .json")
    outputs = [path for path in (out, save) if path is not None]
    inputs = [*named.values(), *([model] if model else [])]
    check_places(outputs, (".jsonl", ".json"), None, inputs, overwrite=overwrite)


def measure(named: Mapping[str, Path], *, folds: int, seed: int) -> ReplayReport:
    """Read the files, align them, and answer every image by what the others teach."""
    answers = _read_all(named, read_answers)
    ids, notes = _find_shared_ids(answers)
    truths = _truths(answers, ids)
    panel = _panel(answers, ids)
    first = next(iter(answers.values()))
    groups = number_groups([(first.image[key],) for key in ids], [truths[key].point for key in ids])
    known = KnownTrust.from_panel(panel, [truths[key] for key in ids], groups)
    notes += _split_notes(len(ids), len(set(groups.tolist())), folds, seed)
    with progress("learning", folds) as bar:
        result = replay(known, folds=folds, seed=seed, progress=lambda done: bar.update(done, folds, f"part {done}"))
    return ReplayReport(tuple(panel.agents), tuple(ids), known, result, tuple(notes), folds, seed, truths)


def write_answers(out: Path, report: ReplayReport) -> None:
    """Write the learned answers as records for ``bench score``."""
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
    """Learn from all images, and save the result."""
    with progress("learning from all images", measure="time"):
        trust = learn(report.known, seed=seed)
    write_text_atomically(save, json.dumps(trust_to_json(trust), ensure_ascii=False, allow_nan=False) + "\n")
    talk(f"wrote {save}")


def apply_model(named: Mapping[str, Path], model: Path, out: Path | None) -> Applied:
    """Answer images with trust learned before; no truth is read."""
    trust = trust_from_json(_load_trust_model(model))
    answers = _read_all(named, read_replies)
    ids, notes = _find_shared_ids(answers)
    panel = _panel(answers, ids).arrange(trust.agents)
    judged = trust.judge(panel)
    found = [(judged.answer(row), judged.list_followed(row)) for row in range(len(ids))]
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


def _find_shared_ids(answers: Mapping[str, Answers]) -> tuple[list[str], list[str]]:
    shared = set.intersection(*(set(answer.said) for answer in answers.values()))
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
    for agent, item in others:
        for key in ids:
            a, b = first.truths[key].point, item.truths[key].point
            if great_circle_km(a.lat, a.lon, b.lat, b.lon) > _ROUNDING_KM:
                raise BadInput(
                    f"{label} and {agent} disagree on where {key} was; they are not answers to the same data"
                )
    return {key: first.truths[key] for key in ids}


def _panel(answers: Mapping[str, Answers], ids: Sequence[str]) -> Panel:
    said: dict[str, list[PanelReply | None]] = {agent: [one.said[key] for key in ids] for agent, one in answers.items()}
    return Panel.from_answers(said)


def _split_notes(images: int, groups: int, folds: int, seed: int) -> list[str]:
    near = f"a true place within {1000 * SAME_PLACE_KM:g} m"
    together = f"; {images - groups} share a name or {near} with another and stay with it" * (groups < images)
    return [f"{images} images in {folds} parts by image (seed {seed}){together}"]


def _load_trust_model(model: Path) -> object:
    try:
        return read_json(model, _MAX_MODEL_BYTES)
    except OSError as error:
        raise BadInput(f"{model}: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput(f"{model}: not a learned trust; --save writes one") from error
