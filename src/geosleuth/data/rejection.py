"""Rejection sampling, as SpotAgent does it: only what was called well and answered well is worth learning from.

A trajectory is kept if every call was valid and succeeded, if a reason was written down before each of them, and if the
answer lies within 5 km of the truth. Finding nothing is a success: the tool did its work.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from geosleuth.agent import Trajectory
from geosleuth.geo import LatLon, distance_km
from geosleuth.policies import Step

WITHIN_KM = 5.0
"""The paper's threshold."""

Reason = Literal["broken", "no_answer", "invalid_call", "failed_call", "no_reasons", "far_answer"]
"""Why a trajectory is not kept: its model failed; nobody answered with a point; a call could not be carried out; a call
was carried out and failed, or was withheld; a call without saying what was seen, what is missing and why this tool; the
answer is too far off. Of several that hold, the first is counted."""

REASON_WORDS: Mapping[Reason, str] = {
    "broken": "the run broke off",
    "no_answer": "no answer with a point",
    "invalid_call": "a call that can't be carried out",
    "failed_call": "a call that failed or was withheld",
    "no_reasons": "a call without its three reasons",
    "far_answer": "an answer farther off than allowed",
}
_BROKEN = ("service", "cancelled", "error")
_INVALID = ("unknown_tool", "bad_arguments", "refused")
_THREE = tuple(re.compile(rf"\b{word}\b\s*[:-]", re.IGNORECASE) for word in ("seen", "missing", "tool"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a trajectory is kept; ``reasons`` are all that speak against it, ``detail`` is about the first."""

    reasons: tuple[Reason, ...] = ()
    detail: str = ""
    error_km: float | None = None

    @property
    def kept(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons


def judge(trajectory: Trajectory, truth: LatLon, *, within_km: float = WITHIN_KM) -> Verdict:
    """Whether a trajectory is worth learning from, and if not, why."""
    against: list[tuple[Reason, str]] = []
    ended, answer = trajectory.ended, trajectory.answer
    if ended is None or ended.reason in _BROKEN:
        against.append(("broken", (ended.trouble if ended else None) or "it has no end"))
    point = answer.point if answer else None
    by = trajectory.answered.by if trajectory.answered else "nobody"
    if point is None or by != "policy":
        against.append(("no_answer", "the policy gave no point"))
    against += _call_faults(trajectory)
    if any(step.calls and not states_reasons(step) for step in trajectory.steps):
        against.append(("no_reasons", "a call stands without what was seen, what is missing and why this tool"))
    error_km = None if point is None else round(distance_km(point, truth, "geodesic"), 6)
    if error_km is not None and error_km > within_km:
        against.append(("far_answer", f"{error_km:.1f} km off"))
    return _verdict(against, error_km)


def judge_assembled(trajectory: Trajectory) -> Verdict:
    """Whether a trajectory came to its end with calls that worked; its answer is not held against anything."""
    against: list[tuple[Reason, str]] = []
    ended, answered = trajectory.ended, trajectory.answered
    if ended is None or ended.reason in _BROKEN:
        against.append(("broken", (ended.trouble if ended else None) or "it has no end"))
    if answered is None or answered.by != "policy" or not (answered.answer.address or answered.answer.located):
        against.append(("no_answer", "the policy named no place"))
    against += _call_faults(trajectory)
    return _verdict(against, None)


def _call_faults(trajectory: Trajectory) -> list[tuple[Reason, str]]:
    return [
        ("invalid_call" if one.failure in _INVALID else "failed_call", f"{one.name}: {one.failure}")
        for one in trajectory.observations
        if one.failure is not None
    ]


def _verdict(against: Sequence[tuple[Reason, str]], error_km: float | None) -> Verdict:
    order: Sequence[Reason] = get_args(Reason)
    ranked = sorted(against, key=lambda pair: order.index(pair[0]))
    reasons = tuple(dict.fromkeys(reason for reason, _ in ranked))
    return Verdict(reasons, ranked[0][1] if ranked else "", error_km)


def states_reasons(step: Step) -> bool:
    """Whether a step says what was seen, what is missing and why this tool, before it calls."""
    said = f"{step.thinking}\n{step.text}"
    return all(pattern.search(said) for pattern in _THREE)


@dataclass(slots=True)
class Tally:
    """What was made, what was kept, and why the rest was not; made from the ``meta`` of everything that was made."""

    made: int = 0
    kept: int = 0
    first: Counter[str] = field(default_factory=Counter)
    every: Counter[str] = field(default_factory=Counter)
    by_finest: dict[str, list[int]] = field(default_factory=dict)
    by_slip: dict[str, list[int]] = field(default_factory=dict)
    tools: Counter[str] = field(default_factory=Counter)
    kept_calls: int = 0

    def add(self, meta: Mapping[str, Any]) -> None:
        """Count one."""
        reasons = list(meta.get("reasons") or ())
        is_kept = bool(meta.get("kept"))
        self.made += 1
        self.kept += is_kept
        if reasons and not is_kept:
            self.first[reasons[0]] += 1
            self.every.update(reasons)
        _count(self.by_finest, str(meta.get("finest") or "nothing"), is_kept)
        slipped = [name for name, times in (meta.get("slips") or {}).items() if times]
        for name in slipped or ["none"]:
            _count(self.by_slip, name, is_kept)
        if is_kept:
            self.tools.update(meta.get("tools") or ())
            self.kept_calls += len(meta.get("tools") or ())

    @property
    def share(self) -> float | None:
        """The share that was kept."""
        return self.kept / self.made if self.made else None


def tally_of(metas: Iterable[Mapping[str, Any]]) -> Tally:
    """All of it, counted."""
    tally = Tally()
    for meta in metas:
        tally.add(meta)
    return tally


def tally_to_dict(tally: Tally) -> dict[str, Any]:
    """The counts as JSON holds them, always in the same order."""
    shares = {name: _share(pair) for name, pair in sorted(tally.by_finest.items())}
    return {
        "made": tally.made,
        "kept": tally.kept,
        "kept_share": None if tally.share is None else round(tally.share, 6),
        "rejected": {reason: tally.first[reason] for reason in get_args(Reason)},
        "rejected_also_for": {reason: tally.every[reason] for reason in get_args(Reason)},
        "by_finest_clue": shares,
        "by_slip": {name: _share(pair) for name, pair in sorted(tally.by_slip.items())},
        "calls_kept": dict(sorted(tally.tools.items())),
    }


def tally_markdown(tally: Tally) -> str:
    """The same as tables for people."""
    lines = ["| what became of it | trajectories | share |", "| --- | ---: | ---: |"]
    lines.append(_row("kept", tally.kept, tally.made))
    for reason, words in REASON_WORDS.items():
        lines.append(_row(f"rejected: {words}", tally.first[reason], tally.made))
    lines += ["", "| finest clue of the scene | made | kept | share kept |", "| --- | ---: | ---: | ---: |"]
    lines += [_pair_row(name, pair) for name, pair in sorted(tally.by_finest.items())]
    lines += ["", "| slip of a stand-in | made | kept | share kept |", "| --- | ---: | ---: | ---: |"]
    lines += [_pair_row(name, pair) for name, pair in sorted(tally.by_slip.items())]
    return "\n".join(lines) + "\n"


def _count(into: dict[str, list[int]], name: str, is_kept: int) -> None:
    pair = into.setdefault(name, [0, 0])
    pair[0] += 1
    pair[1] += is_kept


def _share(pair: Sequence[int]) -> dict[str, Any]:
    return {"made": pair[0], "kept": pair[1]}


def _row(words: str, count: int, total: int) -> str:
    return f"| {words} | {count:,} | {100 * count / total if total else 0:.1f} % |"


def _pair_row(name: str, pair: Sequence[int]) -> str:
    return f"| {name} | {pair[0]:,} | {pair[1]:,} | {100 * pair[1] / pair[0]:.1f} % |"
