"""What goes wrong with services, told in a way that the one who asked can use: never an address, never a key."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from geosleuth.errors import GeosleuthError, Offline, ServiceFault

from .body import read_body
from .keys import Credentials
from .text import clean


class Busy(ServiceFault):
    """The service asks to come back later; ``wait_s`` says when."""

    def __init__(self, host: str, trouble: str, wait_s: float) -> None:
        super().__init__(host, trouble, retryable=True)
        self.wait_s = wait_s


def as_fault(error: Exception, host: str, credentials: Credentials) -> ServiceFault:
    """What an error of the client, the network or the decoder means for the one who asked."""
    if isinstance(error, ServiceFault):
        return error
    if isinstance(error, GeosleuthError):
        return ServiceFault(host, credentials.scrub(str(error)))
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return ServiceFault(host, "did not answer in time", retryable=True)
    if isinstance(error, httpx.InvalidURL):
        return ServiceFault(host, "has an address that can't be asked")
    if isinstance(error, httpx.ConnectError):
        return Offline(host, "can't be reached; are you online, and is the service up?")
    return ServiceFault(host, "its answer was cut short", retryable=True)


def after_tries(fault: ServiceFault, attempts: int) -> ServiceFault:
    """The fault that is raised in the end, with how often it was tried."""
    times = "" if attempts == 1 else f" (tried {attempts} times)"
    if isinstance(fault, Offline):
        return Offline(fault.host, fault.trouble + times)
    return ServiceFault(fault.host, fault.trouble + times, retryable=True)


def refusal(response: httpx.Response, host: str, excerpt: str, credentials: Credentials) -> ServiceFault:
    """What a status other than 200 means."""
    status = response.status_code
    said = f': "{excerpt}"' if excerpt else ""
    if status in (401, 403):
        keys = " and ".join(secret.variable for secret in credentials.secrets)
        hint = f"; check the key in {keys}" if keys else "; its terms of use may say why"
        return ServiceFault(host, f"refused the request (status {status}){hint}{said}")
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= 500:
        trouble = "is asked too often" if status == httpx.codes.TOO_MANY_REQUESTS else "failed"
        wait_s = _retry_after_s(response.headers.get("retry-after", ""))
        if wait_s > 0:
            return Busy(host, f"{trouble} (status {status}) and asks to wait {wait_s:.0f} s{said}", wait_s)
        return ServiceFault(host, f"{trouble} (status {status}){said}", retryable=True)
    return ServiceFault(host, f"did not accept the request (status {status}){said}")


def _retry_after_s(header: str) -> float:
    """The wait a service asks for, in seconds or as a date; 0 where it asks for none."""
    header = header.strip()
    if header.isdecimal():
        return float(header[:9])
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    wait_s: float = (moment - datetime.now(UTC)).total_seconds()
    return max(0.0, wait_s)


async def excerpt_of(response: httpx.Response, host: str) -> str:
    """The beginning of what a failing service says, where that is plain text or JSON."""
    if not response.headers.get("content-type", "").startswith(("text/plain", "application/json")):
        return ""
    try:
        body = await read_body(response, host, 64 * 1024)
    except (ServiceFault, httpx.HTTPError):
        return ""
    return clean(body.decode("utf-8", "replace"), 200)
