"""What the folder of a run tells: figures, behaviour, costs, failures, and photos to look at."""

from .figures import (
    Behaviour,
    Bucket,
    HungOn,
    Measure,
    Shift,
    Spread,
    ToolUse,
    by_spending,
    hung_on,
    hung_on_of_folders,
    per_photo,
    read_behaviour,
)
from .journal_columns import FailureGroup, Journal, Tries, read_journal
from .run_report import Gallery, GroundMap, RunReport, RunsReport, Shot, frame, report_run, report_runs, with_pictures

__all__ = [
    "Behaviour",
    "Bucket",
    "FailureGroup",
    "Gallery",
    "GroundMap",
    "HungOn",
    "Journal",
    "Measure",
    "RunReport",
    "RunsReport",
    "Shift",
    "Shot",
    "Spread",
    "ToolUse",
    "Tries",
    "by_spending",
    "frame",
    "hung_on",
    "hung_on_of_folders",
    "per_photo",
    "read_behaviour",
    "read_journal",
    "report_run",
    "report_runs",
    "with_pictures",
]
