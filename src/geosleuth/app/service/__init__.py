"""The service: cases on this machine, their photos, and the runs that work on them, without a word of HTTP.

`CaseService.open` gives a service; everything else is asked of it. Rows, requests and refusals are in `model`.
"""

from .frames import DiskFull
from .model import (
    FILES,
    CaseRow,
    Feedback,
    NeedsConsent,
    NotThere,
    PhotoRow,
    RunRequest,
    RunRow,
    RunState,
    ServiceLimits,
    Settings,
    StreamEvent,
    TooLarge,
    TooMany,
    WrongState,
)
from .service import CaseService

__all__ = [
    "FILES",
    "CaseRow",
    "CaseService",
    "DiskFull",
    "Feedback",
    "NeedsConsent",
    "NotThere",
    "PhotoRow",
    "RunRequest",
    "RunRow",
    "RunState",
    "ServiceLimits",
    "Settings",
    "StreamEvent",
    "TooLarge",
    "TooMany",
    "WrongState",
]
