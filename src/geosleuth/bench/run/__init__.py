"""Runs over data sets: a folder that is continued, never redone, on one machine or many."""

from .engine import Ending, LocalWorker, RunLimits, Why, run_set
from .folder import RunFolder
from .journal import Attempt, Attempted, Job, Known, Making, Outcome, Ready, TryRecord, Worker
from .manifest import DataInfo, Manifest
from .results import RunProgress, RunSummary, summary, write_results

__all__ = [
    "Attempt",
    "Attempted",
    "DataInfo",
    "Ending",
    "Job",
    "Known",
    "LocalWorker",
    "Making",
    "Manifest",
    "Outcome",
    "Ready",
    "RunFolder",
    "RunLimits",
    "RunProgress",
    "RunSummary",
    "TryRecord",
    "Why",
    "Worker",
    "run_set",
    "summary",
    "write_results",
]
