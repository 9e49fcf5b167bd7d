"""Runs over data sets: a folder that is continued, never redone, on one machine or many."""

from .engine import Ending, Why, run_set
from .folder import RunFolder
from .journal import Known, TryRecord
from .limits import RunLimits
from .local import LocalWorker
from .manifest import DataInfo, Manifest
from .model import Attempt, Attempted, Job, Making, Outcome, Ready, Worker
from .results import RunSummary, summary, write_results
from .standing import Standing

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
    "RunSummary",
    "Standing",
    "TryRecord",
    "Why",
    "Worker",
    "run_set",
    "summary",
    "write_results",
]
