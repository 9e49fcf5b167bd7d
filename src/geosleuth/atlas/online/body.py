"""Reading what a service sends: never more than agreed, unpacked with the same bound, and parsed with suspicion."""

import json
import zlib
from contextlib import suppress
from typing import NoReturn

import httpx

from geosleuth.errors import ServiceFault

_NOT_JSON = object()
MAX_DEPTH = 40
"""No service nests its answers half as deep."""


async def read_body(response: httpx.Response, host: str, max_bytes: int) -> bytes:
    """The whole body of a streamed response.

    Raises:
        ServiceFault: it is longer than allowed, packed in a way that was not asked for, or cut short.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if packing not in ("identity", "gzip", "x-gzip"):
        raise ServiceFault(host, "sent its answer packed in a way that was not asked for")
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > max_bytes:
        raise _too_long(host, max_bytes)
    unpacker = None if packing == "identity" else zlib.decompressobj(wbits=31)
    body = bytearray()
    async for raw in response.aiter_raw():
        try:
            body += raw if unpacker is None else unpacker.decompress(raw, max_bytes + 1 - len(body))
        except zlib.error as error:
            raise ServiceFault(host, "sent a packed answer that can't be unpacked", retryable=True) from error
        if len(body) > max_bytes:
            raise _too_long(host, max_bytes)
    if unpacker is not None and not unpacker.eof:
        raise ServiceFault(host, "its answer was cut short", retryable=True)
    return bytes(body)


def parse_json(body: bytes, host: str) -> object:
    """What a JSON answer says.

    Raises:
        ServiceFault: it is not JSON, holds numbers that are none, or is nested absurdly.
    """
    parsed: object = _NOT_JSON
    with suppress(ValueError, RecursionError):
        parsed = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
    if parsed is _NOT_JSON:
        # Raised out here, for the parser's own error would carry the whole answer along.
        raise ServiceFault(host, "answered something that is not JSON")
    level, depth = [parsed], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ServiceFault(host, "answered JSON that is nested too deep")
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
        level = inner
    return parsed


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _too_long(host: str, max_bytes: int) -> ServiceFault:
    return ServiceFault(host, f"its answer is longer than {max_bytes:,} bytes and was not read")
