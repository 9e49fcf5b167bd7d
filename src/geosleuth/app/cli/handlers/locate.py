"""What ``geosleuth locate`` does, and models within reach, which are named and never used unasked.

A key is only looked for, not looked at. Servers on this machine are asked for the names of their models, briefly, and
for nothing else; the photo has no part in that.
"""

import asyncio
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from geosleuth.agent.locate import Finding
from geosleuth.app.console import (
    CTRL_C,
    ask_consent,
    cancelled_by_ctrl_c,
    offline_atlas,
    quiet_libraries,
    show,
    show_json,
    talk,
)
from geosleuth.app.report.chain import telling
from geosleuth.errors import GeosleuthError
from geosleuth.net import host_of, is_loopback
from geosleuth.photo import OpenedPhoto, open_photos
from geosleuth.pipeline.outputs import placed_of
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.result import Checked, LocateResult, check_claim, checked_lines
from geosleuth.pipeline.run import run_plan
from geosleuth.pipeline.team import files_beside
from geosleuth.policies.endpoints import announcing_retries
from geosleuth.policies.registry import SERVICES
from geosleuth.tools import ImageSearch

from .locate_batch import names_left_out, write_exif, write_outputs, write_sidecars

if TYPE_CHECKING:
    from rich.console import RenderableType

SECONDS = 0.3
"""How long a server on this machine may take to say what it has."""

_MOST_BYTES = 1_000_000
_MOST_WEIGHTS = 50
_USUAL = {"vllm": "http://127.0.0.1:8000/v1", "server": "http://127.0.0.1:8080/v1"}


@dataclass(frozen=True, slots=True)
class Reachable:
    """A model that could be asked: the words to add to the command, and where it is."""

    flag: str
    where: str


def within_reach(*, offline: bool) -> list[Reachable]:
    """Every model that could be asked as things stand, those on this machine first."""
    found = list(_weights())
    if not offline:
        found += [*_served(), *_keyed()]
    return found


def reach_line(found: list[Reachable]) -> str | None:
    """One line for people; None where there is no model."""
    if not found:
        return None
    listed = "; ".join(f"{one.flag} ({one.where})" for one in found[:4])
    return f"a model that sees could tell more, and these are within reach: {listed}"


def command_with(found: list[Reachable], photo: Path) -> str | None:
    """The command that asks the first model within reach about a photo; None where there is no model."""
    return f"geosleuth locate {shlex.quote(str(photo))} {found[0].flag}" if found else None


def _keyed() -> Iterator[Reachable]:
    for prefix, service in SERVICES.items():
        named = next((name for name in service.key_variables if os.environ.get(name)), None)
        if named is not None and not service.own:
            yield Reachable(f"--model {prefix}:NAME", f"{named} is set")


def _served() -> list[Reachable]:
    addresses = {
        prefix: os.environ.get(service.base_url_variable or "", "") or service.base_url or _USUAL.get(prefix)
        for prefix, service in SERVICES.items()
        if service.own
    }
    own = [(prefix, url) for prefix, url in addresses.items() if url and is_loopback(host_of(url))]
    with ThreadPoolExecutor(max(1, len(own))) as threads:
        return [one for found in threads.map(lambda pair: _ask(*pair), own) for one in found]


def _ask(prefix: str, url: str) -> list[Reachable]:
    import httpx

    try:
        # No proxy and no redirect: what is meant for this machine stays on it.
        with (
            httpx.Client(timeout=SECONDS, trust_env=False, follow_redirects=False) as client,
            client.stream("GET", f"{url.rstrip('/')}/models") as reply,
        ):
            body = b""
            for piece in reply.iter_bytes():
                body += piece
                if len(body) > _MOST_BYTES:
                    return []
            rows: Any = json.loads(body)["data"] if reply.status_code == 200 else []
            names = [row["id"] for row in rows if isinstance(row["id"], str)]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, OSError):
        return []
    where = f"served at {urlsplit(url).netloc}"
    usual = SERVICES[prefix].base_url is not None
    address = "" if usual else f" --base-url {url}"
    return [Reachable(f"--model {prefix}:{_plain(name)}{address}", where) for name in names[:2]]


def _plain(name: str) -> str:
    """A model's name as a server gives it, which may be anything."""
    return "".join(letter for letter in name[:80] if letter.isalnum() or letter in "-_.:/@")


def _weights() -> Iterator[Reachable]:
    """Models that see, in the folder that Hugging Face's tools keep downloads in."""
    home = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or "~/.cache/huggingface") / "hub"
    try:
        configs = sorted(Path(home).expanduser().glob("models--*/snapshots/*/config.json"))[:_MOST_WEIGHTS]
    except OSError:
        return
    for path in configs:
        try:
            config = json.loads(path.read_bytes()[:_MOST_BYTES])
        except (OSError, ValueError):
            continue
        whole = any(path.parent.glob("*.safetensors"))
        if whole and isinstance(config, dict) and "vision_config" in config and _speaks(config):
            yield Reachable(f"--model hf:{path.parent}", "weights on this disk")


def _speaks(config: dict[str, Any]) -> bool:
    return any("ConditionalGeneration" in str(one) for one in config.get("architectures") or ())


def locate_photos(paths: Sequence[Path], request: LocateRequest, *, as_json: bool) -> None:
    """Work on photos of one place, say what happens on stderr, print the finding, write what was asked for.

    Raises:
        UserError: something must be mended; nothing has been sent, and no file is left behind.
        GeosleuthError: the model failed, after what was found until then has been printed.
    """
    with quiet_libraries(), names_left_out(paths, request.granularity):
        plan = make_plan(request, paths)
        photos = open_photos(paths)
        similar = plan.similar_for(photos)
        ask_consent(plan, yes=request.yes)
        if request.trajectory is not None and request.overwrite:
            for path in (request.trajectory, *files_beside(request.trajectory, plan.several)):
                path.unlink(missing_ok=True)
        try:
            result = asyncio.run(_work(plan, photos, similar, paths, request.trajectory))
        except asyncio.CancelledError:
            if request.trajectory is not None:
                files = (request.trajectory, *files_beside(request.trajectory, plan.several))
                for path in [path for path in files if path.exists()][:1]:
                    talk(f"stopped; {path} holds what was done until then")
            raise typer.Exit(CTRL_C) from None
        reachable = within_reach(offline=request.offline) if plan.by_detective and not as_json else []
        failed = _show(result, plan, as_json=as_json, with_a_model=command_with(reachable, paths[0]))
        if not failed and (line := reach_line(reachable)):
            talk(line)
        write_sidecars(placed_of(result, paths), plan.outputs)
        write_exif(result, paths[0], plan.outputs, yes=request.yes)
    if failed:
        raise GeosleuthError(_trouble(result))


def _show(finding: LocateResult, plan: Plan, *, as_json: bool, with_a_model: str | None) -> bool:
    """Print the finding; true where the model failed."""
    from geosleuth.app.report import card
    from geosleuth.atlas.suggestion import missing_map

    ended, spent = finding.trajectory.ended, finding.trajectory.spent
    failed = ended is not None and ended.reason == "service"
    if as_json:
        show_json(finding.to_dict())
    elif spent.turns or not failed:
        if finding.checked is not None:
            show(_verdict(finding.checked))
        would_help = missing_map(finding.answer) if plan.maps is None else ""
        show(card(finding, with_a_model=with_a_model, would_help=would_help))
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
) -> LocateResult:
    async with AsyncExitStack() as held:
        # Models on this machine show what is wrong with them only when they are loaded.
        await plan.load(held)
        offline = offline_atlas(needed=plan.needs_atlas)
        tell = held.enter_context(telling(plan.granularity))
        held.enter_context(cancelled_by_ctrl_c())
        held.enter_context(announcing_retries(talk, exact=plan.granularity == "exact"))
        finding = await run_plan(plan, photos, offline, similar=similar, keep_in=keep_in, sinks=(tell,), say=talk)
        checked = await check_claim(finding, plan, offline)
        await write_outputs(finding, paths, plan.outputs, offline, checked=checked)
        return LocateResult.of(finding, checked)


def _verdict(checked: Checked) -> "RenderableType":
    """The verdict for the terminal, above the finding and as wide as it."""
    from rich.console import Group
    from rich.constrain import Constrain
    from rich.padding import Padding
    from rich.text import Text

    from geosleuth.app.report.card import COLUMNS

    head, *lines = checked_lines(checked)
    sides = [Padding(Text(line.strip()), (0, 0, 0, 2)) for line in lines]
    return Constrain(Group(Text(head, style="bold"), *sides, Text("")), COLUMNS)
