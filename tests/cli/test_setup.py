"""``geosleuth setup``: stand-in servers on loopback are found, tried and set; a broken one is named."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import geosleuth
from geosleuth.cli.doctor import doctor_document
from geosleuth.pipeline.defaults import Defaults, config_file, read_defaults, with_default_model, write_defaults
from geosleuth.pipeline.request import LocateRequest
from geosleuth.server.model_discovery import look_around
from geosleuth.support.errors import BadInput
from in_process import Done, whole_command
from later import later
from locating import photo_file
from model_servers import reply, speaks
from openai_server import Reply, ServerUrl, failure, openai_server
from serving import served_here

later("pydantic_ai")
NOBODY = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def home(atlas_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A home without a default, no server at its usual place, no weights and no keys."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY",
                 "GROQ_API_KEY", "OPENROUTER_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("OLLAMA_BASE_URL", NOBODY)
    monkeypatch.setenv("VLLM_BASE_URL", NOBODY)
    at(monkeypatch, "lmstudio", NOBODY)
    monkeypatch.setattr("geosleuth.server.model_discovery._USUAL", {"vllm": NOBODY, "server": NOBODY})
    config_file().unlink(missing_ok=True)
    yield atlas_home
    config_file().unlink(missing_ok=True)


def at(monkeypatch: pytest.MonkeyPatch, prefix: str, url: str) -> None:
    """Put a service that has no variable for its address somewhere else."""
    from dataclasses import replace

    from geosleuth.models.registry import SERVICES

    monkeypatch.setitem(SERVICES, prefix, replace(SERVICES[prefix], base_url=url))


@pytest.fixture(params=["ollama", "lmstudio", "vllm", "server"])
def served(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ServerUrl]]:
    kind = str(request.param)
    with openai_server([speaks(kind)]) as url:
        match kind:
            case "ollama":
                monkeypatch.setenv("OLLAMA_BASE_URL", url)
            case "lmstudio":
                at(monkeypatch, "lmstudio", str(url))
            case "vllm":
                monkeypatch.setenv("VLLM_BASE_URL", url)
            case _:
                monkeypatch.setattr("geosleuth.server.model_discovery._USUAL", {"vllm": NOBODY, "server": str(url)})
        yield kind, url


def chosen(kind: str, url: str) -> list[str]:
    return ["--model", f"{kind}:sees:4b", *(["--base-url", url] if kind in ("vllm", "server", "ollama") else [])]


def setup(*words: object) -> Done:
    return whole_command("setup", *words)


def test_a_server_is_found_tried_and_set(served: tuple[str, ServerUrl], tmp_path: Path) -> None:
    kind, url = served
    listed = json.loads(setup("--json").stdout)
    models = {one["model"]: one for one in listed["models"]}
    assert set(models) == {f"{kind}:sees:4b", f"{kind}:blind:7b"}
    assert models[f"{kind}:sees:4b"]["sees"] is (None if kind == "vllm" else True)
    assert models[f"{kind}:blind:7b"]["sees"] is {"vllm": None, "server": True}.get(kind, False)
    assert all((one["sent_to"], one["cost"]) == (None, "free") for one in listed["models"])
    assert not [one for one in url.requests if "chat" in one.path], "a list must ask no model"
    assert not config_file().exists()

    done = setup(*chosen(kind, str(url)), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tried"]["answer"] == "Monaco"
    assert "it answered Monaco" in done.stderr
    assert done.stderr.rstrip().endswith("right") or ": right\n" in done.stderr
    asked = [one for one in url.requests if "chat" in one.path]
    assert asked[0].images, "it is tried with a photo"
    assert read_defaults().model == f"{kind}:sees:4b"

    found = whole_command("locate", photo_file(tmp_path), "--json")
    assert json.loads(found.stdout)["model"] == f"{kind}:sees:4b", found.stderr
    assert json.loads(whole_command("locate", photo_file(tmp_path), "--model", "none", "--json").stdout)["model"] == (
        "detective"
    )
    assert doctor_document()["default_model"]["model"] == f"{kind}:sees:4b"


def test_python_and_the_server_use_the_default_too(tmp_path: Path) -> None:
    with openai_server([speaks("server")]) as url:
        assert setup("--model", "server:sees:4b", "--base-url", url).returncode == 0
        photo = photo_file(tmp_path)
        assert geosleuth.locate(photo).trajectory.started.policy == "server:sees:4b"
        assert geosleuth.locate(photo, model="none").trajectory.started.policy == "detective"
        with served_here(tmp_path / "cases") as server:
            settings = server.client.get("/api/settings").json()
            assert (settings["model"], settings["base_url"], settings["offline"]) == ("server:sees:4b", str(url), False)
            assert server.locate(photo.read_bytes()).json()["model"] == "server:sees:4b"
            assert server.locate(photo.read_bytes(), model="none").json()["model"] == "detective"


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (failure(500), "answered with status 500"),
        (Reply(b"<html>hello</html>"), "answered something that is no list of models"),
        (reply({"data": [{"name": "x"}]}), "answered something that is no list of models"),
        (reply([1]), "answered something that is no list of models"),
        (Reply(b'{"data": []}' * 200_000), "answered something that is no list of models"),
        (Reply(manner="hang_up"), "broke off its answer"),
        (Reply(manner="silent"), "took the connection and did not answer"),
    ],
)
def test_a_broken_server_is_named(broken: Reply, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geosleuth.server.model_discovery.PATIENT_TIMEOUT_S", 0.5)
    with openai_server([broken]) as url:
        monkeypatch.setenv("OLLAMA_BASE_URL", url)
        models, (found,) = look_around()
        assert (models, found.title, found.trouble) == ([], "Ollama", told)
        shown = setup()
    assert shown.returncode == 0
    assert f"Ollama at {str(url)[7:-3]} does not work: it {told}; restart it or correct its address" in shown.stderr
    assert "ollama pull" in shown.stderr


def test_names_an_address_where_nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geosleuth.server.model_trial._ANSWER_TIMEOUT_S", 0.5)
    done = setup("--model", "ollama:x", "--base-url", "http://127.0.0.1:9/v1")
    assert done.returncode == 2
    assert "nothing answers at 127.0.0.1:9; start the server there (run: ollama serve), or correct" in done.stderr
    with openai_server([Reply(manner="silent")]) as url:
        done = setup("--model", "server:x", "--base-url", url)
    assert done.returncode == 2
    assert "within 0.5 s; start the server there, or correct the address" in done.stderr


def test_a_model_that_fails_is_not_made_the_default() -> None:
    with openai_server([failure(400, "no such model")]) as url:
        done = setup("--model", "server:x", "--base-url", url)
        assert (done.returncode, "does not work, and is not the default" in done.stderr) == (2, True)
        assert not config_file().exists()
        assert setup("--model", "server:x", "--base-url", url, "--untried").returncode == 0
    assert read_defaults() == Defaults("server:x", str(url))


def test_nothing_leaves_without_a_yes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-of-mine")
    listed = setup("--json")
    (one,) = json.loads(listed.stdout)["models"]
    assert (one["model"], one["sent_to"]) == ("openai:NAME", "api.openai.com")
    done = setup("--model", "openai:gpt-5")
    assert (done.returncode, "api.openai.com" in done.stderr, "add --yes" in done.stderr) == (2, True, True)
    assert not config_file().exists()
    # Even a default that was set asks again, whenever a photo would leave.
    write_defaults(Defaults("openai:gpt-5"))
    asked = whole_command("locate", photo_file(tmp_path))
    assert (asked.returncode, "add --yes" in asked.stderr) == (2, True)
    assert "secret" not in listed.stdout + listed.stderr + done.stderr + asked.stderr + config_file().read_text()


def test_offline_the_detective_works() -> None:
    write_defaults(Defaults("ollama:sees", "http://127.0.0.1:1/v1"))
    assert with_default_model(LocateRequest(offline=True)).model is None
    assert with_default_model(LocateRequest(offline=False)).model == "ollama:sees"
    assert with_default_model(LocateRequest(method="detective")).model is None
    write_defaults(Defaults("hf:/weights"))
    assert with_default_model(LocateRequest(offline=True)).model == "hf:/weights"


def test_none_takes_the_default_back() -> None:
    write_defaults(Defaults("ollama:sees"))
    assert setup("--model", "none").returncode == 0
    assert read_defaults() == Defaults()
    assert doctor_document()["default_model"]["model"] == "none"


@pytest.mark.parametrize("text", ["model = ", "model = 3", "modle = 'x'", "\xff", "model = 'a'\n" * 20_000])
def test_a_file_that_must_be_mended_is_named(text: str) -> None:
    config_file().write_bytes(text.encode("latin-1"))
    with pytest.raises(BadInput, match=r"config\.toml(, line \d+)?: .*geosleuth setup"):
        read_defaults()
    assert "config.toml" in str(doctor_document()["default_model"]["trouble"])


def test_words_that_fit_nothing_are_refused() -> None:
    for words in (("--base-url", NOBODY), ("--model", "openai:NAME"), ("--model", "nobody:x"), ("--model", "vllm:x")):
        assert setup(*words).returncode == 2
    assert not config_file().exists()


def test_ollama_fetches_a_model_after_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geosleuth.models.local_models.machine_memory", lambda: 8 * 10**9)
    assert setup("--pull", "--yes").returncode == 2, "nobody is there to fetch it"
    with openai_server([speaks("ollama", models=())]) as url:
        monkeypatch.setenv("OLLAMA_BASE_URL", url)
        offer = "Ollama runs and can fetch qwen3.5:4b (about 3.4 GB from registry.ollama.ai, Apache 2.0)"
        told = setup().stderr
        assert offer in told
        assert "others that fit this machine, for ollama pull: hf.co/LiquidAI/LFM2.5-VL-450M-GGUF:Q8_0" in told
        refused = setup("--pull")
        assert (refused.returncode, "add --yes" in refused.stderr) == (2, True)
        assert not [one for one in url.requests if one.path == "/api/pull"]
        done = setup("--pull", "--yes", "--json")
        assert done.returncode == 0, done.stderr
        assert [one.json["model"] for one in url.requests if one.path == "/api/pull"] == ["qwen3.5:4b"]
        assert json.loads(done.stdout)["tried"]["answer"] == "Monaco"
    assert read_defaults() == Defaults("ollama:qwen3.5:4b", str(url))


@pytest.mark.parametrize(
    ("pull", "told"),
    [
        (failure(500), "status 500"),
        (Reply(b'{"status": "pulling manifest"}\n{"error": "no space left"}\n'), "no space left"),
        (Reply(b'{"status": "pulling manifest"}\n'), "it broke off"),
        (Reply(b"<html>\n"), "no progress"),
        (Reply(b'{"status": "x"}\n' * 9, manner="cut"), "the connection broke"),
    ],
)
def test_a_fetch_that_fails_changes_nothing(pull: Reply, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with openai_server([speaks("ollama", models=(), pull=pull)]) as url:
        monkeypatch.setenv("OLLAMA_BASE_URL", url)
        done = setup("--pull", "--yes")
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert not config_file().exists()


@pytest.mark.parametrize(
    ("memory_gb", "model"),
    [(0, "hf.co/LiquidAI/LFM2.5-VL-450M-GGUF:Q8_0"), (4, "hf.co/LiquidAI/LFM2.5-VL-450M-GGUF:Q8_0"), (8, "qwen3.5:4b"),
     (12, "gemma4:e2b"), (16, "qwen3-vl:8b-instruct"), (24, "gemma4:e4b"), (64, "qwen3.6:35b-a3b")],
)  # fmt: skip
def test_what_is_offered_fits_into_the_memory(memory_gb: int, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geosleuth.models.local_models.machine_memory", lambda: memory_gb * 10**9)
    offer = json.loads(setup("--json").stdout)["offer"]
    assert offer["model"] == model
    assert offer["size_gb"] < max(memory_gb, 1)
    assert offer["licence"]
    assert offer["host"]


@pytest.mark.parametrize(
    ("model", "words", "effort"),
    [("gemma4:e4b", (), "none"), ("hf.co/someone/Qwen3.6:Q4", (), "none"), ("qwen3-vl:8b-instruct", (), None),
     ("qwen3.5:9b", ("--thinking-tokens", "2000"), None)],
)  # fmt: skip
def test_models_that_think_unasked_are_told_not_to_for_seeing(
    model: str, words: tuple[str, ...], effort: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with openai_server([speaks("ollama", models=(model,))]) as url:
        monkeypatch.setenv("OLLAMA_BASE_URL", url)
        done = whole_command("locate", photo_file(tmp_path), "--model", f"ollama:{model}", *words)
        assert done.returncode == 0, done.stderr
        bodies = [one.json for one in url.requests if one.path.endswith("/chat/completions")]
    assert {body.get("reasoning_effort") for body in bodies} == {effort}
