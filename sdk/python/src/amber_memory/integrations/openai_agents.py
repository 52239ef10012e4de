"""OpenAI Agents SDK: the history of a conversation.

    session = AmberSession("conversation-1", Amber(user_id="ada"))
    result = await Runner.run(agent, "Hello", session=session)
"""

from __future__ import annotations

import asyncio
from typing import Any, List, Optional, cast

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from ._common import Client, blocking, in_thread
from ._log import Log

__all__ = ["AmberSession"]

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class AmberSession(SessionABC):
    """Keeps the items of a conversation as turns of a session of Amber, in order.

    The conversation belongs to the identity that the client is bound to: the same id with a client for somebody else is
    another conversation. Secrets are taken out of items before they are stored, as of everything that is said; exact=True
    keeps items to the byte, and out of what can be searched.
    """

    def __init__(self, session_id: str, client: Client, *, session_settings: Optional[SessionSettings] = None, exact: bool = False) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._log = Log(blocking(client), "agents", session_id, exact)
        self._lock = asyncio.Lock()

    async def get_items(self, limit: Optional[int] = None) -> List[TResponseInputItem]:
        """Return the items, or the last ones, oldest first."""
        return cast(List[TResponseInputItem], await in_thread(self._log.items, resolve_session_limit(limit, self.session_settings)))

    async def add_items(self, items: List[TResponseInputItem]) -> None:
        """Store items at the end, one after the other. When it returns, they survive a crash."""
        async with self._lock:
            for item in items:
                await in_thread(self._log.add, _role(item), item)

    async def pop_item(self) -> Optional[TResponseInputItem]:
        """Take the last item back and return it."""
        async with self._lock:
            return cast(Optional[TResponseInputItem], await in_thread(self._log.pop))

    async def clear_session(self) -> None:
        """Remove everything."""
        async with self._lock:
            await in_thread(self._log.clear)


def _role(item: Any) -> str:
    return _ROLES.get(str(item.get("role")), "tool")
