"""Conversations as turns of a session: what was added, in order, and what was taken back."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any, Dict, List, Optional, Sequence, Tuple, cast

from .._client import Amber
from .._errors import NotFoundError, UnreachableError
from .._models import Turn
from ._common import CHUNK, Documents, binding_for, label, pack, retries, session_for, unpack

_LIMIT = 700_000  # bytes of a turn; the limit of Amber is 1 MiB
_MARK = "amber:"  # what is no item itself begins with this


class Log:
    """One conversation of one identity. Every item is a turn, as JSON.

    An item that is taken back stays in the session, with a turn behind it that says so: of several programs that take
    back at the same time each gets another item. clear removes everything. Safe for several threads and processes.
    """

    def __init__(self, client: Amber, kind: str, name: str, exact: bool = False) -> None:
        self._client = client
        self._kind = kind
        self._name = name
        self._exact = exact
        self.session = session_for(client, kind, name)
        self._documents = Documents(client)
        self._started = False

    def add(self, role: str, item: Any) -> None:
        """Store an item at the end. Secrets are taken out of it, as of every turn, unless it is to be exact."""
        if not self._started:
            self._client.session.start(id=self.session, binding=binding_for(self._client, self._kind), name=label(self._name))
            self._started = True
        text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
        if any("\ud800" <= c <= "\udfff" for c in text):
            text = json.dumps(item, separators=(",", ":"))
        data = text.encode()
        if len(data) > _LIMIT:
            self._add_large(data)
        elif self._exact:
            self._append("tool", f"{_MARK}exact {pack(data)}")
        elif _json(self._append(role, text).content) is None:
            # A rule for secrets has left something that cannot be read, which is passed over.
            self._append("tool", f"{_MARK}exact {pack(data)}")

    def _append(self, role: str, content: str) -> Turn:
        return self._client.turn.append(self.session, content=content, role=cast(Any, role))

    def _add_large(self, data: bytes) -> None:
        key, parts = f"{self.session}-i-{uuid.uuid4().hex}", range(0, len(data), CHUNK)
        self._append("tool", f"{_MARK}large {key} {len(parts)} {hashlib.sha256(data).hexdigest()}")
        for n, at in enumerate(parts):
            self._documents.put(f"{key}-{n}", data[at : at + CHUNK])

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
            mark = self._append("tool", f"{_MARK}pop")
            taken = self._read()[1].get(mark.id)
            item = None if taken is None else self._item(taken)
            if item is not None:
                return item[0]
        return None

    def clear(self) -> None:
        """Remove everything."""
        for turn in self._turns():
            if turn.content.startswith(f"{_MARK}large "):
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
        for turn in self._turns():
            if turn.content != f"{_MARK}pop":
                kept.append(turn)
            elif kept:
                taken[turn.id] = kept.pop()
        return kept, taken

    def _item(self, turn: Turn) -> Optional[Tuple[Any]]:
        """Return the item of a turn; None for what is none, or was not written to its end."""
        if turn.content.startswith(f"{_MARK}exact "):
            try:
                return _json(unpack(turn.content.split(" ", 1)[1]).decode())
            except ValueError:
                return None
        if not turn.content.startswith(f"{_MARK}large "):
            return _json(turn.content)
        names, digest = _large(turn.content)
        parts = [self._documents.read(name)[0] for name in names]
        if not all(isinstance(p, bytes) for p in parts):
            return None
        data = b"".join(parts)
        return _json(data.decode()) if hashlib.sha256(data).hexdigest() == digest else None


def _large(content: str) -> Tuple[Sequence[str], str]:
    _, key, n, digest = content.split(" ")
    return [f"{key}-{i}" for i in range(int(n))], digest


def _json(text: str) -> Optional[Tuple[Any]]:
    try:
        return (json.loads(text),)
    except ValueError:
        return None
