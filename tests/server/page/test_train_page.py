"""The page of a training run in a real browser: on a telephone, in the dark, and with nothing loaded."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from browser import PATIENCE_MS, Watched, serious_faults
from geosleuth.lab.train.run_page import write_page
from train_runs import write_run


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(write_run(tmp_path_factory.mktemp("runs") / "grpo", 120))


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (390, "dark"),
        pytest.param(390, "light", marks=pytest.mark.slow),
        pytest.param(1440, "dark", marks=pytest.mark.slow),
        (1440, "light"),
    ],
)
def test_the_run_can_be_read_everywhere(
    browser: Browser, run_page: Path, width: int, scheme: Literal["dark", "light"]
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    watched = Watched(run_page.as_uri())
    watched.follow(page)
    page.goto(run_page.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.get_by_role("heading", name="How tools are used").is_visible()
    assert page.get_by_role("img", name="Failed calls").is_visible()
    page.get_by_text("The resolved recipe").click()
    assert page.get_by_text("rollout.clip").is_visible()
    assert serious_faults(page, "body") == []
    assert watched.unexpected() == []
    context.close()
