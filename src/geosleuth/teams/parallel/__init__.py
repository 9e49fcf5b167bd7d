"""Several tries at one photo at once, and a verifier that reads them all and gives one answer."""

from typing import TYPE_CHECKING

from geosleuth.agent.locate import VERIFIER
from geosleuth.agent.setup import Watch
from geosleuth.support.lazy import exported

if TYPE_CHECKING:
    from .chains import (
        Chains,
        answered,
        careful_tokens,
        chains_for,
        fact_chains,
        items_of,
        marks_of,
        named_marks,
        whole_chains,
    )
    from .locate import Try, draw_tries, locate_in_parallel, try_sampling
    from .verifier import (
        CONTEXT_TOKENS,
        EmbeddedVerifier,
        chains_read,
        embedded_method,
        evidence_named,
        shown_chains,
        verifier_method,
    )

# One try needs neither chains nor verifier.
__getattr__ = exported(
    __name__,
    {
        "chains": (
            "Chains",
            "answered",
            "careful_tokens",
            "chains_for",
            "fact_chains",
            "items_of",
            "marks_of",
            "named_marks",
            "whole_chains",
        ),
        "locate": (
            "Try",
            "draw_tries",
            "locate_in_parallel",
            "try_sampling",
        ),
        "verifier": (
            "CONTEXT_TOKENS",
            "EmbeddedVerifier",
            "chains_read",
            "embedded_method",
            "evidence_named",
            "shown_chains",
            "verifier_method",
        ),
    },
)

__all__ = [
    "CONTEXT_TOKENS",
    "VERIFIER",
    "Chains",
    "EmbeddedVerifier",
    "Try",
    "Watch",
    "answered",
    "careful_tokens",
    "chains_for",
    "chains_read",
    "draw_tries",
    "embedded_method",
    "evidence_named",
    "fact_chains",
    "items_of",
    "locate_in_parallel",
    "marks_of",
    "named_marks",
    "shown_chains",
    "try_sampling",
    "verifier_method",
    "whole_chains",
]
