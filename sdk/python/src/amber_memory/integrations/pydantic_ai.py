"""Pydantic AI: the history of a conversation, and tools to remember and recall.

    history = AmberHistory("conversation-1", Amber(user_id="ada"))
    agent = Agent(model, toolsets=[memory_toolset(Amber(user_id="ada"))])
    result = agent.run_sync("Hello", message_history=history.load())
    history.save(result.new_messages())
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.toolsets import FunctionToolset

from ._common import Client, blocking, in_thread
from ._log import Log

__all__ = ["AmberHistory", "memory_toolset"]


class AmberHistory:
    """Keeps the messages of a conversation as turns of a session of Amber, in order.

    The conversation belongs to the identity that the client is bound to. Secrets are taken out of messages before they are
    stored, as of everything that is said; exact=True keeps them to the byte, and out of what can be searched.
    """

    def __init__(self, conversation: str, client: Client, *, exact: bool = False) -> None:
        self.conversation = conversation
        self._log = Log(blocking(client), "pydantic-ai", conversation, exact)

    def load(self, limit: Optional[int] = None) -> List[ModelMessage]:
        """Return the messages, or the last ones, oldest first."""
        return ModelMessagesTypeAdapter.validate_python(self._log.items(limit))

    def save(self, messages: Sequence[ModelMessage]) -> None:
        """Store messages at the end, all or none: the new ones of a run. When it returns, they survive a crash."""
        dumped: List[Dict[str, Any]] = ModelMessagesTypeAdapter.dump_python([*messages], mode="json")
        self._log.add([("assistant" if m.get("kind") == "response" else "user", m) for m in dumped])

    def clear(self) -> None:
        """Remove everything."""
        self._log.clear()

    async def aload(self, limit: Optional[int] = None) -> List[ModelMessage]:
        """See load."""
        return await in_thread(self.load, limit)

    async def asave(self, messages: Sequence[ModelMessage]) -> None:
        """See save."""
        await in_thread(self.save, messages)

    async def aclear(self) -> None:
        """See clear."""
        await in_thread(self.clear)


def memory_toolset(client: Client, *, limit: int = 8) -> FunctionToolset[Any]:
    """Return the tools remember and recall, for the identity that the client is bound to."""
    amber = blocking(client)

    async def remember(content: str) -> str:
        """Remember something for good: a fact, a decision or what somebody prefers, in a sentence that can stand alone.

        Args:
            content: What is to be remembered.
        """
        stored = await in_thread(amber.remember, content)
        return f"remembered as {stored.id}"

    async def recall(question: str) -> List[Dict[str, Any]]:
        """Find what is remembered about a question, best first. Nothing is an empty list.

        Args:
            question: What is to be known.
        """
        return [{"content": h.content, "score": round(h.score, 3)} for h in await in_thread(amber.recall, question, limit=limit)]

    return FunctionToolset([remember, recall])
