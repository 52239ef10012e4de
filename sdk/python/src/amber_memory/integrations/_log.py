"""Conversations as turns of a session: what was added, in order, and what was taken back."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from typing import Any, Dict, List, Optional, Sequence, Tuple, cast

from .._client import Amber
from .._errors import NotFoundError, UnreachableError
from .._models import Turn
from ._common import CHUNK, Documents, binding_for, label, pack, retries, session_for, unpack

_LIMIT = 700_000  # bytes of a turn; the limit of Amber is 1 MiB

# What is no item as JSON begins with these.
_EXACT = "amber:exact "
_LARGE = "amber:large "
_POP = "amber:pop"
_GROUP = "amber:group"  # the turns whose ids begin like that of this one belong together
_END = "amber:end"

_PARTS = 10_000  # of a large item
_DIGITS = 8  # of an id, in which those of a group differ
_LAST, _LATER = "fffffffe", "ffffffff"


class Log:
    """One conversation of one identity. Every item is a turn, as JSON.

    An item that is taken back stays in the session, with a turn behind it that says so: of several programs that take
    back at the same time each gets another item. Of several items that are added together, all or none are seen: a turn
    in front of them says that they belong together, and they count from the last one on. clear removes everything. Safe
    for several threads and processes.
    """

    def __init__(self, client: Amber, kind: str, name: str, exact: bool = False) -> None:
        self._client = client
        self._kind = kind
        self._name = name
        self._exact = exact
        self.session = session_for(client, kind, name)
        self._documents = Documents(client)
        self._lock = threading.Lock()
        self._started = False

    def add(self, items: Sequence[Tuple[Optional[str], Any]]) -> None:
        """Store items, each with its role, at the end: all or none, in order and with nothing between them.

        Secrets are taken out of them, as of every turn, unless they are to be exact; one without a role always is. Errors: TypeError and ValueError for
        what JSON cannot say; nothing is stored then.
        """
        sent = [(role, _bytes(item)) for role, item in items]
        if not sent:
            return
        with self._lock:
            if not self._started:
                self._client.session.start(id=self.session, binding=binding_for(self._client, self._kind), name=label(self._name))
                self._started = True
            ids = _Ids(len(sent) > 1)
            if ids.group:
                self._append("tool", _GROUP, ids.next())
            for n, (role, data) in enumerate(sent):
                self._add(role, data, ids, n == len(sent) - 1)

    def _add(self, role: Optional[str], data: bytes, ids: _Ids, last: bool) -> None:
        if len(data) > _LIMIT:
            self._add_large(data, ids.next())
            if last and ids.group:
                self._append("tool", _END, ids.last())
            return
        id = ids.last() if last else ids.next()
        if role is not None and not self._exact:
            if _json(self._append(role, data.decode(), id).content) is not None:
                return
            # A rule for secrets has left something that cannot be read, which is passed over.
            id = ids.last_again() if last else ids.next()
        self._append("tool", f"{_EXACT}{pack(data)}", id)

    def _append(self, role: str, content: str, id: Optional[str] = None) -> Turn:
        return self._client.turn.append(self.session, content=content, role=cast(Any, role), id=id)

    def _add_large(self, data: bytes, id: Optional[str]) -> None:
        key, parts = f"{self.session}-i-{uuid.uuid4().hex}", range(0, len(data), CHUNK)
        self._append("tool", f"{_LARGE}{key} {len(parts)} {hashlib.sha256(data).hexdigest()}", id)
        for n, at in enumerate(parts):
            self._documents.put(f"{key}-{n}", data[at : at + CHUNK])

    def place(self, role: str, item: Any, id: str) -> None:
        """Store an item under the id of its turn, once. It says itself which one it is: it may be stored under another."""
        data = _bytes(item)
        if len(data) > _LIMIT:
            self._add_large(data, id)
        elif self._exact:
            self._append("tool", f"{_EXACT}{pack(data)}", id)
        elif _json(self._append(role, data.decode(), id).content) is None:
            self._append("tool", f"{_EXACT}{pack(data)}")

    def placed(self) -> List[Any]:
        """Return all items, oldest first."""
        return [item[0] for item in map(self._item, self._turns()) if item is not None]

    def item(self, turn: Turn) -> Any:
        """Return the item of a turn; None for what is none."""
        found = self._item(turn)
        return None if found is None else found[0]

    def items(self, limit: Optional[int] = None) -> List[Any]:
        """Return the items, or the last ones, oldest first."""
        if limit is not None and limit <= 0:
            return []
        kept, _ = self._read()
        found: List[Any] = []
        for turn in reversed(kept):
            item = self._item(turn)
            if item is not None:
                found.append(item[0])
                if len(found) == limit:
                    break
        return found[::-1]

    def pop(self) -> Optional[Any]:
        """Take the last item back and return it; None where there is none."""
        while self._read()[0]:
            mark = self._append("tool", _POP)
            taken = self._read()[1].get(mark.id)
            item = None if taken is None else self._item(taken)
            if item is not None:
                return item[0]
        return None

    def clear(self) -> None:
        """Remove everything."""
        for turn in self._turns():
            if turn.content.startswith(_LARGE):
                for name in _large(turn.content)[0]:
                    self._documents.delete(name)
        self._started = False
        try:
            self._client.session.delete(self.session)
        except NotFoundError:
            self._client.turn.delete(self.session)

    def _turns(self) -> List[Turn]:
        error: Optional[UnreachableError] = None
        for _ in retries():
            try:
                return [*self._client.turn.list(self.session).lines()]
            except UnreachableError as e:
                error = e
        raise error or AssertionError

    def _read(self) -> Tuple[List[Turn], Dict[str, Turn]]:
        """Return the turns that were not taken back, and what each mark has taken back. Every reader comes to the same."""
        kept: List[Turn] = []
        taken: Dict[str, Turn] = {}
        groups: Dict[str, List[Turn]] = {}  # those that are not at their end
        for turn in self._turns():
            key = turn.id[:-_DIGITS]
            if turn.content == _POP:
                if kept:
                    taken[turn.id] = kept.pop()
            elif turn.content == _GROUP:
                groups[key] = []
            elif key not in groups:
                kept.append(turn)
            else:
                groups[key].append(turn)
                if turn.id[-_DIGITS:] >= _LAST and _readable(turn.content):
                    kept += groups.pop(key)
        return kept, taken

    def _item(self, turn: Turn) -> Optional[Tuple[Any]]:
        """Return the item of a turn; None for what is none, or was not written to its end."""
        if turn.content.startswith(_EXACT):
            try:
                return _json(unpack(turn.content.split(" ", 1)[1]).decode())
            except ValueError:
                return None
        if not turn.content.startswith(_LARGE):
            return _json(turn.content)
        names, digest = _large(turn.content)
        parts = [self._documents.read(name)[0] for name in names]
        if not all(isinstance(p, bytes) for p in parts):
            return None
        data = b"".join(parts)
        return _json(data.decode()) if hashlib.sha256(data).hexdigest() == digest else None


class _Ids:
    """The ids of the turns of items that are added together. They differ in their last digits alone."""

    def __init__(self, group: bool) -> None:
        self.group = group
        self._key = str(uuid.uuid4())[:-_DIGITS]
        self._n = -1

    def _id(self, end: str) -> Optional[str]:
        return self._key + end if self.group else None

    def next(self) -> Optional[str]:
        self._n += 1
        return self._id(f"{self._n:08x}")

    def last(self) -> Optional[str]:
        return self._id(_LAST)

    def last_again(self) -> Optional[str]:
        return self._id(_LATER)


def _bytes(item: Any) -> bytes:
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    if any("\ud800" <= c <= "\udfff" for c in text):
        text = json.dumps(item, separators=(",", ":"))
    return text.encode()


def _readable(content: str) -> bool:
    return content == _END or content.startswith(_EXACT) or _json(content) is not None


def _large(content: str) -> Tuple[Sequence[str], str]:
    """Return the names of the parts of a large item, and its checksum. Nobody has to keep others from writing turns."""
    try:
        _, key, n, digest = content.split(" ")
        return [f"{key}-{i}" for i in range(min(int(n), _PARTS))], digest
    except ValueError:
        return [], ""


def _json(text: str) -> Optional[Tuple[Any]]:
    try:
        return (json.loads(text),)
    except ValueError:
        return None
