"""The desk: cases on this machine, their photos, and the runs that work on them, without a word of HTTP.

`Desk.open` gives a desk; everything else is asked of it. Rows, requests and refusals are in `model`.
"""

from .disk import DiskFull
from .formats import FILES
from .model import (
    CaseRow,
    DeskLimits,
    Feedback,
    NeedsConsent,
    NotThere,
    PhotoRow,
    RunRequest,
    RunRow,
    RunState,
    Settings,
    Told,
    TooLarge,
    TooMany,
    WrongState,
)
from .service import Desk

__all__ = [
    "FILES",
    "CaseRow",
    "Desk",
    "DeskLimits",
    "DiskFull",
    "Feedback",
    "NeedsConsent",
    "NotThere",
    "PhotoRow",
    "RunRequest",
    "RunRow",
    "RunState",
    "Settings",
    "Told",
    "TooLarge",
    "TooMany",
    "WrongState",
]
