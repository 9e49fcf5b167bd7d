"""What ``geosleuth locate`` does once its words are read; imported only when it runs."""

import asyncio
import logging
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path

import typer

from geosleuth.agent.locating import Finding
from geosleuth.app.atlas_work import building
from geosleuth.app.console import show, show_json, talk
from geosleuth.app.locate_beside import placed_of, write_exif, write_sidecars
from geosleuth.app.locate_check import Checked, check_claim, checked_document, checked_lines, checked_view
from geosleuth.app.locate_naming import names_left_out
from geosleuth.app.locate_outputs import asked, write_outputs
from geosleuth.app.locate_reach import command_with, reach_line, within_reach
from geosleuth.app.locate_run import run_plan
from geosleuth.app.locate_setup import Plan, Wishes, image_hosts, plan_of, sent_to, similar_for
from geosleuth.app.locate_talk import telling
from geosleuth.app.locate_team import files_beside, make_ready, thinkers
from geosleuth.app.locate_views import finding_document
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.errors import BadInput, GeosleuthError
from geosleuth.photo import OpenedPhoto, open_photos
from geosleuth.policies import consent_line
from geosleuth.policies.detective import Detective
from geosleuth.policies.replay import ReplayPolicy
from geosleuth.tools import ImageSearch

CTRL_C = 130
"""The exit code of a run that was stopped."""

SOME_FAILED = 1
"""The exit code where some photos failed or are missing."""


def locate_photos(paths: Sequence[Path], wishes: Wishes, *, as_json: bool) -> None:
    """Work on photos of one place, say what happens on stderr, print the finding, write what was asked for.

    Raises:
        UserError: something must be mended; nothing has been sent, and no file is left behind.
        GeosleuthError: the model failed, after what was found until then has been printed.
    """
    with quiet_libraries(), names_left_out(paths, wishes.granularity):
        plan = plan_of(wishes, paths)
        photos = open_photos(paths)
        similar = similar_for(plan, photos)
        ask_leave(plan, yes=wishes.yes)
        if wishes.trajectory is not None and wishes.overwrite:
            for path in (wishes.trajectory, *files_beside(wishes.trajectory, plan.several)):
                path.unlink(missing_ok=True)
        try:
            finding, checked = asyncio.run(_work(plan, photos, similar, paths, wishes.trajectory))
        except asyncio.CancelledError:
            if wishes.trajectory is not None:
                files = (wishes.trajectory, *files_beside(wishes.trajectory, plan.several))
                for path in [path for path in files if path.exists()][:1]:
                    talk(f"stopped; {path} holds what was done until then")
            raise typer.Exit(CTRL_C) from None
        reachable = within_reach(offline=wishes.offline) if plan.by_detective and not as_json else []
        failed = _show(finding, plan, checked, as_json=as_json, with_a_model=command_with(reachable, paths[0]))
        if not failed and (line := reach_line(reachable)):
            talk(line)
        write_sidecars(placed_of(finding, paths), plan.outputs)
        write_exif(finding, paths[0], plan.outputs, yes=wishes.yes)
    if failed:
        raise GeosleuthError(_trouble(finding))


def _show(finding: Finding, plan: Plan, checked: Checked | None, *, as_json: bool, with_a_model: str | None) -> bool:
    """Print the finding; true where the model failed."""
    from geosleuth.app.report import card

    ended, spent = finding.trajectory.ended, finding.trajectory.spent
    failed = ended is not None and ended.reason == "service"
    if as_json:
        more = {} if checked is None else {"check": checked_document(checked)}
        show_json({**finding_document(finding), **more})
    elif spent.turns or not failed:
        if checked is not None:
            show(checked_view(checked))
        show(card(finding, with_a_model=with_a_model))
    if plan.within is not None and finding.granularity == "exact":
        point = finding.answer.point
        if point is not None and not plan.within.contains(point):
            talk(f"the finding lies outside {plan.within.words}")
    return failed


def _trouble(finding: Finding) -> str:
    ended = finding.trajectory.ended
    told = ended.trouble if ended and finding.granularity == "exact" else None
    return told or "the model failed"


async def _work(
    plan: Plan,
    photos: Sequence[OpenedPhoto],
    similar: ImageSearch | None,
    paths: Sequence[Path],
    keep_in: Path | None,
) -> tuple[Finding, Checked | None]:
    async with AsyncExitStack() as held:
        # Models on this machine show what is wrong with them only when they are loaded.
        await make_ready(plan, held)
        offline = offline_atlas(needed=plan.needs_atlas)
        tell = held.enter_context(telling(plan.granularity))
        held.enter_context(cancelled_by_ctrl_c())
        finding = await run_plan(
            plan, photos, plan.maps or offline, offline, similar=similar, keep_in=keep_in, sinks=(tell,), say=talk
        )
        checked = await check_claim(finding, plan, offline)
        claim = () if checked is None else tuple(checked_lines(checked))
        await write_outputs(finding, paths, plan.outputs, offline, claim=claim)
        return finding, checked


def offline_atlas(*, needed: bool) -> OfflineAtlas:
    """The atlas on this machine, its base built where it is needed."""
    if needed:
        # Here and not in one of the atlas's threads, so that an interrupt stops the building at once.
        with building() as progress:
            ensure_base(progress)
    return OfflineAtlas()


def ask_leave(plan: Plan, *, yes: bool) -> None:
    """Say where the photo goes, and ask before it leaves the machine.

    Raises:
        BadInput: nobody agreed.
    """
    searched = sorted(image_hosts(plan))
    asked_models = [one for one in thinkers(plan) if not isinstance(one, ReplayPolicy | Detective)]
    lines = [consent_line(one) for one in asked_models]
    lines += [f"the image search sends the photo and cuts of it to {' and '.join(searched)}"] if searched else []
    lines += [plan.borrowed.consent] if plan.borrowed else []
    if not lines:
        return
    told = "; ".join(lines)
    if yes or not (sent_to(plan)[1] or plan.borrowed):
        talk(told)
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{told}; add --yes to allow it")
    if not asked(f"{told}. Go on?"):
        raise BadInput("stopped; nothing was sent")


@contextmanager
def cancelled_by_ctrl_c() -> Iterator[None]:
    """Let the first Ctrl-C, or a scheduler's SIGTERM, call the running task off, so that it closes its files.

    A second one ends at once.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    # Ignored on purpose, as nohup does, or set by somebody who is not Python: leave it.
    before = {
        one: handler
        for one in (signal.SIGINT, signal.SIGTERM)
        if (handler := signal.getsignal(one)) not in (signal.SIG_IGN, None)
    }

    def back() -> None:
        for one, handler in before.items():
            with suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(one)
                signal.signal(one, handler)

    def stop() -> None:
        back()
        if task is not None:
            task.cancel()

    # Not every system and thread has signals in its event loop; what they do there stays as it is.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for one in before:
            loop.add_signal_handler(one, stop)
    try:
        yield
    finally:
        back()


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep the warnings of libraries off the terminal: nobody at this command can mend them.

    Whoever asks Python for warnings (-W, PYTHONWARNINGS) gets them.
    """
    root, nowhere = logging.getLogger(), logging.NullHandler()
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
        if not root.handlers:
            root.addHandler(nowhere)
        try:
            yield
        finally:
            root.removeHandler(nowhere)
