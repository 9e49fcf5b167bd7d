"""The exporter `calls`: which tools a run called, one record for each run."""

from typing import Any

from geosleuth.agent import Trajectory


def calls(trajectory: Trajectory) -> dict[str, Any]:
    """Return the record of a run."""
    return {"id": trajectory.id, "calls": [call.name for step in trajectory.steps for call in step.calls]}
