"""Injected texts: cases that try to talk a model into another answer, each beside real clues, and what came of them."""

from .attempt import HOSTS_FILE, InjectionAttempt, injection_plan, outside_watched
from .cases import CARD_NAME, MAX_CASES, InjectionCase, InjectionSet, injection_set
from .figures import CaseOutcome, Count, InjectionReport, injection_document, read_outcomes
from .texts import CHANNELS, KINDS, Channel, Kind, Target

__all__ = [
    "CARD_NAME",
    "CHANNELS",
    "HOSTS_FILE",
    "KINDS",
    "MAX_CASES",
    "CaseOutcome",
    "Channel",
    "Count",
    "InjectionAttempt",
    "InjectionCase",
    "InjectionReport",
    "InjectionSet",
    "Kind",
    "Target",
    "injection_document",
    "injection_plan",
    "injection_set",
    "outside_watched",
    "read_outcomes",
]
