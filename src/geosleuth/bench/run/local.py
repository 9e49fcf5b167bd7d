"""Tries made in this process."""

from .folder import RunFolder
from .model import Attempt, Attempted, Job


class LocalWorker:
    """A `Worker` that lets an attempt write straight into the run's folder."""

    def __init__(self, attempt: Attempt, folder: RunFolder) -> None:
        """Take what makes the tries, and the run that they belong to."""
        self._attempt, self._folder = attempt, folder

    async def __call__(self, job: Job) -> Attempted:
        """Make one try.

        Raises:
            UserError: the run can't go on.
        """
        return await self._attempt(job, self._folder.place(job.name, job.number))
