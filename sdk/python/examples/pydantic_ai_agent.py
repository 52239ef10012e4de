"""A Pydantic AI agent that remembers, and whose conversation lasts."""

from __future__ import annotations

import asyncio
from typing import Any, List

from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from amber_memory import Amber
from amber_memory.integrations.pydantic_ai import AmberConversationStore, memory_toolset


def model(messages: List[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A stub in place of a model: it asks memory first."""
    last = messages[-1].parts[-1]
    if last.part_kind == "user-prompt":
        return ModelResponse(parts=[ToolCallPart("recall", {"question": str(last.content)})])
    found: Any = getattr(last, "content", None)
    return ModelResponse(parts=[TextPart(f"after {len(messages)} messages: {found[0]['content']}")])


async def main() -> None:
    with Amber(user_id="ada") as amber:
        amber.remember("Ada takes the train to work")
        agent, store = Agent(FunctionModel(model), toolsets=[memory_toolset(amber, limit=1)]), AmberConversationStore(amber)
        for _ in range(2):
            conversation = await store.load("conversation-1") or Conversation(conversation_id="conversation-1")
            result = await agent.run("how do I get to work?", conversation=conversation)
            await store.save(result)
            print(result.output)


asyncio.run(main())
