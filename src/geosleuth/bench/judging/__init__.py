"""Judges: names that the rule can't decide are put to a model, one short question each, and the answers are kept."""

from .agreement import Agreement, agreement_of, kappa, sample_of
from .asking import PROMPT_VERSION, Judge, Limits, Standing, Verdict, prompt_for, read_verdict
from .cache import VerdictCache
from .deciding import Question, RuleSays, Stand, granted, stand
from .figures import JudgedFile, LevelFigures, judged_csv, judged_document, judged_view
from .judging import Ask, Entry, entries_of, judge_entries

__all__ = [
    "PROMPT_VERSION",
    "Agreement",
    "Ask",
    "Entry",
    "Judge",
    "JudgedFile",
    "LevelFigures",
    "Limits",
    "Question",
    "RuleSays",
    "Stand",
    "Standing",
    "Verdict",
    "VerdictCache",
    "agreement_of",
    "entries_of",
    "granted",
    "judge_entries",
    "judged_csv",
    "judged_document",
    "judged_view",
    "kappa",
    "prompt_for",
    "read_verdict",
    "sample_of",
    "stand",
]
