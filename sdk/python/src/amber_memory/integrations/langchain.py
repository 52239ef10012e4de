"""LangChain: the history of a chat, and a retriever.

    history = AmberChatMessageHistory("chat-1", Amber(user_id="ada"))
    retriever = AmberRetriever(client=Amber(user_id="ada"), k=4)
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from .._client import Amber, AsyncAmber
from .._models import Hit
from ._common import Client, blocking, in_thread
from ._log import Log

__all__ = ["AmberChatMessageHistory", "AmberRetriever"]

_ROLES = {"human": "user", "ai": "assistant", "system": "system"}


class AmberChatMessageHistory(BaseChatMessageHistory):
    """Keeps the messages of a chat as turns of a session of Amber, in order.

    The chat belongs to the identity that the client is bound to. Secrets are taken out of messages before they are stored,
    as of everything that is said; exact=True keeps them to the byte, and out of what can be searched.
    """

    def __init__(self, session_id: str, client: Client, *, exact: bool = False) -> None:
        self.session_id = session_id
        self._log = Log(blocking(client), "langchain", session_id, exact)

    @property
    def messages(self) -> List[BaseMessage]:  # type: ignore[override]
        """The messages, oldest first."""
        return messages_from_dict(self._log.items())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages at the end, all or none. When it returns, they survive a crash."""
        self._log.add([(_ROLES.get(m.type, "tool"), message_to_dict(m)) for m in messages])

    def clear(self) -> None:
        """Remove everything."""
        self._log.clear()

    async def aget_messages(self) -> List[BaseMessage]:
        """See messages."""
        return messages_from_dict(await in_thread(self._log.items))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """See add_messages."""
        await in_thread(self.add_messages, messages)

    async def aclear(self) -> None:
        """See clear."""
        await in_thread(self.clear)


class AmberRetriever(BaseRetriever):
    """Finds what Amber remembers: memories, notes and what was said, best first.

    It finds what the identity that the client is bound to may see. Arguments beside k are those of memory.recall.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Any
    """An Amber or AsyncAmber."""
    k: int = 4
    """The most documents."""
    min_score: Optional[float] = None
    """Leave out documents with a lower score, from 0 to 1."""
    options: Dict[str, Any] = {}
    """More arguments of memory.recall, such as kinds, tags and layers."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: Optional[int] = None) -> List[Document]:
        found = blocking(_client(self.client)).recall(query, limit=self.k if k is None else k, min_score=self.min_score, **self.options)
        return [_document(hit) for hit in found]

    async def _aget_relevant_documents(self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: Optional[int] = None) -> List[Document]:
        client = _client(self.client)
        limit = self.k if k is None else k
        if isinstance(client, AsyncAmber):
            found = await client.recall(query, limit=limit, min_score=self.min_score, **self.options)
        else:
            found = await in_thread(client.recall, query, limit=limit, min_score=self.min_score, **self.options)
        return [_document(hit) for hit in found]


def _client(client: Any) -> Client:
    if not isinstance(client, (Amber, AsyncAmber)):
        raise TypeError(f"client is {type(client).__name__}: want an Amber or AsyncAmber")
    return client


def _document(hit: Hit) -> Document:
    about = {"score": hit.score, "layer": hit.layer, "kind": str(hit.kind), "scope": str(hit.scope), "title": hit.title}
    if hit.updated_at is not None:
        about["updated_at"] = hit.updated_at.isoformat()
    return Document(id=hit.id, page_content=hit.content, metadata=about)
