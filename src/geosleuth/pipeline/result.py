"""One result: the same document, with one JSON schema, from ``--json``, HTTP, MCP and ``finding.to_dict()``."""

from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from geosleuth.agent import Spent, spent_document
from geosleuth.agent.locate import Finding
from geosleuth.answer import Answer, answer_to_dict, to_precision
from geosleuth.answer.granularity import GRANULARITIES
from geosleuth.geo.extent import plain
from geosleuth.team.parallel import answered as came_to_an_answer
from geosleuth.team.parallel import chains_read, evidence_named
from geosleuth.tools.surfaces import NUMBER, POINT, TEXT, WHOLE, YES_NO, many, maybe, record

from .check import Checked
from .voices import NEAR_KM, agreement, are_tries, failed_verifier, spent_together, voices

_LEVEL = record(
    {"conclusion": TEXT, "clues": many(TEXT), "reasoning": TEXT, "uncertainty": TEXT},
    optional=("conclusion", "clues", "reasoning", "uncertainty"),
)


@dataclass(frozen=True, slots=True, repr=False)
class LocateResult(Finding):
    """A finding that can be written down; ``checked`` is the verdict on a place that somebody claims."""

    checked: Checked | None = None

    @classmethod
    def of(cls, finding: Finding, checked: Checked | None = None) -> "LocateResult":
        """Return a finding as a result."""
        told = {one.name: getattr(finding, one.name) for one in fields(Finding)}
        return cls(**told, checked=checked)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``geosleuth locate --json``."""
        return result_document(self, self.checked)


def result_document(finding: Finding, checked: Checked | None = None) -> dict[str, Any]:
    """Return a finding as the one JSON document of all surfaces; `result_schema` describes it."""
    trajectory = finding.trajectory
    answered, ended = trajectory.answered, trajectory.ended
    return {
        "answer": answer_to_dict(to_precision(finding.answer)),
        "answered_by": answered.by if answered else "nobody",
        "ended": ended.reason if ended else None,
        "trouble": ended.trouble if ended else None,
        "model": trajectory.started.policy,
        "method": trajectory.started.method,
        "tools": list(trajectory.started.tools),
        "spent": _spent(trajectory.spent),
        "granularity": finding.granularity,
        "pool": [plain(hypothesis) for hypothesis in trajectory.pool],
        "trajectory": trajectory.id,
        "photos": [
            {
                "sha256": claims.sha256,
                "claimed_point": plain(claims.point),
                "claim_conflicts": conflict,
                "claim_estimated": claims.estimated,
            }
            for claims, conflict in zip(finding.claims, finding.conflicts, strict=True)
        ],
        **({"team": team_document(finding)} if finding.team else {}),
        **({"check": plain(checked)} if checked is not None else {}),
    }


def team_document(finding: Finding) -> dict[str, Any]:
    """What each of several minds said and what all of it cost; of tries also how many agree and what decided."""
    own = finding.trajectory
    together = {"spent_together": _spent(spent_together(finding))}
    if not are_tries(finding):
        said = [{"member": one.who, "answer": answer_to_dict(to_precision(one.answer))} for one in voices(finding)]
        return {"said": said, "runs": [one.id for one in finding.team], **together}
    exact = finding.granularity == "exact"
    failed = failed_verifier(finding)
    return {
        "said": [
            {
                "try": number,
                "answered": came_to_an_answer(one),
                "answer": answer_to_dict(to_precision(one.answer or Answer())),
                "ended": one.ended.reason if one.ended else None,
                "trouble": one.ended.trouble if one.ended else None,
                "model": one.started.policy,
                "seed": one.started.sampling.seed,
                "spent": _spent(one.spent),
                "trajectory": one.id,
            }
            for number, one in enumerate(finding.team, 1)
        ],
        "agree": agreement(finding),
        "within_km": NEAR_KM if exact else None,
        "chains": chains_read(own) if exact else None,
        "evidence": list(evidence_named(own, finding.team)),
        **({"verifier": {"wanted": failed.model, "failed": failed.reason}} if failed else {}),
        **together,
    }


def _spent(spent: Spent) -> dict[str, Any]:
    usd = spent.usage.cost_usd
    # Sums of what odd services say they took may pass all bounds, which JSON can't say.
    return {**spent_document(spent), "usd": usd if usd is None or isfinite(usd) else None}


def result_schema() -> dict[str, Any]:
    """Return the JSON schema of `result_document`."""
    candidate = record(
        {"name": TEXT, **POINT, "probability": NUMBER, "evidence": TEXT},
        optional=("name", "lat", "lon", "probability", "evidence"),
    )
    answer = {
        "format": TEXT,
        **POINT,
        "country": _LEVEL,
        "region": _LEVEL,
        "precise": _LEVEL,
        "probability": NUMBER,
        "radius_km": NUMBER,
        "explanation": TEXT,
        "candidates": many(candidate),
    }
    spent = {
        "turns": WHOLE,
        "calls": WHOLE,
        "failed_calls": WHOLE,
        "withheld_calls": WHOLE,
        "seconds": NUMBER,
        "input_tokens": maybe(WHOLE),
        "output_tokens": maybe(WHOLE),
        "usd": maybe(NUMBER),
    }
    photo = {
        "sha256": TEXT,
        "claimed_point": maybe(record(POINT)),
        "claim_conflicts": maybe(YES_NO),
        "claim_estimated": YES_NO,
    }
    check = {
        "claimed": record(POINT),
        "verdict": {**TEXT, "enum": ["for", "against", "undecided"]},
        "reason": TEXT,
        "speaks_for": many(TEXT),
        "speaks_against": many(TEXT),
    }
    return record(
        {
            "answer": record(answer, optional=set(answer) - {"format"}),
            "answered_by": TEXT,
            "ended": maybe(TEXT),
            "trouble": maybe(TEXT),
            "model": TEXT,
            "method": TEXT,
            "tools": many(TEXT),
            "spent": record(spent),
            "granularity": {**TEXT, "enum": list(GRANULARITIES)},
            "pool": many({"type": "object"}),
            "trajectory": TEXT,
            "photos": many(record(photo)),
            "team": {"type": "object"},
            "check": record(check),
        },
        optional=("team", "check"),
    )
