"""Several tries at one photo at once, and a verifier that reads them all and gives one answer."""

from typing import TYPE_CHECKING

from geosleuth.agent.locate import VERIFIER
from geosleuth.agent.setup import Watch
from geosleuth.support.lazy import export_names

if TYPE_CHECKING:
    from .chains import (
        Chains,
        build_chains,
        careful_tokens,
        collect_marks,
        extract_marks,
        fact_chains,
        has_answer,
        list_items,
        whole_chains,
    )
    from .locate import Try, draw_tries, locate_in_parallel, try_sampling
    from .verifier import (
        CONTEXT_TOKENS,
        EmbeddedVerifier,
        build_embedded_method,
        chains_read,
        evidence_named,
        render_chains,
        verifier_method,
    )

# One try needs neither chains nor verifier.
__getattr__ = export_names(
    __name__,
    {
        "chains": (
            "Chains",
            "has_answer",
            "careful_tokens",
            "build_chains",
            "fact_chains",
            "list_items",
            "collect_marks",
            "extract_marks",
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
            "build_embedded_method",
            "evidence_named",
            "render_chains",
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
    "build_chains",
    "build_embedded_method",
    "careful_tokens",
    "chains_read",
    "collect_marks",
    "draw_tries",
    "evidence_named",
    "extract_marks",
    "fact_chains",
    "has_answer",
    "list_items",
    "locate_in_parallel",
    "render_chains",
    "try_sampling",
    "verifier_method",
    "whole_chains",
]
