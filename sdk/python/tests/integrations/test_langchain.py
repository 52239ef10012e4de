"""LangChain: its standard suite for retrievers, and the history of chats."""

from __future__ import annotations

import asyncio
from typing import Any, Dict, Iterator, Sequence, Type

import pytest

pytest.importorskip("langchain_core", reason="the package langchain-core is not installed")
pytest.importorskip("langchain_tests", reason="the package langchain-tests is not installed")

from integrations.shared import HOSTILE
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests
from test_contract import kill_private

from amber_memory import Amber, AsyncAmber
from amber_memory.integrations.langchain import AmberChatMessageHistory, AmberRetriever


class TestTheStandardSuite(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _filled(self, home: str) -> Iterator[None]:
        with Amber() as self.amber:
            for n in range(5):
                self.amber.remember(f"the deploy of service {n} runs on Friday")
            yield

    @property
    def retriever_constructor(self) -> Type[BaseRetriever]:
        return AmberRetriever

    @property
    def retriever_constructor_params(self) -> Dict[str, Any]:
        return {"client": self.amber}

    @property
    def retriever_query_example(self) -> str:
        return "when is the deploy?"


class TestTheStandardSuiteWithoutWaiting(TestTheStandardSuite):
    """With the client that does not wait, whose retriever waits where it is asked to."""

    @pytest.fixture(autouse=True)
    def _other(self, _filled: None) -> None:
        self.client = AsyncAmber()

    @property
    def retriever_constructor_params(self) -> Dict[str, Any]:
        return {"client": self.client}


def test_the_retriever_finds_what_is_for_its_user(home: str) -> None:
    with Amber() as amber:
        amber.scoped(user_id="ada").remember("Ada takes the train to work")
        amber.scoped(user_id="bob").remember("Bob takes the bus to work")
        found = AmberRetriever(client=amber.scoped(user_id="ada")).invoke("how to work?")
        assert [d.page_content for d in found] == ["Ada takes the train to work"]
        assert found[0].metadata["layer"] == "memory" and found[0].metadata["score"] > 0

    async def run() -> None:
        async with AsyncAmber(user_id="bob") as other:
            assert [d.page_content for d in await AmberRetriever(client=other).ainvoke("how to work?")] == ["Bob takes the bus to work"]

    asyncio.run(run())


def test_messages_come_back_as_they_were(home: str) -> None:
    messages = [
        SystemMessage("be kind"),
        HumanMessage("hello", id="1"),
        AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c"}]),
        ToolMessage("done", tool_call_id="c"),
        HumanMessage([{"type": "text", "text": "x" * 2_000_000}]),
    ]
    with Amber(user_id="ada") as amber:
        history = AmberChatMessageHistory("chat", amber)
        history.add_messages(messages)
        kill_private()
        assert AmberChatMessageHistory("chat", amber).messages == messages
        assert AmberChatMessageHistory("chat", amber.scoped(user_id="bob")).messages == []
        history.clear()
        assert history.messages == []
        for name in HOSTILE:
            AmberChatMessageHistory(name, amber).add_user_message("hi")
            assert AmberChatMessageHistory(name, amber).messages == [HumanMessage("hi")]

    async def run() -> None:
        async with AsyncAmber(user_id="ada") as other:
            history = AmberChatMessageHistory("later", other)
            await history.aadd_messages(messages[:2])
            assert await history.aget_messages() == messages[:2]
            await history.aclear()
            assert await history.aget_messages() == []

    asyncio.run(run())


def test_a_runnable_with_history(home: str) -> None:
    def answer(messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage(f"{len(messages)} messages, the last is {messages[-1].content}")

    with Amber() as amber:

        def runnable(user: str) -> Any:
            return RunnableWithMessageHistory(RunnableLambda(answer), lambda session_id: AmberChatMessageHistory(session_id, amber.scoped(user_id=user)))

        def config(session: str) -> Any:
            return {"configurable": {"session_id": session}}

        assert runnable("ada").invoke([HumanMessage("one")], config("s")).content == "1 messages, the last is one"
        kill_private()
        assert runnable("ada").invoke([HumanMessage("two")], config("s")).content == "3 messages, the last is two"

        async def run() -> None:
            assert (await runnable("ada").ainvoke([HumanMessage("three")], config("s"))).content == "5 messages, the last is three"
            others = await asyncio.gather(*(runnable("bob").ainvoke([HumanMessage(n)], config(n)) for n in "abcd"))
            assert [o.content for o in others] == [f"1 messages, the last is {n}" for n in "abcd"]

        asyncio.run(run())
        assert len(AmberChatMessageHistory("s", amber.scoped(user_id="ada")).messages) == 6
        assert AmberChatMessageHistory("s", amber.scoped(user_id="bob")).messages == []
