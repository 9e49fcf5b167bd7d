"""The first visit, in a real browser: what is within reach, one of them tried and made the default, or none."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser import IN_EVERY_LOOK, PATIENCE_MS, Opener, opened, serious_faults
from geosleuth.models.local_models import fitting_models
from homes import home_with_base
from model_servers import progress, speaks
from openai_server import Line, ServerUrl, chat_reply, failure, openai_server
from serving import Served, served_here

expect.set_options(timeout=PATIENCE_MS)
NOBODY = "http://127.0.0.1:9/v1"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY",
        "OPENROUTER_API_KEY", "AWS_BEARER_TOKEN_BEDROCK")  # fmt: skip
VARIABLES = {"ollama": "OLLAMA_BASE_URL", "vllm": "VLLM_BASE_URL"}


class Machine:
    """A machine with model servers of these kinds and a fresh geosleuth."""

    def __init__(self, held: ExitStack, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self._held, self._monkeypatch, self._home = held, monkeypatch, home
        self.servers: dict[str, ServerUrl] = {}

    def has(self, kind: str, line: Line) -> ServerUrl:
        """Start a server of this kind."""
        from geosleuth.models.registry import SERVICES

        url = self._held.enter_context(openai_server([line]))
        if kind in VARIABLES:
            self._monkeypatch.setenv(VARIABLES[kind], url)
        elif kind in SERVICES:
            self._monkeypatch.setitem(SERVICES, kind, replace(SERVICES[kind], base_url=str(url)))
        self.servers[kind] = url
        return url

    def serve(self) -> Served:
        """Start geosleuth."""
        return self._held.enter_context(served_here(self._home / "service"))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, base_file: Path) -> Iterator[Machine]:
    from geosleuth.models.registry import SERVICES

    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEOSLEUTH_HOME", str(home_with_base(tmp_path / "home", base_file)))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    for variable in VARIABLES.values():
        monkeypatch.setenv(variable, NOBODY)
    monkeypatch.setitem(SERVICES, "lmstudio", replace(SERVICES["lmstudio"], base_url=NOBODY))
    monkeypatch.setattr("geosleuth.server.model_discovery._USUAL", {"vllm": NOBODY, "server": NOBODY})
    with ExitStack() as held:
        yield Machine(held, monkeypatch, tmp_path / "home")


@pytest.fixture
def visit(browser: Browser) -> Iterator[Opener]:
    contexts = []

    def open_at(url: str, expected: tuple[str, ...] = (), **options: object) -> Page:
        context = browser.new_context(**{"reduced_motion": "reduce", **options})  # type: ignore[arg-type]
        page, watched = opened(context, url)
        watched.expected = expected
        contexts.append((context, watched))
        return page

    yield open_at
    heard = [one for _, watched in contexts for one in watched.unexpected()]
    for context, _ in contexts:
        context.close()
    assert heard == []


def asked_with_photo(url: ServerUrl) -> int:
    return sum(bool(one.images) for one in url.requests if "chat" in one.path)


def test_a_model_is_found_tried_and_made_the_default(machine: Machine, visit: Opener) -> None:
    ollama = machine.has("ollama", speaks("ollama"))
    machine.has("lmstudio", speaks("lmstudio"))
    machine.has("vllm", failure(500))
    server = machine.serve()
    page = visit(f"{server.url}/", viewport={"width": 1440, "height": 900})
    panel = page.get_by_role("region", name="Choose a model")
    expect(panel).to_contain_text("geosleuth works without a model")
    # Offline is on: nobody is asked before a click.
    assert [one.requests for one in machine.servers.values()] == [[], [], []]
    panel.get_by_role("button", name="Look for model servers").click()
    row = panel.get_by_role("listitem").filter(has_text="ollama:sees:4b")
    for words in ("stay on this machine", "free", "yes", f"served at {str(ollama)[7:-3]}"):
        expect(row).to_contain_text(words)
    expect(panel.get_by_role("listitem").filter(has_text="lmstudio:sees:4b")).to_be_visible()
    expect(panel).to_contain_text("Not offered, since they do not see pictures: ollama:blind:7b, lmstudio:blind:7b.")
    expect(panel).to_contain_text("vLLM at")
    expect(panel).to_contain_text("does not work: it answered with status 500. Restart it")
    assert asked_with_photo(ollama) == 0

    panel.get_by_role("button", name="Try it on the example photo: ollama:sees:4b").click()
    expect(row).to_contain_text("Right: it answered Monaco in")
    assert asked_with_photo(ollama) >= 1
    assert server.client.get("/api/settings").json()["model"] is None, "trying it does not choose it"
    panel.get_by_role("button", name="Make it the default: ollama:sees:4b").click()
    # “Stay offline” is on: it is asked about here.
    asked = page.get_by_role("dialog", name="Turn off “Stay offline”?")
    asked.get_by_role("button", name="Cancel").click()
    assert server.client.get("/api/settings").json()["model"] is None
    panel.get_by_role("button", name="Make it the default: ollama:sees:4b").click()
    asked.get_by_role("button", name="Turn it off and use the model").click()
    expect(panel).to_have_count(0)
    kept = server.client.get("/api/settings").json()
    assert (kept["model"], kept["base_url"], kept["offline"]) == ("ollama:sees:4b", str(ollama), False)
    from geosleuth.pipeline.defaults import read_defaults

    assert read_defaults().model == "ollama:sees:4b"
    # Never again by itself.
    page.reload()
    expect(page.get_by_role("heading", name="Where was this taken?")).to_be_visible()
    expect(page.get_by_role("link", name="Online allowed")).to_be_visible()
    expect(panel).to_have_count(0)
    # From the settings, whenever it is wanted.
    page.get_by_role("link", name="Settings").first.click()
    expect(row).to_contain_text("default")
    expect(page.get_by_label("Model", exact=True)).to_have_count(0)


def test_a_photo_goes_nowhere_without_a_yes(machine: Machine, visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-of-mine")
    server = machine.serve()
    page = visit(f"{server.url}/", expected=("status of 409", "status of 400"))
    panel = page.get_by_role("region", name="Choose a model")
    expect(panel).to_contain_text("OPENAI_API_KEY is set")
    expect(panel).to_contain_text("go to api.openai.com")
    panel.get_by_role("listitem").filter(has_text="OPENAI_API_KEY").get_by_label("Model name").fill("gpt-5")
    panel.get_by_role("button", name="Try it on the example photo: openai:gpt-5").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("api.openai.com")
    dialog.get_by_role("button", name="Keep them here").click()
    expect(panel.get_by_role("button", name="Try it on the example photo: openai:gpt-5")).to_be_enabled()
    expect(panel.get_by_role("alert")).to_have_count(0)
    assert "secret" not in page.content()


def test_a_model_that_fails_is_told(machine: Machine, visit: Opener) -> None:
    works = speaks("ollama")
    machine.has("ollama", lambda one: failure(400, "no such model") if "chat" in one.path else works(one))
    page = visit(f"{machine.serve().url}/", expected=("status of 400",))
    panel = page.get_by_role("region", name="Choose a model")
    panel.get_by_role("button", name="Look for model servers").click()
    panel.get_by_role("button", name="Try it on the example photo: ollama:sees:4b").click()
    expect(panel.get_by_role("alert")).to_contain_text("ollama:sees:4b does not work, and is not the default")


def test_says_in_seconds_that_nothing_answers(machine: Machine, visit: Opener) -> None:
    page = visit(f"{machine.serve().url}/#/settings", expected=("status of 400",))
    row = page.get_by_role("listitem").filter(has_text="A server of your own")
    row.get_by_label("Address").fill(NOBODY)
    row.get_by_label("Model name").fill("mine")
    row.get_by_role("button", name="Try it").click()
    expect(row.get_by_role("alert")).to_contain_text("nothing answers at 127.0.0.1:9; start the server there")


def test_says_once_what_is_wrong_with_ollama(machine: Machine, visit: Opener) -> None:
    machine.has("ollama", failure(404))
    page = visit(f"{machine.serve().url}/")
    panel = page.get_by_role("region", name="Choose a model")
    panel.get_by_role("button", name="Look for model servers").click()
    expect(panel).to_contain_text("something answers that is not Ollama: it answered with status 404. Start Ollama")
    expect(panel).not_to_contain_text("does not work")
    expect(panel).not_to_contain_text("does not run")


def test_a_server_of_ones_own_is_tried_by_its_address_and_a_wrong_answer_told(machine: Machine, visit: Opener) -> None:
    answer = json.dumps({"lat": 48.86, "lon": 2.35, "country": {"conclusion": "France"}, "probability": 0.9})
    own = machine.has("own", chat_reply(answer))
    server = machine.serve()
    page = visit(f"{server.url}/#/settings")
    row = (
        page.get_by_role("region", name="Choose a model")
        .get_by_role("listitem")
        .filter(has_text="A server of your own")
    )
    expect(row.get_by_role("button", name="Try it")).to_be_disabled()
    row.get_by_label("Address").fill(str(own))
    row.get_by_label("Model name").fill("mine")
    row.get_by_role("button", name="Try it").click()
    expect(row).to_contain_text("Not right: it answered France in")
    assert asked_with_photo(own) >= 1
    row.get_by_role("button", name="Make it the default").click()
    page.get_by_role("button", name="Turn it off and use the model").click()
    expect(row.locator(".setup-badge")).to_have_text("default")
    kept = server.client.get("/api/settings").json()
    assert (kept["model"], kept["base_url"], kept["offline"]) == ("server:mine", str(own), False)
    expect(page.get_by_role("switch", name="Stay offline")).not_to_be_checked()
    # The form below keeps what was chosen here.
    page.get_by_label("Delete cases after so many days").fill("30")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert server.client.get("/api/settings").json()["model"] == "server:mine"


def test_ollama_fetches_a_small_model_after_a_yes(machine: Machine, visit: Opener) -> None:
    ollama = machine.has("ollama", speaks("ollama", models=("blind:7b",), pull=replace(progress(0.2, 1.0), delay_s=2)))
    page = visit(f"{machine.serve().url}/")
    panel = page.get_by_role("region", name="Choose a model")
    panel.get_by_role("button", name="Look for model servers").press("Enter")
    offer = fitting_models()[0]
    expect(panel).to_contain_text(
        f"{offer.model}: about {offer.size_gb:g} GB, licence {offer.licence}. Ollama fetches it from"
    )
    assert not [one for one in ollama.requests if one.path == "/api/pull"]
    panel.get_by_role("button", name=f"Fetch it from {offer.host}").press("Enter")
    expect(panel.get_by_role("listitem").filter(has_text=f"ollama:{offer.model}")).to_contain_text("yes")
    assert len([one for one in ollama.requests if one.path == "/api/pull"]) == 1


def test_without_a_model_and_by_keys_alone(machine: Machine, visit: Opener) -> None:
    server = machine.serve()
    page = visit(f"{server.url}/")
    panel = page.get_by_role("region", name="Choose a model")
    expect(panel).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Continue without a model":
            break
    page.keyboard.press("Enter")
    expect(panel).to_have_count(0)
    from geosleuth.pipeline.defaults import config_file

    assert 'model = "none"' in config_file().read_text()
    assert server.client.get("/api/settings").json()["offline"] is True


def test_it_speaks_of_models_only_where_some_are_listed(machine: Machine, visit: Opener) -> None:
    page = visit(f"{machine.serve().url}/")
    panel = page.get_by_role("region", name="Choose a model")
    # Before it looks it says what looking does, and nothing of what there is.
    expect(panel).to_contain_text("Looking asks Ollama, LM Studio, vLLM and llama.cpp on this machine")
    expect(panel).not_to_contain_text("within reach")
    panel.get_by_role("button", name="Look for model servers").click()
    expect(panel).to_contain_text("No model is within reach.")
    expect(panel).not_to_contain_text("These models")
    machine.has("ollama", speaks("ollama"))
    panel.get_by_role("button", name="Look again").click()
    expect(panel).to_contain_text("These models are within reach. None is used until you choose it.")
    expect(panel).not_to_contain_text("No model is within reach.")


def test_it_can_be_sent_away_for_good(machine: Machine, visit: Opener) -> None:
    server = machine.serve()
    page = visit(f"{server.url}/")
    page.get_by_role("button", name="Not now").click()
    expect(page.get_by_role("region", name="Choose a model")).to_have_count(0)
    assert server.client.get("/api/about").json()["setup"] is False
    from geosleuth.pipeline.defaults import config_file

    assert not config_file().exists()


@IN_EVERY_LOOK
def test_axe_finds_no_serious_fault(
    machine: Machine,
    visit: Opener,
    theme: str,
    size: dict[str, int],
    shot: Callable[[Page, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-of-mine")
    machine.has("ollama", speaks("ollama"))
    machine.has("vllm", failure(500))
    server = machine.serve()
    page = visit(f"{server.url}/", color_scheme=theme, viewport=size)
    panel = page.get_by_role("region", name="Choose a model")
    expect(panel).to_be_visible()
    assert serious_faults(page, "main") == []
    shot(page, f"first-visit-{theme}-{size['width']}")
    panel.get_by_role("button", name="Look for model servers").click()
    panel.get_by_role("button", name="Try it on the example photo: ollama:sees:4b").click()
    expect(panel).to_contain_text("Right: it answered Monaco")
    panel.scroll_into_view_if_needed()
    assert serious_faults(page, "main") == []
    shot(page, f"setup-{theme}-{size['width']}")
