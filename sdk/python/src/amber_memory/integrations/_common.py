"""What the adapters share: whose data it is, names that cannot clash, and values that arrive as they were sent."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import threading
import time
import zlib
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, TypeVar, Union

from .._call import Caller, Connection
from .._client import Amber, AsyncAmber
from .._errors import ConflictError, DamagedError, InvalidError, NotFoundError

T = TypeVar("T")

Client = Union[Amber, AsyncAmber]
"""A client of either kind."""

CHUNK = 1_500_000
"""The most bytes of a value that are stored in one piece; the limit of Amber is 4 MiB as text."""

_PATIENCE = 30.0

# Values are written with consonants alone. They spell no word, and have no sign, that a rule for secrets looks for, so
# that what is stored is what was sent. Base64 can spell anything.
_WRITE = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")
_READ = str.maketrans("bcdfghjklmnpqrst", "0123456789abcdef")


def blocking(client: Client) -> Amber:
    """Return a client that waits, for the same server and identity. It is used from threads by programs that do not wait."""
    if isinstance(client, Amber):
        return client
    found = object.__new__(Amber)
    found._use(Caller(Connection(client._caller.connection.finder), client._caller.settings))  # pyright: ignore[reportPrivateUsage]
    return found


async def in_thread(do: Callable[..., T], *args: Any, **named: Any) -> T:
    """Do something that waits without waiting for it."""
    return await asyncio.to_thread(do, *args, **named)


def identity(client: Amber) -> Dict[str, str]:
    """Return whom a client is bound to."""
    return dict(client._caller.settings.identity)  # pyright: ignore[reportPrivateUsage]


def digest(*parts: Any) -> str:
    """Return a name of 40 letters and digits for a list of parts, whatever is in them."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()[:40]


def session_for(client: Amber, kind: str, name: str) -> str:
    """Return the id of the session in which somebody's conversation is kept. Another identity has another one."""
    if not name:
        raise InvalidError(f"the id of the {kind} is empty: want a name")
    return f"{kind}-{digest(kind, identity(client), name)}"


def binding_for(client: Amber, kind: str) -> str:
    """Return what the sessions of a kind of one identity are bound to, so that they can be listed."""
    who = identity(client)
    return f"{kind}-{digest(kind, who)[:16]}" if who else kind


def label(name: str) -> str:
    """Make of any name one that a session can have."""
    return "".join(c if c.isprintable() else " " for c in name)[:50].strip() or "unnamed"


def pack(data: bytes) -> str:
    """Write bytes in a way that no rule for secrets changes."""
    return zlib.compress(data, 1).hex().translate(_WRITE)


def unpack(text: str) -> bytes:
    """Read what pack has written. Errors: ValueError."""
    try:
        return zlib.decompress(bytes.fromhex(text.translate(_READ)))
    except zlib.error as e:
        raise ValueError(str(e)) from None


def retries() -> Iterator[None]:
    """Give another try, after growing pauses, until somebody has had enough of it."""
    end, pause = time.monotonic() + _PATIENCE, 0.005
    yield
    while time.monotonic() < end:
        time.sleep(random.uniform(0.2, 1) * pause)
        pause = min(0.5, pause * 2)
        yield


class Locks:
    """A lock for each name, a bounded number of them. They spare this process conflicts with itself."""

    def __init__(self) -> None:
        self._locks = [threading.Lock() for _ in range(64)]

    def __call__(self, name: str) -> threading.Lock:
        return self._locks[hash(name) % len(self._locks)]


class Documents:
    """Values of any content as states of sessions, each under a name."""

    def __init__(self, client: Amber) -> None:
        self._client = client

    def read(self, name: str) -> Tuple[Any, int]:
        """Return a value and its version; None and 0 where there is none. Errors: DamagedError."""
        try:
            found = self._client.state.get(name)
        except NotFoundError:
            return None, 0
        return decode(name, found.document), found.version

    def write(self, name: str, value: Any, version: int) -> int:
        """Store a value over a version, 0 for none. Errors: ConflictError where another one is stored."""
        sent = encode(value)
        try:
            stored = self._client.state.save(name, document=sent, if_version=version)
        except ConflictError:
            # It may have been stored by an attempt whose answer was lost.
            found = self._state(name)
            if found is None or found[0] != sent:
                raise
            return found[1]
        same(name, sent, stored.document)
        return stored.version

    def put(self, name: str, value: Any) -> None:
        """Store a value over whatever is there."""
        version = 0
        conflict: Optional[ConflictError] = None
        for _ in retries():
            try:
                self.write(name, value, version)
                return
            except ConflictError as e:
                found, conflict = self._state(name), e
                version = 0 if found is None else found[1]
        raise conflict or AssertionError

    def delete(self, name: str) -> None:
        """Remove a value; none is no error."""
        self._client.state.delete(name)

    def _state(self, name: str) -> Optional[Tuple[Any, int]]:
        try:
            found = self._client.state.get(name)
        except NotFoundError:
            return None
        return found.document, found.version


def encode(value: Any) -> Dict[str, Any]:
    """Make of a value, bytes or JSON, a document that arrives as it is."""
    if isinstance(value, bytes):
        return {"v": 1, "b": pack(value)}
    return {"v": 1, "j": pack(json.dumps(value, separators=(",", ":")).encode("ascii"))}


def decode(name: str, document: Any) -> Any:
    """Read what encode has made. Errors: DamagedError."""
    try:
        return unpack(document["b"]) if "b" in document else json.loads(unpack(document["j"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DamagedError(f"the state {name} cannot be read: want what an adapter has written, found something else") from None


def same(name: str, sent: Any, stored: Any) -> None:
    """Check that a value was stored as it was sent. Errors: InvalidError."""
    if sent != stored:
        raise InvalidError(f"the state {name} was changed when it was stored: a rule for secrets matches it", hint="look at redact.rules, or set write.redact to false")
