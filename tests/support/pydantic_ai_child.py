"""Asks a server at the address given, as users of pydantic-ai do; prints the tools and what a call came to."""

import asyncio
import json
import sys
from importlib import import_module
from typing import Any

ai: Any = import_module("pydantic_ai")
messages: Any = import_module("pydantic_ai.messages")
offered: list[str] = []


def reply(told: list[Any], info: Any) -> Any:
    """Call a tool, then repeat what it said."""
    offered[:] = [one.name for one in info.function_tools]
    if len(told) == 1:
        return messages.ModelResponse(parts=[messages.ToolCallPart("country_facts", {"country": "Monaco"})])
    return messages.ModelResponse(parts=[messages.TextPart(str(told[-1].parts[0].content))])


model = import_module("pydantic_ai.models.function").FunctionModel(reply)
agent = ai.Agent(model, capabilities=[import_module("pydantic_ai.capabilities").MCP(url=sys.argv[1])])
print(json.dumps({"said": asyncio.run(agent.run("Facts?")).output, "tools": offered}))
