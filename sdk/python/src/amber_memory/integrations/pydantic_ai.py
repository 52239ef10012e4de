"""Pydantic AI: conversations that last, histories, and tools to remember and recall.

    store = AmberConversationStore(Amber(user_id="ada"))
    conversation = await store.load("conversation-1") or Conversation(conversation_id="conversation-1")
    agent = Agent(model, toolsets=[memory_toolset(Amber(user_id="ada"))])
    await store.save(await agent.run("Hello", conversation=conversation))
"""

from __future__ import annotations

import uuid
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import ConversationConflict, ConversationEntry, ConversationRecord, ConversationStore
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.toolsets import FunctionToolset

from .._errors import ConflictError, NotFoundError
from ._common import Client, Documents, binding_for, blocking, digest, identity, in_thread, label, session_for
from ._log import Log

__all__ = ["AmberConversationStore", "AmberHistory", "memory_toolset"]

_KIND = "pydantic-ai-store"
_FEW = 8  # entries that are read one by one
_RECORD: TypeAdapter[ConversationRecord] = TypeAdapter(ConversationRecord)


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


class AmberConversationStore(ConversationStore):
    """Keeps conversations in Amber: a message is a turn of a session, and what else there is of a conversation a state.

    Conversations belong to the identity that the client is bound to; scope is a word of the program's own beside it. Entries
    are stored before the record that makes them part of the conversation, so a save is seen whole or not at all. delete
    removes the messages, too, but for those that a fork shares, which go with the last one that does. Secrets are taken out of
    messages before they are stored, as of everything that is said; exact=True keeps them to the byte, and out of what can be
    searched. A message that was changed so is another one for a save that compares.
    """

    def __init__(self, client: Client, *, exact: bool = False) -> None:
        self._amber = blocking(client)
        self._documents = Documents(self._amber)
        self._exact = exact

    async def read_record(self, conversation_id: str) -> Optional[ConversationRecord]:
        """See ConversationStore."""
        found = await in_thread(self._record, self._session(conversation_id))
        return None if found is None else found[0]

    async def read_records(self, *, scope: Optional[str] = None, limit: Optional[int] = None) -> Sequence[ConversationRecord]:
        """See ConversationStore."""
        found = [r for r, _, _ in await in_thread(lambda: [*self._records()]) if scope is None or r.scope == scope]
        return sorted(found, key=lambda r: r.updated_at, reverse=True)[:limit]

    async def write_record(self, record: ConversationRecord, *, new_entries: Sequence[ConversationEntry] = (), expected_revision: Optional[str]) -> None:
        """See ConversationStore."""
        await in_thread(self._write, record, new_entries, expected_revision)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """See ConversationStore."""
        await in_thread(self._delete, conversation_id, expected_revision)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """See ConversationStore. Errors: KeyError."""
        return (await in_thread(self._entry, entry_id))[0]

    async def read_history(self, head_id: Optional[str], *, limit: Optional[int] = None) -> List[ConversationEntry]:
        """See ConversationStore."""
        return [entry for entry, _ in await in_thread(self._history, head_id, limit)]

    def _session(self, conversation_id: str) -> str:
        return session_for(self._amber, _KIND, conversation_id)

    def _log(self, session: str) -> Log:
        log = Log(self._amber, _KIND, session, self._exact)
        log.session = session
        return log

    def _record(self, session: str) -> Optional[Tuple[ConversationRecord, str, int]]:
        """Return a record, the session with its turns, and the version of its state."""
        value, version = self._documents.read(f"{session}-record")
        return None if not value or not value["log"] else (_RECORD.validate_python(value["record"]), value["log"], version)

    def _records(self) -> Iterator[Tuple[ConversationRecord, str, int]]:
        for session in self._amber.session.list(binding=binding_for(self._amber, _KIND)):
            found = self._record(session.id)
            if found is not None:
                yield found

    def _write(self, record: ConversationRecord, new: Sequence[ConversationEntry], expected: Optional[str]) -> None:
        session = self._session(record.conversation_id)
        found = self._record(session)
        if (None if found is None else found[0].revision) != expected:
            raise ConversationConflict(record.conversation_id)
        if record.head_id is not None and record.head_id not in {e.id for e in new}:
            try:
                self._entry(record.head_id)
            except KeyError:
                raise ConversationConflict(record.conversation_id) from None
        # A conversation that is made again has other turns than the one that was deleted.
        log = self._log(f"{session}-{uuid.uuid4().hex[:12]}" if found is None else found[1])
        version = self._documents.read(f"{session}-record")[1] if found is None else found[2]
        for entry in new:
            message = ModelMessagesTypeAdapter.dump_python([entry.message], mode="json")[0]
            role = "assistant" if message.get("kind") == "response" else "user"
            log.place(role, {"id": entry.id, "parent": entry.parent_id, "message": message}, self._turn(entry.id))
        try:
            self._documents.write(f"{session}-record", {"log": log.session, "record": _RECORD.dump_python(record, mode="json")}, version)
        except ConflictError:
            raise ConversationConflict(record.conversation_id) from None
        if found is None:
            self._list(session, record.conversation_id)

    def _list(self, session: str, conversation_id: str) -> None:
        self._amber.session.start(id=session, binding=binding_for(self._amber, _KIND), name=label(conversation_id))

    def _delete(self, conversation_id: str, expected: str) -> None:
        session = self._session(conversation_id)
        found = self._record(session)
        if found is None or found[0].revision != expected:
            raise ConversationConflict(conversation_id)
        used = self._used(found[0], found[1])
        try:
            self._documents.write(f"{session}-record", {"log": ""}, found[2])
        except ConflictError:
            raise ConversationConflict(conversation_id) from None
        for record, log, _ in self._records():
            if record.forked_from is not None or log in used:
                used -= self._used(record, log)
        for log in used:
            self._log(log).clear()
        try:
            self._amber.session.delete(session)
        except NotFoundError:
            pass
        if self._record(session) is not None:  # somebody has made it again
            self._list(session, conversation_id)

    def _used(self, record: ConversationRecord, log: str) -> Set[str]:
        """Return the sessions in which a conversation has turns."""
        found = {log}
        for tip in (record.head_id, *record.branches):
            try:
                found.update(log for _, log in self._history(tip, None))
            except KeyError:
                pass
        return found

    def _turn(self, entry_id: str) -> str:
        return str(uuid.UUID(digest(_KIND, identity(self._amber), entry_id)[:32]))

    def _entry(self, entry_id: str) -> Tuple[ConversationEntry, str]:
        """Return an entry, and the session with its turn. Errors: KeyError."""
        found = self._around(entry_id, True).get(entry_id)
        if found is None:
            raise KeyError(entry_id)
        return found

    def _around(self, entry_id: str, alone: bool) -> Dict[str, Tuple[ConversationEntry, str]]:
        """Read an entry, and those of the same session unless it is to be alone and can be read so."""
        try:
            turn = self._amber.turn.get(self._turn(entry_id))
        except NotFoundError:
            return {}
        log = self._log(turn.session_id)
        item = log.item(turn) if alone else None
        items = log.placed() if item is None else [item]
        return {i["id"]: (_entry(i), turn.session_id) for i in items}

    def _history(self, head_id: Optional[str], limit: Optional[int]) -> List[Tuple[ConversationEntry, str]]:
        known: Dict[str, Tuple[ConversationEntry, str]] = {}
        found: List[Tuple[ConversationEntry, str]] = []
        id = head_id
        while id is not None and (limit is None or len(found) < limit):
            if id not in known:
                known.update(self._around(id, limit is not None and limit <= _FEW))
            found.append(known[id])
            id = known[id][0].parent_id
        return found[::-1]


def _entry(item: Any) -> ConversationEntry:
    return ConversationEntry(id=item["id"], parent_id=item["parent"], message=ModelMessagesTypeAdapter.validate_python([item["message"]])[0])


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
