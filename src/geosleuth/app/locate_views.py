"""How a finding looks as JSON."""

from typing import Any

from geosleuth.agent import Spent, spent_document
from geosleuth.agent.locating import Finding
from geosleuth.answer import Answer, answer_to_dict, to_precision
from geosleuth.app.atlas_views import plain
from geosleuth.team.parallel import answered as came_to_an_answer
from geosleuth.team.parallel import chains_read, evidence_named


def finding_document(finding: Finding) -> dict[str, Any]:
    """The finding as one JSON document."""
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
    }


def team_document(finding: Finding) -> dict[str, Any]:
    """What each of several minds said and what all of it cost; of tries also how many agree and what decided."""
    from geosleuth.app.report.team import NEAR_KM, agreement, are_tries, failed_verifier, spent_together, voices

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
    return {**spent_document(spent), "usd": spent.usage.cost_usd}
