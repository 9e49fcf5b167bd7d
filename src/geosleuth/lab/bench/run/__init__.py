"""Runs over data sets: a folder that is continued, never redone, on one machine or many."""

from .engine import Ending, LocalWorker, RunLimits, run_set
from .folder import RunFolder
from .journal import Attempt, Attempted, Job, Making, Ready, TryRecord, Worker
from .manifest import DataInfo, Manifest
from .results import RunProgress, summary

__all__ = [
    "Attempt",
    "Attempted",
    "DataInfo",
    "Ending",
    "Job",
    "LocalWorker",
    "Making",
    "Manifest",
    "Ready",
    "RunFolder",
    "RunLimits",
    "RunProgress",
    "TryRecord",
    "Worker",
    "run_set",
    "summary",
]
