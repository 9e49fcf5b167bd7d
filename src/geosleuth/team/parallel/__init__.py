"""Several tries at one photo at once, and a verifier that reads them all and gives one answer."""

from .chains import Chains, Shown, careful_tokens, chains_for, fact_chains, whole_chains
from .checking import Check, Verdict
from .claims import Claim, Stand, stands_of
from .embedded import EmbeddedVerifier, embedded_method
from .facts import Fact, facts_of
from .items import Item, answered, items_of, marks_of, named_marks
from .locating import locate_in_parallel
from .measures import best_at_n, mean_single, pass_at_k, range_at_n, verifier_at_n
from .sampling import Try, Watch, draw_tries, try_sampling
from .verifying import CONTEXT_TOKENS, VERIFIER, chains_read, evidence_named, shown_chains, verifier_method

__all__ = [
    "CONTEXT_TOKENS",
    "VERIFIER",
    "Chains",
    "Check",
    "Claim",
    "EmbeddedVerifier",
    "Fact",
    "Item",
    "Shown",
    "Stand",
    "Try",
    "Verdict",
    "Watch",
    "answered",
    "best_at_n",
    "careful_tokens",
    "chains_for",
    "chains_read",
    "draw_tries",
    "embedded_method",
    "evidence_named",
    "fact_chains",
    "facts_of",
    "items_of",
    "locate_in_parallel",
    "marks_of",
    "mean_single",
    "named_marks",
    "pass_at_k",
    "range_at_n",
    "shown_chains",
    "stands_of",
    "try_sampling",
    "verifier_at_n",
    "verifier_method",
    "whole_chains",
]
