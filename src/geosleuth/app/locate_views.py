"""How a finding looks as JSON."""

from typing import Any

from geosleuth.agent import Spent
from geosleuth.agent.locating import Finding
from geosleuth.answer import answer_to_dict
from geosleuth.app.atlas_views import plain


def finding_document(finding: Finding) -> dict[str, Any]:
    """The finding as one JSON document."""
    trajectory = finding.trajectory
    answered, ended = trajectory.answered, trajectory.ended
    return {
        "answer": answer_to_dict(finding.answer),
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
            {"sha256": claims.sha256, "claimed_point": plain(claims.point), "claim_conflicts": conflict}
            for claims, conflict in zip(finding.claims, finding.conflicts, strict=True)
        ],
    }


def _spent(spent: Spent) -> dict[str, Any]:
    usage = spent.usage
    return {
        "turns": spent.turns,
        "calls": spent.calls,
        "failed_calls": spent.failed_calls,
        "withheld_calls": spent.withheld_calls,
        "seconds": round(spent.seconds, 3),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "usd": usage.cost_usd,
    }
