"""Trajectories without the clock: whoever makes the same thing again gets the same bytes."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from geosleuth.agent import Event, Trajectory
from geosleuth.agent.replay import without_durations

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""What made trajectories are stamped with: when they were made says nothing about them."""


def timeless(trajectory: Trajectory, id: str) -> Trajectory:  # noqa: A002  (the trajectory's own word)
    """The same run under a given id, with every time and duration at zero."""
    events = tuple(Event(event.index, 0.0, without_durations(event.body)) for event in trajectory.events)
    return Trajectory(events, id, EPOCH, trajectory.geosleuth)


def id_of(settings: Mapping[str, Any], name: str) -> str:
    """An id that hangs on what was made of what, and on nothing else."""
    said = json.dumps([settings, name], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]
