"""The report of a real run of the detective: its sentences find their places on the page."""

import asyncio
from pathlib import Path

import pytest

from findings import Page
from geosleuth.agent.display import text_seen
from geosleuth.agent.locate import Finding
from geosleuth.agent.loop import run
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup
from geosleuth.atlas import OfflineAtlas
from geosleuth.models.detective import Detective
from geosleuth.photo import Album, Photo
from geosleuth.report import report_html
from geosleuth.report.digest import build_digest
from geosleuth.tools import Case
from geosleuth.tools.toolset import all_tools
from tool_cases import sign


@pytest.fixture
def finding(atlas_home: Path) -> Finding:
    assert atlas_home.is_dir()
    album = Album()
    album.add(Photo(sign("Lyon 210 km", "Marseille 98 km", size=(620, 200), at=(30, 30), letter=34)))
    chosen = method("detective")
    case = Case(album, OfflineAtlas())
    toolset = chosen.toolset(all_tools())
    return Finding(asyncio.run(run(case, AgentSetup(method=chosen, policy=Detective(), toolset=toolset))), (), album)


def test_a_sign_with_distances(finding: Finding) -> None:
    digest = build_digest(finding)
    assert digest.located
    account = digest.account
    assert account.in_parts
    assert "hangs on" in account.hangs_on or "Left out one by one" in account.hangs_on
    assert not any(mark in account.why for mark in ("hangs on", "Against it", "What would help", "could also be"))
    numbered = [line.text for line in text_seen(finding.trajectory, digest.evidence) if line.number is not None]
    assert sorted(numbered) == ["Lyon 210 km", "Marseille 98 km"]
    page = Page(asyncio.run(report_html(finding, atlas=OfflineAtlas())))
    page.assert_alone()
    assert len(page.named("g", "clue-box")) == 2
    assert page.named("path", "doubt")
    assert "I read all text that the photo shows." in page.text
