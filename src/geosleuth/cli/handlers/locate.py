"""Implementation of ``geosleuth locate``."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from geosleuth.agent.locate import Finding
from geosleuth.cli.preparation import ask_consent, offline_atlas
from geosleuth.models.endpoints import announcing_retries
from geosleuth.photo import OpenedPhoto, open_photos
from geosleuth.photo.nature import add_nature_verdict, looks_like
from geosleuth.pipeline.outputs import build_placed
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.result import ClaimCheck, LocateResult, check_claim, format_claim_check
from geosleuth.pipeline.run import run_plan
from geosleuth.pipeline.team import files_beside
from geosleuth.report.chain import telling
from geosleuth.server.model_discovery import build_locate_command, reach_line, within_reach
from geosleuth.support.console import EXIT_INTERRUPTED, cancel_on_ctrl_c, quiet_libraries, show, show_json, talk
from geosleuth.support.errors import GeosleuthError
from geosleuth.tools import ImageSearch

from .finding_files import names_left_out, write_exif, write_outputs, write_sidecars

if TYPE_CHECKING:
    from rich.console import RenderableType


def locate_photos(paths: Sequence[Path], request: LocateRequest, *, as_json: bool) -> None:
    """Work on photos of one place, say what happens on stderr, print the finding, write what was asked for.

    Raises:
        UserError: the user must fix something first; nothing has been sent, and no file is left behind.
        GeosleuthError: the model failed, after what was found until then has been printed.
    """
    with quiet_libraries(), names_left_out(paths, request.granularity):
        plan = make_plan(request, paths)
        photos = [add_nature_verdict(item) for item in open_photos(paths)]
        similar = plan.searches.find_similar(photos)
        ask_consent(plan, yes=request.yes)
        for path, photo in zip(paths, photos, strict=True):
            if (nature := photo.claims.not_a_photo) is not None:
                name = path.name if plan.granularity == "exact" else "the picture"
                talk(f"{name}: {looks_like(nature)}; what it shows may lie elsewhere, or nowhere")
        if request.trajectory is not None and request.overwrite:
            for path in (request.trajectory, *files_beside(request.trajectory, plan.several)):
                path.unlink(missing_ok=True)
        try:
            result = asyncio.run(_locate_photos(plan, photos, similar, paths, request.trajectory))
        except asyncio.CancelledError:
            if request.trajectory is not None:
                files = (request.trajectory, *files_beside(request.trajectory, plan.several))
                for path in [path for path in files if path.exists()][:1]:
                    talk(f"stopped; {path} holds what was done until then")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        reachable = within_reach(offline=request.offline) if plan.by_detective and not as_json else []
        failed = _show(result, plan, as_json=as_json, with_a_model=build_locate_command(reachable, paths[0]))
        if not failed and (line := reach_line(reachable)):
            talk(line)
        write_sidecars(build_placed(result, paths), plan.outputs)
        write_exif(result, paths[0], plan.outputs, yes=request.yes)
    if failed:
        raise GeosleuthError(_trouble(result))


def _show(finding: LocateResult, plan: Plan, *, as_json: bool, with_a_model: str | None) -> bool:
    """Print the finding; true where the model failed."""
    ended, spent = finding.trajectory.ended, finding.trajectory.spent
    failed = ended is not None and ended.reason == "service"
    if as_json:
        show_json(finding.to_dict())
    elif spent.turns or not failed:
        from geosleuth.atlas.suggestion import missing_map
        from geosleuth.report.card import card

        if finding.checked is not None:
            show(_verdict(finding.checked))
        would_help = missing_map(finding.whole_answer) if plan.searches.maps is None else ""
        show(card(finding, with_a_model=with_a_model, would_help=would_help))
    if plan.within is not None and finding.granularity == "exact":
        point = finding.whole_answer.point
        if point is not None and not plan.within.contains(point):
            talk(f"the finding lies outside {plan.within.words}")
    return failed


def _trouble(finding: Finding) -> str:
    ended = finding.trajectory.ended
    told = ended.trouble if ended and finding.granularity == "exact" else None
    return told or "the model failed"


async def _locate_photos(
    plan: Plan,
    photos: Sequence[OpenedPhoto],
    similar: ImageSearch | None,
    paths: Sequence[Path],
    keep_in: Path | None,
) -> LocateResult:
    async with AsyncExitStack() as held:
        # Models on this machine show what is wrong with them only when they are loaded.
        plan = await plan.load(held, talk)
        offline = offline_atlas(needed=plan.needs_atlas)
        tell = held.enter_context(telling(plan.granularity))
        held.enter_context(cancel_on_ctrl_c())
        held.enter_context(announcing_retries(talk, exact=plan.granularity == "exact"))
        finding = await run_plan(plan, photos, offline, similar=similar, keep_in=keep_in, sinks=(tell,), say=talk)
        checked = await check_claim(finding, plan, offline)
        await write_outputs(finding, paths, plan.outputs, offline, checked=checked)
        return LocateResult.from_finding(finding, checked)


def _verdict(checked: ClaimCheck) -> "RenderableType":
    from rich.console import Group
    from rich.constrain import Constrain
    from rich.padding import Padding
    from rich.text import Text

    from geosleuth.report.card import COLUMNS

    head, *lines = format_claim_check(checked)
    sides = [Padding(Text(line.strip()), (0, 0, 0, 2)) for line in lines]
    return Constrain(Group(Text(head, style="bold"), *sides, Text("")), COLUMNS)
