"""Teams: several models or agents on one photo.

``parallel`` draws several trajectories of one model and lets a verifier decide. ``swarm`` lets different agents answer,
review each other and discuss, and ``learning`` learns whom to trust with which picture. ``rivals`` are other ways to
combine the same agents. ``recorded`` works with recorded answers.

Only ``learning`` holds truths: code that answers can't import it.
"""

from typing import TYPE_CHECKING

from geosleuth.support.lazy import export_names

if TYPE_CHECKING:
    from .member import (
        AGREE_WITHIN_KM,
        Location,
        Member,
        Reply,
        Request,
        Society,
        Stage,
        StrangersSociety,
        TeamOutcome,
        TrustWeights,
        Turn,
        agree,
        cluster,
        find_location,
        image_tokens,
        reply_tokens,
        text_tokens,
    )

__getattr__ = export_names(
    __name__,
    {
        "member": (
            "AGREE_WITHIN_KM",
            "Location",
            "Member",
            "TeamOutcome",
            "Reply",
            "Request",
            "Society",
            "Stage",
            "StrangersSociety",
            "TrustWeights",
            "Turn",
            "agree",
            "cluster",
            "image_tokens",
            "find_location",
            "reply_tokens",
            "text_tokens",
        ),
    },
)

__all__ = [
    "AGREE_WITHIN_KM",
    "Location",
    "Member",
    "Reply",
    "Request",
    "Society",
    "Stage",
    "StrangersSociety",
    "TeamOutcome",
    "TrustWeights",
    "Turn",
    "agree",
    "cluster",
    "find_location",
    "image_tokens",
    "reply_tokens",
    "text_tokens",
]
