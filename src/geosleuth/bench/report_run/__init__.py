"""What the folder of a run tells: figures, behaviour, costs, failures, and photos to look at."""

from .behaviour import Behaviour, ToolUse, read_behaviour
from .costs import Bucket, Measure, Spread, by_spending, per_photo
from .gallery import Gallery, GroundMap, Shot, frame, with_pictures
from .hung_on import HungOn, Shift, hung_on, hung_on_of_folders
from .reading import FailureGroup, Journal, Tries, read_journal
from .told import RunReport, Told, report_run, report_runs

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
    "Shift",
    "Shot",
    "Spread",
    "Told",
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
