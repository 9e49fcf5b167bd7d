"""What a server's tool brought, as an output: somebody else's words, kept within bounds."""

import binascii
import json
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from geosleuth.errors import BadInput
from geosleuth.photo import Limits, Photo, open_photo
from geosleuth.tools.kinds import writable
from geosleuth.tools.model import Output
from geosleuth.tools.wording import one_line

if TYPE_CHECKING:
    from mcp.types import CallToolResult

TEXT_CHARS = 8_000
DATA_CHARS = 100_000
IMAGES = 4
_LIMITS = Limits(max_bytes=8 * 1024 * 1024, max_pixels=16_000_000)
_REFUSAL_CHARS = 500


def output_of(server: str, result: "CallToolResult") -> Output:
    """A result as models and reports get it: quoted, cut where it is too long, with the server as its source."""
    from mcp.types import ImageContent

    images: list[Photo] = []
    remarks: list[str] = []
    for part in result.content:
        if not isinstance(part, ImageContent):
            continue
        if len(images) == IMAGES:
            remarks.append(f"(only the first {IMAGES} pictures are taken)")
            break
        try:
            images.append(_picture(part.data))
        except BadInput as error:
            remarks.append(f"(a picture was left out: {one_line(str(error))})")
    data = _bounded(result.structured_content)
    text = _text(result) or ("" if data is None else json.dumps(data, ensure_ascii=False))
    told = text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}… (cut: {len(text) - TEXT_CHARS} more characters)"
    title = f"From the MCP server {server}, as it came:" if told else f"The MCP server {server} said nothing."
    words = "\n".join([title, *([told] if told else []), *remarks])
    return Output(words, {"server": server, "result": data}, tuple(images), (f"MCP server {server}",))


def refusal_of(server: str, result: "CallToolResult") -> str:
    """What a server says where its tool could not do what was asked."""
    return f"the MCP server {server} says: {one_line(_text(result), _REFUSAL_CHARS) or 'it could not be done'}"


def _text(result: "CallToolResult") -> str:
    from mcp.types import EmbeddedResource, ResourceLink, TextContent, TextResourceContents

    parts = []
    for part in result.content:
        match part:
            case TextContent():
                parts.append(part.text)
            case EmbeddedResource(resource=TextResourceContents() as resource):
                parts.append(resource.text)
            case ResourceLink():
                parts.append(str(part.uri))
            case _:
                pass
    return "\n".join(_readable(text) for text in parts).strip()


def _readable(text: str) -> str:
    """Lines without control characters."""
    kept = text[: 4 * TEXT_CHARS].splitlines()
    return "\n".join(
        "".join(char for char in line if char == "\t" or char.isprintable()) for line in map(writable, kept)
    )


def _bounded(data: Any) -> Any:
    """JSON data that is not too much of it; else nothing."""
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return json.loads(text) if len(text) <= DATA_CHARS else None


def _picture(data: str) -> Photo:
    if len(data) * 3 // 4 > _LIMITS.max_bytes:
        raise BadInput("it is too large")
    try:
        content = b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput("it is not base64") from error
    return open_photo(content, _LIMITS, kind="photo").photo
