"""The page's set-up of a model: what is within reach, one of them tried, and a small one fetched through Ollama.

Servers on this machine are asked once the user wants that. A model is tried in a process of its own, and photos go to
another machine only with its name as consent.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

from geosleuth.models.local_models import fitting_models
from geosleuth.server.model_discovery import PATIENT_TIMEOUT_S
from geosleuth.server.model_trial import Tried
from geosleuth.server.ollama import NOT_RUNNING, ollama_root, pull
from geosleuth.support.errors import BadInput, GeosleuthError

from .processes import Gone, OutOfMemory, WorkerProcess
from .records import NeedsConsent, WrongState
from .shapes import StrictView

PullState = Literal["fetching", "done", "failed", "cancelled"]
# Timeout in seconds for a model to process the example photo, including the model's start.
TRIAL_TIMEOUT_S = 240.0


class PullShown(StrictView):
    """The model that Ollama fetches, or fetched last."""

    model: str
    state: PullState
    # As far as they are known.
    done_bytes: int
    size_bytes: int
    trouble: str | None


class Setup:
    """Tries one model at a time, and has Ollama fetch one at a time."""

    def __init__(self, keys: Any) -> None:
        """Take the function that returns keys by environment variable."""
        self._keys = keys
        self._worker = WorkerProcess("helps")
        self._trying = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.job: PullShown | None = None

    async def check(self, model: str, base_url: str | None) -> None:
        """Complain about a model that there can't be.

        Raises:
            BadInput: there is no such service, or its package or key is missing.
        """
        await self._run_trial({"model": model, "base_url": base_url, "send_to": None})

    async def attempt(self, model: str, base_url: str | None, send_to: list[str]) -> Tried:
        """Try a model on the example photo.

        Raises:
            NeedsConsent: the photo would go to a host that was not named.
            BadInput: it fails.
            WrongState: another one is being tried.
        """
        made: Tried = await self._run_trial({"model": model, "base_url": base_url, "send_to": send_to})
        return made

    async def _run_trial(self, details: dict[str, Any]) -> Any:
        if self._trying.locked():
            raise WrongState("a model is being tried; wait for its answer")
        async with self._trying:
            try:
                keys = await asyncio.to_thread(self._keys)
                async with asyncio.timeout(TRIAL_TIMEOUT_S):
                    made, _ = await self._worker.work("try_model", {**details, "keys": dict(keys)})
            except TimeoutError as error:
                raise BadInput(f"{details['model']} did not answer within {TRIAL_TIMEOUT_S:g} s") from error
            except (Gone, OutOfMemory) as error:
                raise BadInput(f"{details['model']} needs more memory than there is, or broke its process") from error
            finally:
                # Weights that were tried would stay in memory.
                await self._worker.end()
        return made

    async def start_pull(self, host: str) -> PullShown:
        """Have Ollama fetch the model for this machine's memory.

        Raises:
            NeedsConsent: the host was not named.
            BadInput: Ollama does not run here.
            WrongState: it does so already.
        """
        offer = fitting_models()[0]
        if host != offer.host:
            raise NeedsConsent([offer.host], f"Ollama fetches {offer.words}; no photo is sent")
        if self.job is not None and self.job.state == "fetching":
            raise WrongState(f"{self.job.model} is being fetched; wait for its end, or cancel it")
        root = await ollama_root(PATIENT_TIMEOUT_S)
        if root is None:
            raise BadInput(NOT_RUNNING)
        self.job = PullShown(model=offer.model, state="fetching", done_bytes=0, size_bytes=0, trouble=None)
        self._task = asyncio.create_task(self._fetch(root, self.job))
        return self.job

    async def _fetch(self, root: str, job: PullShown) -> None:
        try:
            async for done, total in pull(root, job.model):
                self.job = job.model_copy(update={"done_bytes": done, "size_bytes": total})
            self.job = (self.job or job).model_copy(update={"state": "done"})
        except GeosleuthError as error:
            self.job = (self.job or job).model_copy(update={"state": "failed", "trouble": str(error)})

    async def cancel(self) -> None:
        """Stop to fetch; Ollama goes on from there the next time."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self.job is not None and self.job.state == "fetching":
            self.job = self.job.model_copy(update={"state": "cancelled"})

    async def end(self) -> None:
        """Stop, and end the process."""
        await self.cancel()
        await self._worker.end()


async def try_setup_model(details: Mapping[str, Any]) -> dict[str, Any]:
    """Try a model, or only check that there can be one where ``send_to`` is None; runs in the process.

    Raises:
        NeedsConsent: the photo would go to a host that is not in ``send_to``.
        BadInput: it fails.
    """
    from geosleuth.models import consent_line, make_policy
    from geosleuth.pipeline.defaults import Defaults
    from geosleuth.server.model_trial import check_named, try_model

    defaults = Defaults(str(details["model"]), details["base_url"])
    check_named(str(defaults.model))
    policy = make_policy(str(defaults.model), base_url=defaults.base_url)
    if details["send_to"] is None:
        return {}
    if missing := frozenset(policy.hosts) - frozenset(details["send_to"]):
        raise NeedsConsent(missing, consent_line(policy))
    return {**await try_model(defaults)}
