"""Pydantic AI: histories and tools, with its own agent and a stub in place of the model."""

from __future__ import annotations

import asyncio
from typing import List

import pytest

pytest.importorskip("pydantic_ai", reason="the package pydantic-ai-slim is not installed")

from integrations.shared import HOSTILE
from pydantic_ai import Agent
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from test_contract import kill_private

from amber_memory import Amber, AsyncAmber
from amber_memory.integrations.pydantic_ai import AmberHistory, memory_toolset


def test_messages_come_back_as_they_were(home: str) -> None:
    with Amber(user_id="ada") as amber:
        history = AmberHistory("c", amber)
        agent = Agent(TestModel(custom_output_text="hello ada"))
        history.save(agent.run_sync("hi").new_messages())
        kill_private()
        second = agent.run_sync("again", message_history=history.load())
        history.save(second.new_messages())
        assert history.load() == second.all_messages() and len(history.load()) == 4
        assert history.load(1) == second.all_messages()[-1:]
        assert AmberHistory("c", amber.scoped(user_id="bob")).load() == []
        picture: List[ModelMessage] = [ModelRequest(parts=[UserPromptPart(content=["look", BinaryContent(data=bytes(range(256)) * 8000, media_type="application/pdf")])])]
        history.save(picture)
        assert history.load(1) == picture
        history.clear()
        assert history.load() == []
        for name in HOSTILE:
            AmberHistory(name, amber).save(second.new_messages())
            assert AmberHistory(name, amber).load() == second.new_messages()

    async def run() -> None:
        async with AsyncAmber() as other:
            later = AmberHistory("later", other)
            await later.asave(second.new_messages())
            assert await later.aload() == second.new_messages()
            await later.aclear()
            assert await later.aload() == []

    asyncio.run(run())


def test_an_agent_remembers_and_recalls(home: str) -> None:
    def model(messages: List[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {t.name for t in info.function_tools} == {"remember", "recall"}
        last = messages[-1].parts[-1]
        if last.part_kind == "user-prompt":
            name, args = ("remember", {"content": "Ada takes the train"}) if "train" in str(last.content) else ("recall", {"question": "how does Ada travel?"})
            return ModelResponse(parts=[ToolCallPart(name, args)])
        return ModelResponse(parts=[TextPart(str(last.content))])  # type: ignore[union-attr]

    with Amber() as amber:
        for name in ("ada", "bob"):
            agent = Agent(FunctionModel(model), toolsets=[memory_toolset(amber.scoped(user_id=name))])
            if name == "ada":
                agent.run_sync("I take the train")
            assert ("Ada takes the train" in agent.run_sync("how do I travel?").output) == (name == "ada")
