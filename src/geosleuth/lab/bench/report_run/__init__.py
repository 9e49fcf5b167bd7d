"""Reports of runs from their folders: figures, behaviour, costs, failures, and a gallery of photos."""

from .run_report import GroundMap, RunReport, RunsReport, frame, report_run, report_runs, with_pictures

__all__ = [
    "GroundMap",
    "RunReport",
    "RunsReport",
    "frame",
    "report_run",
    "report_runs",
    "with_pictures",
]
