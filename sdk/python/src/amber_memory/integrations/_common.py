"""What the adapters share: whose data it is, names that cannot clash, and values that arrive as they were sent."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import hashlib
import json
import math
import operator
import os
import random
import threading
import time
import zlib
from array import array
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from .._call import Caller
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
    """Return a client that waits, for the same server and identity. It is used from threads by programs that do not wait, and closed with the client that was given."""
    if isinstance(client, Amber):
        return client
    found = object.__new__(Amber)
    found._use(Caller(client._caller.connection.blocking, client._caller.settings))  # pyright: ignore[reportPrivateUsage]
    return found


class _Threads:
    """The threads in which the adapters wait. They are their own: those of the event loop are few, and a program may need them to go on."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._pool: Optional[ThreadPoolExecutor] = None
        self._lock = threading.Lock()

    def pool(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="amber")
            return self._pool


_WORKERS = 32
_threads = _Threads()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.reset)  # a copy of the process has no threads


async def in_thread(do: Callable[..., T], *args: Any, **named: Any) -> T:
    """Do something that waits without waiting for it."""
    call = functools.partial(contextvars.copy_context().run, do, *args, **named)
    return await asyncio.get_running_loop().run_in_executor(_threads.pool(), call)


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


def pack_vector(prefix: str, vector: Sequence[float]) -> Dict[str, str]:
    """Write numbers as metadata of a memory, in values whose names begin with the prefix."""
    text = pack(array("f", vector).tobytes()) if vector else ""
    return {f"{prefix}{n:02}": text[at : at + 8000] for n, at in enumerate(range(0, len(text), 8000))}


def unpack_vector(prefix: str, metadata: Mapping[str, str]) -> Optional[List[float]]:
    """Read what pack_vector has written; None where there is nothing, or something else."""
    text = "".join(metadata[k] for k in sorted(metadata) if k.startswith(prefix))
    found = array("f")
    try:
        found.frombytes(unpack(text) if text else b"")
    except ValueError:
        return None
    return found.tolist() or None


def near(a: Sequence[float], b: Sequence[float]) -> float:
    """Return how near two vectors are: the cosine, from 0 to 1 for those that do not point away from each other."""
    if len(a) != len(b):
        raise ValueError(f"the vectors have {len(a)} and {len(b)} numbers: want as many in both")
    size = math.hypot(*a) * math.hypot(*b)
    return sum(map(operator.mul, a, b)) / size if size else 0.0


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
