"""The agent: a loop, a budget, a candidate pool, and one trajectory that remembers everything.

`run` lets a policy work on a case as a method wants it; `resume` goes on with a person's words; `stream` gives the
events of either as they happen. A `Trajectory` is all that comes out: it is stored by `TrajectoryWriter`, read by
`read_trajectory` and gone through again by `replay`.
"""

from .codec import event_from_dict, event_to_dict
from .conversation import build_conversation
from .events import (
    Answered,
    Answerer,
    Body,
    Budget,
    Ended,
    EndReason,
    Event,
    Fate,
    Hypothesis,
    Noted,
    Prompted,
    Prompter,
    Resumed,
    Said,
    Spent,
    Started,
    Task,
    ToolObserved,
)
from .loop import resume, run, stream
from .method import Context, ContextKind, Method, accepts
from .pool import CandidatePool
from .replay import Rebuilt, RecordedToolset, first_difference, rebuild_album, replay, same_events
from .setup import AgentSetup, PhotoQuestion, Resources, Watch
from .trajectory import (
    Spending,
    Trajectory,
    TrajectoryReader,
    TrajectoryWriter,
    compute_spent,
    read_trajectory,
    spent_document,
    write_trajectory,
)
from .turns import Sink

__all__ = [
    "AgentSetup",
    "Answered",
    "Answerer",
    "Body",
    "Budget",
    "CandidatePool",
    "Context",
    "ContextKind",
    "EndReason",
    "Ended",
    "Event",
    "Fate",
    "Hypothesis",
    "Method",
    "Noted",
    "PhotoQuestion",
    "Prompted",
    "Prompter",
    "Rebuilt",
    "RecordedToolset",
    "Resources",
    "Resumed",
    "Said",
    "Sink",
    "Spending",
    "Spent",
    "Started",
    "Task",
    "ToolObserved",
    "Trajectory",
    "TrajectoryReader",
    "TrajectoryWriter",
    "Watch",
    "accepts",
    "build_conversation",
    "compute_spent",
    "event_from_dict",
    "event_to_dict",
    "first_difference",
    "read_trajectory",
    "rebuild_album",
    "replay",
    "resume",
    "run",
    "same_events",
    "spent_document",
    "stream",
    "write_trajectory",
]
