"""Inference settings from the papers, each with its place in the paper.

None means that the paper gives no number; what a preset does then is ours, and docs/background/methods.md says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from geosleuth.models import Sampling

# Sampling of parallel trajectories in Thinking with Map (appendix B.1, table 7). Single runs keep their own sampling.
TWM_PARALLEL = Sampling(temperature=1.0, top_p=0.95, top_k=60, max_tokens=4096)
# Sampling temperature of the verifier in the code of Thinking with Map.
VERIFIER_TEMPERATURE = 0.0


@dataclass(frozen=True, slots=True)
class Inference:
    """The numbers of one paper.

    Attributes:
        paper: short title and authors.
        turns: replies of the model at most.
        calls: tool calls at most.
        context_tokens: tokens of the whole conversation.
        reply_tokens: tokens of one reply.
        run_tokens: tokens of all replies of a run and the results between them.
        result_characters: characters of one tool's result.
        first_view_pixels: pixels of the first view of the photo.
        replies_kept: how many of the newest replies stay in the context.
        sections: where each number stands in the paper.
    """

    paper: str
    turns: int | None = None
    calls: int | None = None
    context_tokens: int | None = None
    reply_tokens: int | None = None
    run_tokens: int | None = None
    result_characters: int | None = None
    first_view_pixels: int | None = None
    replies_kept: int | None = None
    sections: Mapping[str, str] = field(default_factory=dict, hash=False)


SPOTAGENT = Inference(
    "SpotAgent (Jia et al.)",
    calls=6,
    reply_tokens=4096,
    sections={"calls": "section 3.1, T_max", "reply_tokens": "appendix B.2, table 7"},
)

GEOVISTA = Inference(
    "GeoVista (Wang et al.)",
    turns=6,
    context_tokens=32_768,
    first_view_pixels=2_000_000,
    sections={"turns": "section 4", "context_tokens": "section 4", "first_view_pixels": "section 5.1"},
)

TWM = Inference(
    "Thinking with Map (Ji et al.)",
    turns=8,
    run_tokens=4096,
    result_characters=1024,
    sections={
        "turns": "appendix B.1, table 7",
        "run_tokens": "appendix B.1, table 7: max response length, which in its code is that of all turns together",
        "result_characters": "appendix B.1, table 7: max tool response length, which its code counts in characters",
    },
)


GEOAGENT = Inference(
    "GeoAgent (Jin et al.)",
    turns=1,
    calls=0,
    sections={"turns": "appendix A.2, figure 7", "calls": "appendix A.2, figure 7"},
)

SMILEGEO = Inference(
    "smileGeo (Han et al.)",
    replies_kept=1,
    sections={"replies_kept": "appendix C"},
)
