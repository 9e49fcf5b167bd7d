"""The OpenAPI document tells the truth: whatever is sent, answers are of the kinds and shapes that it promises."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
    use_after_free,
)

from serving import Served, photo_bytes

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
    use_after_free,
]


@pytest.fixture(scope="module")
def tried(server: Served) -> Iterator[Served]:
    """A server whose settings may be turned upside down; they are set right afterwards."""
    # The first tile takes its time.
    assert server.client.get("/tiles/0/0/0.mvt", timeout=120).status_code == 200
    yield server
    assert server.client.put("/api/settings", json={}).status_code == 200
    for one in server.client.get("/api/keys").json()["keys"]:
        server.client.delete(f"/api/keys/{one['service']}")


@pytest.fixture(scope="module")
def there(tried: Served, replayed: str) -> dict[str, str]:
    """A case and a run that are there."""
    case = tried.case(photo_bytes("Rue Grimaldi"), title="fuzzed")
    run = tried.start(case, model=replayed)
    assert tried.over(run) == "done"
    return {"case": case, "run": run, "left": run, "right": run, "model": replayed}


def exchange(case: schemathesis.Case[Any], there: dict[str, str]) -> None:
    """Ids of the right form, made up, would meet nothing but 404: most are exchanged for some that are there."""
    if case.method.upper() != "DELETE":
        for places in (case.path_parameters, case.query):
            for name in ("case", "run", "left", "right"):
                if places and len(str(places.get(name, ""))) == 16 and not str(places[name]).startswith("0"):
                    places[name] = there[name]
    if case.path.endswith("/runs") and isinstance(case.body, dict) and isinstance(case.body.get("model", ""), str):
        # Otherwise the detective would set to work, again and again.
        case.body["model"] = there["model"]


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("examples", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_answers_are_as_promised(tried: Served, there: dict[str, str], examples: int, mode: GenerationMode) -> None:
    """Requests as the document allows them, and such as it does not."""
    document = schemathesis.openapi.from_url(f"{tried.url}/api/openapi.json")
    statuses: dict[str, set[int]] = {}
    for found in document.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        if operation.path == "/api/wipe":
            continue  # it would take away what the others are asked about; test_disk asks it
        try:
            strategy = operation.as_strategy(generation_mode=mode)
        except Unsatisfiable:
            continue

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def send(case: schemathesis.Case[Any]) -> None:
            exchange(case, there)
            reply = case.call(timeout=60)
            statuses.setdefault(case.operation.label, set()).add(reply.status_code)
            case.validate_response(reply, checks=CHECKS)

        with suppress(Unsatisfiable):
            send()
    if mode is GenerationMode.POSITIVE:
        # Both ways must be walked, or this proves nothing.
        assert len(statuses) >= 28
        assert sum(bool(seen & {200, 201, 202, 204}) for seen in statuses.values()) >= 15
        assert {404} < set.union(*statuses.values())


def test_the_document_names_everything(tried: Served) -> None:
    document = tried.client.get("/api/openapi.json").json()
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    assert len({one["operationId"] for one in operations}) == len(operations) >= 28
    assert all(one.get("description") for one in operations)
    for one in operations:
        refusals = [answer for status, answer in one["responses"].items() if status.startswith("4")]
        shapes = {answer["content"]["application/json"]["schema"]["$ref"] for answer in refusals}
        assert shapes == {"#/components/schemas/Failure"}
