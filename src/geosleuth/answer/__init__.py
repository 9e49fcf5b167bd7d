"""The answer: its type, its file formats, and the parsers of models' replies.

``Answer`` is the one type that policies return, teams merge, scorers judge and reports show. Replies become answers
only in ``parse``; no coordinate is ever invented, substituted or looked up there. Answers leave through ``cap``, which
limits their precision, and ``geosleuth.answer.formats``.
"""

from .answer import (
    FORMAT,
    Address,
    Answer,
    Candidate,
    Level,
    answer_from_dict,
    answer_to_dict,
    render,
    render_brief,
)
from .granularity import GRANULARITIES, Admitted, Gazetteer, Granularity, cap, cap_text, coarsest
from .parse import PARSERS, ParserName, parse, parse_lenient, parse_strict

__all__ = [
    "FORMAT",
    "GRANULARITIES",
    "PARSERS",
    "Address",
    "Admitted",
    "Answer",
    "Candidate",
    "Gazetteer",
    "Granularity",
    "Level",
    "ParserName",
    "answer_from_dict",
    "answer_to_dict",
    "cap",
    "cap_text",
    "coarsest",
    "parse",
    "parse_lenient",
    "parse_strict",
    "render",
    "render_brief",
]
