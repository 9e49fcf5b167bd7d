"""From a model's name to a policy: what is refused, who is named, and that nothing is touched before it is asked."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from geosleuth.models import PREFIXES, EndpointSettings, consent_line, make_policy
from geosleuth.models import registry as chooser
from geosleuth.support.errors import BadInput, MissingExtra

KEYS = ("OPENAI", "ANTHROPIC", "GOOGLE", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER", "OLLAMA", "VLLM")
ADDRESSES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GROQ_BASE_URL", "OLLAMA_BASE_URL",
             "VLLM_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_REGION", "AWS_DEFAULT_REGION")  # fmt: skip


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*(f"{one}_API_KEY" for one in KEYS), *ADDRESSES, "GEOSLEUTH_SERVER_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))


@pytest.mark.parametrize("spec", ["gpt-5", "closedai:gpt-5", "", ":", "openai-gpt:5", "OPENAI:gpt-5"])
def test_an_unknown_prefix_is_told_all_that_exist(spec: str) -> None:
    with pytest.raises(BadInput) as caught:
        make_policy(spec)
    assert "\n" not in str(caught.value)
    assert all(f"{one}:" in str(caught.value) for one in PREFIXES)


def test_a_name_is_needed() -> None:
    with pytest.raises(BadInput, match="write openai:NAME"):
        make_policy("openai:")


def test_recordings_are_played_elsewhere() -> None:
    with pytest.raises(BadInput, match="played back by the agent"):
        make_policy("replay:run.jsonl")


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY"),
        pytest.param("anthropic:claude-opus-5", "ANTHROPIC_API_KEY", marks=pytest.mark.slow),
        pytest.param("google:gemini-2.5-flash", "GOOGLE_API_KEY", marks=pytest.mark.slow),
        pytest.param("mistral:pixtral-large-latest", "MISTRAL_API_KEY", marks=pytest.mark.slow),
        pytest.param("groq:llama", "GROQ_API_KEY", marks=pytest.mark.slow),
        pytest.param("openrouter:qwen/qwen3-vl", "OPENROUTER_API_KEY", marks=pytest.mark.slow),
        pytest.param("bedrock:amazon.nova-pro-v1:0", "AWS_REGION", marks=pytest.mark.slow),
        pytest.param("vllm:any", "VLLM_BASE_URL", marks=pytest.mark.slow),
        pytest.param("server:any", "--base-url", marks=pytest.mark.slow),
    ],
)
def test_what_is_missing_is_named(spec: str, variable: str) -> None:
    with pytest.raises(BadInput, match=variable) as caught:
        make_policy(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "host"),
    [
        ("openai:gpt-5", "api.openai.com"),
        ("anthropic:claude-opus-5", "api.anthropic.com"),
        ("google:gemini-2.5-flash", "generativelanguage.googleapis.com"),
        ("mistral:pixtral-large-latest", "api.mistral.ai"),
        ("groq:llama", "api.groq.com"),
        ("openrouter:qwen/qwen3-vl", "openrouter.ai"),
        ("bedrock:amazon.nova-pro-v1:0", "bedrock-runtime.eu-west-1.amazonaws.com"),
    ],
)
def test_who_gets_the_photos(monkeypatch: pytest.MonkeyPatch, spec: str, host: str) -> None:
    monkeypatch.setenv(f"{spec.partition(':')[0].upper()}_API_KEY", "key-123456")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    policy = make_policy(spec)
    assert policy.name == spec
    assert policy.hosts == {host}
    assert host in consent_line(policy)
    assert "photo" in consent_line(policy)
    assert "key-123456" not in repr(policy) + consent_line(policy)


@pytest.mark.parametrize(
    ("spec", "address", "hosts"),
    [
        ("ollama:qwen3-vl", None, set()),
        ("lmstudio:any", None, set()),
        ("server:any", "http://localhost:8080/v1", set()),
        ("server:any", "http://[::1]:8080/v1", set()),
        ("server:any", "http://127.9.9.9:8080/v1", set()),
        ("vllm:any", "http://192.168.1.5:8000/v1", {"192.168.1.5"}),
        ("server:any", "https://models.example/v1", {"models.example"}),
        ("server:any", "http://localhost.example:80/v1", {"localhost.example"}),
        ("server:any", "http://0.0.0.0:80/v1", {"0.0.0.0"}),  # noqa: S104  # nothing is bound
        ("ollama:qwen3-vl:235b-cloud", None, {"ollama.com"}),
    ],
)
def test_only_this_machine_is_no_host(spec: str, address: str | None, hosts: set[str]) -> None:
    policy = make_policy(spec, base_url=address)
    assert policy.hosts == hosts
    assert ("keeps the photo on this machine" in consent_line(policy)) is (not hosts)
    if address == "http://192.168.1.5:8000/v1":
        assert "unencrypted" in consent_line(policy)


def test_the_environment_may_name_another_host_and_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-123456")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example/v1")
    assert make_policy("openai:gpt-5").hosts == {"proxy.example"}
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:4000/v1")
    assert "may pass them on to OpenAI" in consent_line(make_policy("openai:gpt-5"))


def test_openrouter_says_that_it_passes_photos_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "key-123456")
    assert "passes them on to whoever serves the model" in consent_line(make_policy("openrouter:qwen/qwen3-vl"))


@pytest.mark.parametrize(
    ("spec", "address", "told"),
    [
        ("server:any", "models.example/v1", "starts with http"),
        ("server:any", "file:///etc/passwd", "starts with http"),
        ("server:any", "https://me:secret@models.example/v1", "user name or password"),
        ("server:any", "https://models.example/v1?key=secret", "query"),
        ("server:any", "http://models.example:99999/v1", "not a web address"),
        ("server:any", "http://[::1/v1", "not a web address"),
        ("server:any", "http://[::1].evil.example/v1", "and a host"),
        ("openai:gpt-5", "http://proxy.example/v1", "https"),
        ("hf:somewhere", "http://127.0.0.1/v1", "no address"),
    ],
)
def test_addresses_that_can_not_be_used(monkeypatch: pytest.MonkeyPatch, spec: str, address: str, told: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-123456")
    with pytest.raises(BadInput, match=told) as caught:
        make_policy(spec, base_url=address)
    assert "me:secret" not in str(caught.value)


def test_offline_rules_out_all_but_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(socket, "socket", None)
    for prefix in PREFIXES:
        if prefix != "hf":
            with pytest.raises(BadInput, match="--offline rules out; use hf:DIRECTORY"):
                make_policy(f"{prefix}:any", base_url="http://127.0.0.1:1/v1", offline=True)
    with pytest.raises(BadInput, match=r"config\.json"):
        make_policy(f"hf:{tmp_path}", offline=True)


def test_a_package_that_is_missing_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module: str, *, extra: str) -> None:
        raise MissingExtra(module, extra)

    monkeypatch.setattr(chooser, "require", refuse)
    with pytest.raises(MissingExtra, match=r"pip install .*\[models\]'"):
        make_policy("ollama:any")


@pytest.mark.parametrize("setting", ["concurrency", "tries", "try_s", "total_s", "max_reply_bytes"])
def test_settings_that_make_no_sense_are_refused(setting: str) -> None:
    with pytest.raises(BadInput, match=setting):
        EndpointSettings(**{setting: 0})  # type: ignore[arg-type]


IMPORTS = """
import socket, sys
class Denied(socket.socket):
    def __init__(self, *a, **k): raise AssertionError("a socket")
socket.socket = Denied
import geosleuth.models
assert not {"pydantic_ai", "openai", "torch", "httpx2"} & set(sys.modules), "heavy"
policy = geosleuth.models.make_policy("ollama:any")
assert "pydantic_ai" in sys.modules
print(policy.name)
"""


def test_importing_is_light_and_choosing_opens_no_socket() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("ollama:any", "")
