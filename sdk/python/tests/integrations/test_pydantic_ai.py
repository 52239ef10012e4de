"""Pydantic AI: histories and tools, with its own agent and a stub in place of the model."""

from __future__ import annotations

import asyncio
import random
from typing import Any, Dict, List, Optional

import pytest

pytest.importorskip("pydantic_ai", reason="the package pydantic-ai-slim is not installed")

from integrations.shared import HOSTILE
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, ConversationStore, InMemoryConversationStore
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from test_contract import kill_private

from amber_memory import Amber, AsyncAmber
from amber_memory.integrations.pydantic_ai import AmberConversationStore, AmberHistory, memory_toolset


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


def message(text: str) -> ModelMessage:
    return ModelRequest(parts=[UserPromptPart(content=text)])


def test_conversations_of_an_agent(home: str) -> None:
    async def run() -> None:
        async with AsyncAmber(user_id="ada") as amber:
            agent, store = Agent(TestModel(custom_output_text="hello ada")), AmberConversationStore(amber)
            assert await store.load("c") is None
            result = await agent.run("hi", conversation=Conversation(conversation_id="c"))
            assert len(await store.save(result, scope="desk")) == 2
            kill_private()
            loaded = await AmberConversationStore(amber).load("c", scope="desk")
            assert loaded is not None and loaded.messages == result.all_messages() and loaded.usage == result.usage
            second = await agent.run("again", conversation=loaded)
            await store.save(second)
            with pytest.raises(ConversationConflict):
                await store.save(Conversation(conversation_id="c", messages=second.all_messages(), revision=loaded.revision))
            last = await store.load("c", limit=1)
            assert last is not None and last.messages == second.all_messages()[-1:]
            assert await store.load("c", scope="elsewhere") is None
            with pytest.raises(ConversationConflict):
                await store.save(Conversation(conversation_id="c", messages=[message("mine")]))

            # Turns of the messages can be found by others; another user's client finds no conversation.
            stored = store._record(store._session("c"))
            assert stored is not None and any("hello ada" in t.content for t in await amber.turn.list(stored[1]).all())
            for other in (AmberConversationStore(amber.scoped(user_id="bob")), AmberConversationStore(amber.scoped(project_id="p"))):
                assert await other.load("c") is None and await other.list_conversations() == []
                entries = await store.load_entries("c")
                assert entries
                with pytest.raises(KeyError):
                    await other.read_entry(entries[0].id)

            picture: ModelMessage = ModelRequest(parts=[UserPromptPart(content=["look", BinaryContent(data=bytes(range(256)) * 8000, media_type="application/pdf")])])
            for name in HOSTILE:
                made = Conversation(conversation_id=name, messages=[message("x"), picture])
                await store.save(made)
                found = await store.load(name)
                assert found is not None and found.messages == made.messages
            for record in await store.list_conversations():
                await store.delete(record.conversation_id)
            assert await store.list_conversations() == [] and await amber.session.list().all() == []
            with pytest.raises(KeyError):
                await store.read_entry((entries or [])[0].id)

    asyncio.run(run())


def test_writers_at_the_same_time_do_not_overwrite_each_other(home: str) -> None:
    async def run() -> None:
        async with AsyncAmber() as amber:
            await AmberConversationStore(amber).save(Conversation(conversation_id="c", messages=[message("first")]))

            async def write(n: int) -> None:
                store = AmberConversationStore(amber)
                while True:
                    mine = await store.load("c")
                    assert mine is not None
                    mine.messages.append(message(str(n)))
                    try:
                        await store.save(mine)
                        return
                    except ConversationConflict:
                        await asyncio.sleep(0)

            await asyncio.gather(*(write(n) for n in range(6)))
            found = await AmberConversationStore(amber).load("c")
            assert found is not None and sorted(texts(found)) == ["0", "1", "2", "3", "4", "5", "first"]

    asyncio.run(run())


def texts(conversation: Optional[Conversation]) -> List[str]:
    return [] if conversation is None else [str(getattr(m.parts[0], "content", "")) for m in conversation.messages]


@pytest.mark.parametrize("seed", range(2))
def test_conversations_are_what_those_in_memory_are(home: str, seed: int) -> None:
    """The store of Pydantic AI that keeps everything in memory, and this one, with the same random calls."""

    async def run() -> None:
        r = random.Random(seed)
        async with AsyncAmber(user_id="ada") as amber:
            stores: List[ConversationStore] = [InMemoryConversationStore(), AmberConversationStore(amber)]
            names = ["a", "b", "c", "d"]
            for n in range(80):
                name, other, do = r.choice(names), r.choice(names), r.choice(["save", "save", "save", "stale", "rewrite", "branch", "fork", "fork", "delete", "window"])
                at, scope = r.randrange(4), r.choice([None, None, None, "s", "t"])

                async def call(store: ConversationStore, do: str = do, name: str = name, other: str = other, at: int = at, scope: Optional[str] = scope, n: int = n) -> Any:
                    try:
                        if do == "delete":
                            await store.delete(name, scope=scope)
                        elif do == "fork":
                            return texts(await store.fork(name, at=at, new_conversation_id=other, scope=scope))
                        elif do == "branch":
                            loaded = await store.load(name)
                            return texts(await store.branch(name, at=at, expected_revision=loaded.revision if loaded and loaded.revision else ""))
                        else:
                            loaded = await store.load(name, limit=at if do == "window" else None) or Conversation(conversation_id=name)
                            if do == "stale":
                                loaded.revision = "stale"
                            if do == "rewrite":
                                loaded = Conversation(conversation_id=name, messages=[*loaded.messages[:at], message(f"other {n}")], revision=loaded.revision)
                            loaded.messages.append(message(f"text {n}"))
                            return len(await store.save(loaded, scope=scope))
                    except (UserError, ConversationConflict) as e:
                        return type(e).__name__

                async def seen(store: ConversationStore) -> Dict[str, Any]:
                    records = {x.conversation_id: (x.scope, x.forked_from, len(x.branches)) for x in await store.list_conversations()}
                    return {name: (about, texts(await store.load(name))) for name, about in records.items()}

                want, got = [await call(s) for s in stores]
                assert got == want, (n, do, name, other)
                want, got = [await seen(s) for s in stores]
                assert got == want, (n, do, name, other)
                assert [[x.conversation_id for x in await s.list_conversations(limit=2)] for s in stores[:1]] == [[x.conversation_id for x in await stores[1].list_conversations(limit=2)]]
            for name in names:
                await stores[1].delete(name)
            assert await amber.session.list().all() == []

    asyncio.run(run())
