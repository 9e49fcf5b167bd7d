"""What the errors of pydantic-ai and the packages below it mean for the one who asked: whose trouble, what to do.

No key is in what comes out of here: a service may send one back, so all that it says is scrubbed.
"""

import re
from collections.abc import Iterator

from pydantic_ai import exceptions

from geosleuth.errors import Offline, ServiceFault
from geosleuth.policies.endpoints import TryLater
from geosleuth.policies.services import Target

_SHOWN = 200
_TEMPORARY = {408, 409, 425}
_NO_CREDENTIALS = {"NoCredentialsError", "PartialCredentialsError", "TokenRetrievalError"}
_AWS_HINT = "set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


def as_fault(error: Exception, target: Target) -> ServiceFault:
    """What an error means."""
    ours = next((one for one in _causes(error) if isinstance(one, ServiceFault)), None)
    if ours is not None:
        return ours
    if any(type(one).__name__ in _NO_CREDENTIALS for one in _causes(error)):
        return ServiceFault(target.host, f"no AWS credentials were found; {_AWS_HINT}")
    if isinstance(error, exceptions.ModelHTTPError):
        return _of_status(error, target)
    if isinstance(error, exceptions.ModelConnectionError):
        return _of_connection(error, target)
    if isinstance(error, exceptions.UserError):
        return ServiceFault(target.host, f"can't be asked this way: {_clean(str(error), target)}")
    kind = "" if isinstance(error, exceptions.AgentRunError) else f" ({type(error).__name__})"
    hint = "; is the address the one that ends with /v1?" if target.service.own else ""
    return ServiceFault(target.host, f"answers something that is no model's reply{kind}{hint}", retryable=True)


def _of_connection(error: exceptions.ModelConnectionError, target: Target) -> ServiceFault:
    if error.phase == "connect":
        hint = f"is the server running? {target.service.start_hint}" if target.on_this_machine else "are you online?"
        return Offline(target.host, f"can't be reached; {hint}".rstrip())
    late = isinstance(error, exceptions.ModelTimeoutError)
    return ServiceFault(target.host, "did not answer in time" if late else "its answer was cut short", retryable=True)


def _of_status(error: exceptions.ModelHTTPError, target: Target) -> ServiceFault:
    status, host = error.status_code, target.host
    after = f"(status {status}){_said(error, target)}"
    if isinstance(error, exceptions.ModelRateLimitError) or status in _TEMPORARY or status >= 500:
        trouble = "is asked too often" if status == 429 else "failed"
        if error.retry_after:
            return TryLater(host, f"{trouble} and asks to wait {error.retry_after:.0f} s {after}", error.retry_after)
        return ServiceFault(host, f"{trouble} {after}", retryable=error.provider_retry_hint is not False)
    if isinstance(error, exceptions.ModelQuotaExceededError):
        trouble = "the account has nothing left; top it up"
    elif isinstance(error, exceptions.ModelContextWindowExceededError):
        trouble = f"the conversation is too long for {target.model[:80]!r}"
    elif status in (401, 403):
        trouble = f"refused the request; {_key_hint(target)}"
    elif status == 404:
        trouble = f"does not know {target.model[:80]!r}; check the model's name"
    else:
        trouble = "did not accept the request"
    return ServiceFault(host, f"{trouble} {after}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _key_hint(target: Target) -> str:
    variables = " or ".join(target.service.key_variables)
    if target.key is not None:
        return f"check the key in {target.key.variable}"
    return f"it may want a key: set {variables}" if variables else "check your credentials and rights"


def _said(error: exceptions.ModelAPIError, target: Target) -> str:
    """What the service says itself, where that is a line of text."""
    body: object = error.body
    for name in ("error", "message", "detail"):
        if isinstance(body, dict):
            body = body.get(name, body)
    text = _clean(body, target) if isinstance(body, str) and "<html" not in body[:2000].lower() else ""
    return f': "{text}"' if text else ""


def _clean(text: str, target: Target) -> str:
    # Scrubbed before it is cut, so that no half of a key is left over.
    whole = target.scrub(text[:100_000])
    line = re.sub(r"\s+", " ", "".join(one if one.isprintable() else " " for one in whole)).strip()
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
