"""The report on runs in a real browser: on a telephone, in the dark, and with nothing loaded."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from browser import PATIENCE_MS, Watched, serious_faults
from geosleuth.lab.bench.report_run import report_run, report_runs
from geosleuth.lab.bench.report_run.run_page import render_run_page
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.scored import score_file
from run_folders import world_photos, write_run


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    runs = [
        write_run(folder / "whole", world_photos(30, failing=0.2)),
        write_run(folder / "masked", world_photos(30, skill=0.3), mask="text"),
    ]
    told = report_runs(
        [
            report_run(
                RunFolder.read(run),
                score_file(run / "results.jsonl", parser="lenient", distance="geodesic", label=run.name),
                gallery=3,
            )
            for run in runs
        ]
    )
    (folder / "report.html").write_text(render_run_page(told, generated="today"), "utf-8")
    return folder / "report.html"


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_the_report_can_be_read_everywhere(
    browser: Browser, report: Path, width: int, scheme: Literal["dark", "light"]
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    watched = Watched(report.as_uri())
    watched.follow(page)
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.get_by_role("heading", name="What the answers depended on").is_visible()
    assert serious_faults(page, "body") == []
    assert watched.unexpected() == []
    context.close()
