"""The client."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._call import IDENTITY, AsyncCaller, AsyncConnection, Caller, Connection, Settings
from ._errors import InvalidError
from ._find import Finder, Wanted
from ._models import ContextBlock, Hit, MemoryKind, Scope, WriteAck
from ._operations import AsyncOperations, Operations

_RETRY_FOR = 30.0


def _settings(tenant: Optional[str], agent: Optional[str], identity: Mapping[str, Optional[str]], timeout: Optional[float], retry_for: float) -> Settings:
    if timeout is not None and timeout <= 0:
        raise InvalidError(f"timeout is not valid: want more than 0 seconds, found {timeout:g}")
    if retry_for < 0:
        raise InvalidError(f"retry_for is not valid: want 0 seconds or more, found {retry_for:g}")
    return Settings(
        tenant=tenant or os.environ.get("AMBER_TENANT") or "default",
        agent=agent or os.environ.get("AMBER_AGENT") or "default",
        identity=_identity({}, identity),
        timeout=timeout,
        retry_for=retry_for,
    )


def _text(name: str, value: Any) -> str:
    """Return a text that was given as one. Anything else would be sent, and found to be wrong far away or not at all."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is of type {type(value).__name__}, want str")
    return value


def _identity(old: Mapping[str, str], new: Mapping[str, Optional[str]]) -> Dict[str, str]:
    both: Dict[str, Optional[str]] = {**old, **{k: v for k, v in new.items() if v is not None}}
    for name, value in both.items():
        if value == "":
            raise InvalidError(f"{name} is empty: want an id, or leave it out")
    return {k: v for k, v in both.items() if v is not None and k in IDENTITY}


class Amber(Operations):
    """Durable memory for agents.

    Without arguments it asks the server that $AMBER_REMOTE names, else the server of the home ($AMBER_HOME), and
    where none runs it starts one for this program, which ends with it.

    A client that is bound to a user, project, session or workspace writes memories for them alone, and finds
    theirs and those for everybody. Safe for several threads.

        with Amber(user_id="ada") as amber:
            amber.remember("Ada prefers short answers")
            for hit in amber.recall("how should I answer"):
                print(hit.text)
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        token: Optional[str] = None,
        token_file: Optional[str] = None,
        ca: Optional[str] = None,
        home: Optional[str] = None,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        binary: Optional[str] = None,
        start_server: bool = True,
        timeout: Optional[float] = None,
        retry_for: float = _RETRY_FOR,
    ) -> None:
        identity = {"user_id": user_id, "project_id": project_id, "session_id": session_id, "workspace_id": workspace_id}
        settings = _settings(tenant, agent, identity, timeout, retry_for)
        wanted = Wanted(url=url, token=token, token_file=token_file, ca=ca, home=home, binary=binary, start_server=start_server)
        self._use(Caller(Connection(Finder(wanted)), settings))

    def _use(self, caller: Caller) -> None:
        self._caller = caller
        super().__init__(caller)

    def scoped(
        self,
        *,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> Amber:
        """Return a client for another agent or identity over the same connection. What is not named stays."""
        new = {"user_id": user_id, "project_id": project_id, "session_id": session_id, "workspace_id": workspace_id}
        s = self._caller.settings
        other = object.__new__(Amber)
        other._use(Caller(self._caller.connection, replace(s, tenant=tenant or s.tenant, agent=agent or s.agent, identity=_identity(s.identity, new))))
        return other

    def remember(
        self,
        content: str,
        *,
        kind: Optional[MemoryKind] = None,
        title: Optional[str] = None,
        topic: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        metadata: Optional[Mapping[str, str]] = None,
        scope: Optional[Scope] = None,
        idempotency_key: Optional[str] = None,
    ) -> WriteAck:
        """Store a memory for the identity of this client. When it returns, the memory survives a crash."""
        return self.memory.write(content=_text("content", content), kind=kind, title=title, topic=topic, tags=tags, metadata=metadata, scope=scope, idempotency_key=idempotency_key)

    def recall(self, question: str, *, limit: Optional[int] = None, min_score: Optional[float] = None, kinds: Optional[Sequence[MemoryKind]] = None, **more: Any) -> List[Hit]:
        """Find what best answers a question, best first. More arguments are those of memory.recall."""
        return self.memory.recall(text=_text("question", question), limit=limit, min_score=min_score, kinds=kinds, **more).hits

    def context(self, goal: Optional[str] = None, *, max_bytes: Optional[int] = None, **more: Any) -> ContextBlock:
        """Build the block of memory that is put before a prompt. More arguments are those of memory.context."""
        return self.memory.context(goal=None if goal is None else _text("goal", goal), max_bytes=max_bytes, **more)

    def forget(self, id: str) -> None:
        """Delete a memory; a tombstone stays. memory.erase removes its text for good."""
        self.memory.forget(_text("id", id))

    def close(self) -> None:
        """Close the connection, and let go of a server that was started."""
        self._caller.connection.close()

    def __enter__(self) -> Amber:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncAmber(AsyncOperations):
    """Durable memory for agents, for programs that do not wait. See Amber."""

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        token: Optional[str] = None,
        token_file: Optional[str] = None,
        ca: Optional[str] = None,
        home: Optional[str] = None,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        binary: Optional[str] = None,
        start_server: bool = True,
        timeout: Optional[float] = None,
        retry_for: float = _RETRY_FOR,
    ) -> None:
        identity = {"user_id": user_id, "project_id": project_id, "session_id": session_id, "workspace_id": workspace_id}
        settings = _settings(tenant, agent, identity, timeout, retry_for)
        wanted = Wanted(url=url, token=token, token_file=token_file, ca=ca, home=home, binary=binary, start_server=start_server)
        self._use(AsyncCaller(AsyncConnection(Finder(wanted)), settings))

    def _use(self, caller: AsyncCaller) -> None:
        self._caller = caller
        super().__init__(caller)

    def scoped(
        self,
        *,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> AsyncAmber:
        """Return a client for another agent or identity over the same connection. What is not named stays."""
        new = {"user_id": user_id, "project_id": project_id, "session_id": session_id, "workspace_id": workspace_id}
        s = self._caller.settings
        other = object.__new__(AsyncAmber)
        other._use(AsyncCaller(self._caller.connection, replace(s, tenant=tenant or s.tenant, agent=agent or s.agent, identity=_identity(s.identity, new))))
        return other

    async def remember(
        self,
        content: str,
        *,
        kind: Optional[MemoryKind] = None,
        title: Optional[str] = None,
        topic: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        metadata: Optional[Mapping[str, str]] = None,
        scope: Optional[Scope] = None,
        idempotency_key: Optional[str] = None,
    ) -> WriteAck:
        """Store a memory for the identity of this client. When it returns, the memory survives a crash."""
        return await self.memory.write(content=_text("content", content), kind=kind, title=title, topic=topic, tags=tags, metadata=metadata, scope=scope, idempotency_key=idempotency_key)

    async def recall(self, question: str, *, limit: Optional[int] = None, min_score: Optional[float] = None, kinds: Optional[Sequence[MemoryKind]] = None, **more: Any) -> List[Hit]:
        """Find what best answers a question, best first. More arguments are those of memory.recall."""
        return (await self.memory.recall(text=_text("question", question), limit=limit, min_score=min_score, kinds=kinds, **more)).hits

    async def context(self, goal: Optional[str] = None, *, max_bytes: Optional[int] = None, **more: Any) -> ContextBlock:
        """Build the block of memory that is put before a prompt. More arguments are those of memory.context."""
        return await self.memory.context(goal=None if goal is None else _text("goal", goal), max_bytes=max_bytes, **more)

    async def forget(self, id: str) -> None:
        """Delete a memory; a tombstone stays. memory.erase removes its text for good."""
        await self.memory.forget(_text("id", id))

    async def close(self) -> None:
        """Close the connection, and let go of a server that was started."""
        await self._caller.connection.close()

    async def __aenter__(self) -> AsyncAmber:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
