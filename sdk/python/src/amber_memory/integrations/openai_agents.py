"""OpenAI Agents SDK: the history of a conversation.

    session = AmberSession("conversation-1", Amber(user_id="ada"))
    result = await Runner.run(agent, "Hello", session=session)
"""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Dict, List, Optional, TypeVar, Union, cast

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from ._common import Client, blocking, in_thread
from ._log import Log

__all__ = ["AmberSession"]

T = TypeVar("T")

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class AmberSession(SessionABC):
    """Keeps the items of a conversation as turns of a session of Amber, in order.

    The conversation belongs to the identity that the client is bound to: the same id with a client for somebody else is
    another conversation. Secrets are taken out of items before they are stored, as of everything that is said; exact=True
    keeps items to the byte, and out of what can be searched. May be used by several threads and loops; what changes
    something goes on to its end when its task is cancelled.
    """

    def __init__(self, session_id: str, client: Client, *, session_settings: Union[SessionSettings, Dict[str, Any], None] = None, exact: bool = False) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self._log = Log(blocking(client), "agents", session_id, exact)

    async def get_items(self, limit: Optional[int] = None) -> List[TResponseInputItem]:
        """Return the items, or the last ones, oldest first."""
        return cast(List[TResponseInputItem], await in_thread(self._log.items, resolve_session_limit(limit, self.session_settings)))

    async def add_items(self, items: List[TResponseInputItem]) -> None:
        """Store items at the end, all or none. When it returns, they survive a crash."""
        await _settled(in_thread(self._log.add, [(_role(i), i) for i in items]))

    async def pop_item(self) -> Optional[TResponseInputItem]:
        """Take the last item back and return it."""
        return cast(Optional[TResponseInputItem], await _settled(in_thread(self._log.pop)))

    async def clear_session(self) -> None:
        """Remove everything."""
        await _settled(in_thread(self._log.clear))


async def _settled(doing: Awaitable[T]) -> T:
    """Wait for the end of a change, even when this task is cancelled: a thread cannot be stopped, and what follows must find it done."""
    task = asyncio.ensure_future(doing)
    cancelled: Optional[asyncio.CancelledError] = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as e:
            cancelled = cancelled or e
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # it is known, and nobody is told
        raise cancelled
    return task.result()


def _role(item: Any) -> Optional[str]:
    """Return who speaks in an item; None for what EncryptedSession made, which has nothing to read and must not change."""
    return None if "__enc__" in item else _ROLES.get(str(item.get("role")), "tool")
