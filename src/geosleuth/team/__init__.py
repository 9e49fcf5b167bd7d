"""Several minds on one photo.

``parallel`` draws several trajectories of one model and lets a verifier decide. ``swarm`` lets different agents answer,
review each other and discuss, and ``learning`` finds out whom to trust with which picture. ``rivals`` are other ways to
put the same agents together. ``recorded`` does it with answers that are already known.

Truths are held in ``learning`` and nowhere else: whatever answers can't import it.
"""

from .model import (
    AGREE_WITHIN_KM,
    Member,
    Outcome,
    Placer,
    Reply,
    Request,
    Society,
    Stage,
    StrangersSociety,
    TrustWeights,
    Turn,
    agree,
    cluster,
    image_tokens,
    reply_tokens,
    text_tokens,
)

__all__ = [
    "AGREE_WITHIN_KM",
    "Member",
    "Outcome",
    "Placer",
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
    "reply_tokens",
    "text_tokens",
]
