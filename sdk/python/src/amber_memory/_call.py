"""How a request is made: what is sent, when it is repeated, and how answers are read."""

from __future__ import annotations

import json
import os
import random
import threading
import time
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import (
    Any,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    BinaryIO,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Type,
    TypeVar,
    Union,
    cast,
)
from urllib.parse import quote

import anyio
import anyio.to_thread
import httpx
from pydantic import TypeAdapter, ValidationError

from ._errors import AmberError, InternalError, InvalidError, UnreachableError, of_answer
from ._find import Finder, Place
from ._model import plain, timestamp

T = TypeVar("T")

Upload = Union[bytes, BinaryIO, Iterable[bytes]]
"""What can be sent as a file."""

AsyncUpload = Union[bytes, BinaryIO, Iterable[bytes], AsyncIterable[bytes]]
"""What can be sent as a file without waiting for it."""

MAX_ANSWER = 64 << 20
"""The most bytes of an answer that is read as a whole."""

IDENTITY = ("session_id", "user_id", "project_id", "workspace_id")
"""The identities that a memory can be bound to, the narrowest first."""

# Operations that are asked and told in the name of somebody.
_NAMED = frozenset(("memory.write", "memory.write_batch", "memory.recall", "memory.context", "memory.list", "relation.neighbours", "snapshot.recall", "snapshot.memories"))

# Operations that are done once for each id, so that they can be repeated where nobody knows whether they were done.
_ONCE = frozenset(("turn.append", "compaction.add", "approval.request"))

_REPEATED = ("busy", "unreachable")

# How long an answer may take, in seconds. A server gives up a little earlier.
_TIMEOUT = 60.0
_LONG_TIMEOUT = 65 * 60.0


@dataclass(frozen=True)
class Operation:
    """One operation of the API."""

    id: str
    method: str
    path: str
    answer: str
    key: bool = False
    paged: bool = False
    long: bool = False  # the server may take an hour


@dataclass(frozen=True)
class Settings:
    """What a client says with every request."""

    tenant: str
    agent: str
    identity: Mapping[str, str]
    timeout: Optional[float]
    retry_for: float

    def patience(self, o: Operation) -> float:
        """Return how long an answer may take, in seconds."""
        if self.timeout is not None:
            return self.timeout
        return _LONG_TIMEOUT if o.long else _TIMEOUT

    def timeouts(self, o: Operation) -> Dict[str, Optional[float]]:
        """Return the bounds of one request. A stream may be silent for as long as nothing happens."""
        patience = self.patience(o)
        read = None if o.answer == "stream" else patience
        return httpx.Timeout(patience, connect=min(patience, 10.0), read=read, pool=None).as_dict()


@dataclass(frozen=True)
class Request:
    """A request as it is sent, also when it is sent again."""

    operation: Operation
    method: str
    path: str
    query: List[tuple[str, Union[str, int, float, bool, None]]]
    headers: Dict[str, str]
    content: Any
    repeatable: bool


def prepare(
    s: Settings,
    o: Operation,
    path: Optional[Mapping[str, Any]] = None,
    query: Optional[Mapping[str, Any]] = None,
    headers: Optional[Mapping[str, Any]] = None,
    body: Optional[Mapping[str, Any]] = None,
    data: Any = None,
    key: Optional[str] = None,
) -> Request:
    """Make the request of an operation. The path names the tenant and the agent of the client."""
    variables = {"tenant": s.tenant, "agent": s.agent, **(path or {})}
    where = o.path
    for name, value in variables.items():
        text = str(value)
        if text in ("", ".", ".."):
            raise InvalidError(f"{name} is not valid: want a name, found {text!r}")
        where = where.replace("{" + name + "}", quote(text, safe=""))
    query, body = dict(query or {}), None if body is None else dict(body)
    if o.id in _ONCE and body is not None and body.get("id") is None and key is None:
        body["id"] = str(uuid.uuid4())
    if o.id in _NAMED:
        _name(s.identity, o, query, body)
    h = {k: _header(v) for k, v in (headers or {}).items() if v is not None}
    if o.key:
        h["Idempotency-Key"] = key or str(uuid.uuid4())
    content: Any = data
    repeatable = data is None or isinstance(data, bytes)
    if body is not None:
        content = json.dumps({k: plain(v) for k, v in body.items() if v is not None}, ensure_ascii=False, allow_nan=False).encode()
        h["Content-Type"] = "application/json"
    elif data is not None:
        h["Content-Type"] = "application/octet-stream"
    return Request(o, o.method, where, list(_pairs(query)), h, content, repeatable)


def _header(value: Any) -> str:
    return f'"{value}"' if isinstance(value, int) else str(value)


def _name(identity: Mapping[str, str], o: Operation, query: Dict[str, Any], body: Optional[Dict[str, Any]]) -> None:
    """Put the identity of the client where the call names none. What is written for everybody has none."""
    if not identity:
        return
    if o.id == "memory.write_batch" and body is not None:
        body["items"] = [_named_item(identity, plain(i)) for i in body.get("items") or ()]
        return
    target = query if body is None else body
    if o.id == "memory.write" and target.get("scope") == "global" or target.get("all"):
        return
    for name, value in identity.items():
        if name in target and target[name] is None:
            target[name] = value


def _named_item(identity: Mapping[str, str], item: Dict[str, Any]) -> Dict[str, Any]:
    return item if item.get("scope") == "global" else {**identity, **item}


def _pairs(query: Mapping[str, Any]) -> Iterator[tuple[str, Union[str, int, float, bool, None]]]:
    for name, value in query.items():
        if value is None:
            continue
        for v in _each(value):
            if isinstance(v, bool):
                yield name, "true" if v else "false"
            elif isinstance(v, datetime):
                yield name, timestamp(v)
            else:
                yield name, str(v)


def _each(value: Any) -> Any:
    return cast(Any, value) if isinstance(value, (list, tuple, set, frozenset)) else (value,)


@lru_cache(maxsize=None)
def _adapter(of: Any) -> TypeAdapter[Any]:
    return TypeAdapter(of)


def read(of: Any, body: bytes, o: Operation) -> Any:
    """Read an answer. Errors: InternalError for one that is not as the API says."""
    try:
        return _adapter(of).validate_json(body)
    except ValidationError as e:
        where = "; ".join(".".join(str(p) for p in x["loc"]) + ": " + x["msg"] for x in e.errors(include_input=False, include_url=False)[:3])
        raise InternalError(f"the answer to {o.id} is not as expected: {where}") from None


class _Attempts:
    """Decides whether a request is sent again, and after which pause."""

    def __init__(self, s: Settings, r: Request) -> None:
        self._end = time.monotonic() + s.retry_for
        self._request = r
        self._n = 0

    def after(self, error: AmberError, sent: bool, wait: str = "") -> float:
        """Return the pause before the next attempt; raises the error where there is none."""
        if error.kind not in _REPEATED or sent and not self._request.repeatable:
            raise error
        pause = min(2.0, 0.025 * 2.0**self._n) * random.uniform(0.5, 1)
        if wait.isdigit():
            pause = max(pause, min(float(wait), 30.0))
        self._n += 1
        if time.monotonic() + pause > self._end:
            raise error
        return pause


def _broken(e: httpx.HTTPError, s: Settings, r: Request, place: Place) -> tuple[AmberError, bool]:
    """Say what is wrong with a connection, and whether the request may have arrived. One that takes too long is not sent again."""
    at = "the private socket" if place.socket else place.url
    if isinstance(e, (httpx.ReadTimeout, httpx.WriteTimeout)):
        raise UnreachableError(f"the server at {at} did not answer within {s.patience(r.operation):g} seconds") from e
    sent = not isinstance(e, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    return UnreachableError(f"the server at {at} cannot be reached: {e or type(e).__name__}"), sent


def _options(place: Place) -> Dict[str, Any]:
    headers = {"User-Agent": "amber-memory-python"}
    if place.token:
        headers["Authorization"] = f"Bearer {place.token}"
    return {"base_url": place.url, "headers": headers, "follow_redirects": False, "trust_env": place.fixed and place.socket is None}


def _verify(place: Place) -> Any:
    """Say how certificates are checked. Where there are none, those of the system are not read, which takes long."""
    if place.url.startswith("http://"):
        return False
    if place.ca is None:
        return True
    import ssl

    try:
        return ssl.create_default_context(cafile=place.ca)
    except OSError as e:
        raise InvalidError(f"the certificates in {place.ca} cannot be read: {e.strerror or type(e).__name__}") from e


_LIMITS = httpx.Limits(max_connections=256, max_keepalive_connections=64, keepalive_expiry=60)


class Connection:
    """The connection to a server, shared by clients that differ in whom they speak for."""

    def __init__(self, finder: Finder) -> None:
        self.finder = finder
        self.closed = False
        """Whether it was closed. It opens again for a request that comes later."""
        self._lock = threading.Lock()
        self._open: Dict[Place, tuple[int, httpx.Client]] = {}

    def client(self, s: Settings) -> tuple[httpx.Client, Place]:
        place = self.finder.find()
        with self._lock:
            pid, client = self._open.get(place, (0, None))
            if client is None or pid != os.getpid():
                transport = httpx.HTTPTransport(uds=place.socket, verify=_verify(place), limits=_LIMITS) if place.socket or place.ca else None
                client = httpx.Client(transport=transport, verify=_verify(place), limits=_LIMITS, **_options(place))
                self._open[place] = os.getpid(), client
            return client, place

    def lost(self, place: Place) -> None:
        self.finder.lost(place)

    def close(self) -> None:
        self.closed = True
        with self._lock:
            all_, self._open = list(self._open.values()), {}
        for pid, client in all_:
            if pid == os.getpid():
                client.close()
        self.finder.close()


class Caller:
    """Makes requests and waits for them."""

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self.connection = connection
        self.settings = settings

    def body(self, r: Request) -> bytes:
        """Send a request and read the answer. Errors: those of the server, by kind."""
        return self._until(r, "application/json", _whole)

    def open(self, r: Request, accept: str) -> httpx.Response:
        """Send a request and return the answer, which the caller reads and closes. Errors: those of the server, by kind."""
        return self._until(r, accept, lambda response: response)

    def _until(self, r: Request, accept: str, take: Callable[[httpx.Response], T]) -> T:
        """Send a request until it is answered."""
        attempts = _Attempts(self.settings, r)
        while True:
            client, place = self.connection.client(self.settings)
            try:
                headers = {**r.headers, "Accept": accept}
                request = client.build_request(r.method, r.path, params=r.query, headers=headers, content=r.content, extensions={"timeout": self.settings.timeouts(r.operation)})
                response = client.send(request, stream=True)
                if response.status_code < 300:
                    return take(response)
                said = _whole(response)
            except httpx.HTTPError as e:
                error, sent = _broken(e, self.settings, r, place)
                self.connection.lost(place)
                pause = attempts.after(error, sent)
            else:
                error = of_answer(response.status_code, said, response.headers.get("X-Request-Id", ""))
                pause = attempts.after(error, False, response.headers.get("Retry-After", ""))
            time.sleep(pause)

    def ask(self, of: Type[T], o: Operation, **args: Any) -> T:
        return cast(T, read(of, self.body(prepare(self.settings, o, **args)), o))

    def done(self, o: Operation, **args: Any) -> None:
        self.body(prepare(self.settings, o, **args))

    def listing(self, of: Type[T], o: Operation, **args: Any) -> Listing[T]:
        return Listing(self, of, o, args)

    def stream(self, of: Type[T], o: Operation, **args: Any) -> Stream[T]:
        return Stream(self, of, o, args)

    def file(self, o: Operation, **args: Any) -> File:
        return File(self, prepare(self.settings, o, **args))


def _too_large() -> AmberError:
    return InternalError(f"the answer has more than {MAX_ANSWER} bytes")


def _whole(response: httpx.Response) -> bytes:
    """Read the answer, up to a bound."""
    parts: List[bytes] = []
    left = MAX_ANSWER
    try:
        for part in response.iter_bytes():
            left -= len(part)
            if left < 0:
                raise _too_large()
            parts.append(part)
    finally:
        response.close()
    return b"".join(parts)


async def _whole_async(response: httpx.Response) -> bytes:
    parts: List[bytes] = []
    left = MAX_ANSWER
    try:
        async for part in response.aiter_bytes():
            left -= len(part)
            if left < 0:
                raise _too_large()
            parts.append(part)
    finally:
        await response.aclose()
    return b"".join(parts)


async def _unread(response: httpx.Response) -> httpx.Response:
    return response


@dataclass(frozen=True)
class Page(Generic[T]):
    """A part of a list; next is the cursor of the part behind it, "" at the end."""

    items: List[T]
    next: str = ""


def _page(of: Any, body: bytes, o: Operation) -> Page[Any]:
    raw = read(Dict[str, Any], body, o)
    items, after = raw.get("items"), raw.get("next") or ""
    if not isinstance(items, list) or not isinstance(after, str):
        raise InternalError(f"the answer to {o.id} is not as expected: it has no items")
    return Page(read(List[of], json.dumps(items).encode(), o), after)


def _line(of: Any, line: str, o: Operation) -> Any:
    """Read one line of a list. The last one may say what went wrong."""
    if line.startswith('{"error"'):
        raise of_answer(0, line.encode())
    return read(of, line.encode(), o)


class Listing(Generic[T]):
    """A list, read page by page as it is gone through. It can be gone through again."""

    def __init__(self, caller: Caller, of: Type[T], o: Operation, args: Dict[str, Any]) -> None:
        self._caller, self._of, self._o, self._args = caller, of, o, args

    def page(self, cursor: Optional[str] = None) -> Page[T]:
        """Read one page: the first one, or the one of a cursor."""
        r = prepare(self._caller.settings, self._o, **_at(self._args, cursor))
        return _page(self._of, self._caller.body(r), self._o)

    def __iter__(self) -> Iterator[T]:
        page = self.page()
        yield from page.items
        while page.next and self._o.paged:
            page = self.page(page.next)
            yield from page.items

    def all(self) -> List[T]:
        """Read everything."""
        return list(self)

    def lines(self) -> Iterator[T]:
        """Read everything over one answer, item by item as it arrives."""
        response = self._caller.open(prepare(self._caller.settings, self._o, **self._args), "application/x-ndjson")
        try:
            for line in response.iter_lines():
                if line:
                    yield _line(self._of, line, self._o)
        except httpx.HTTPError as e:
            raise UnreachableError(f"the list was cut off: {e or type(e).__name__}") from e
        finally:
            response.close()


def _at(args: Dict[str, Any], cursor: Optional[str]) -> Dict[str, Any]:
    if cursor is None:
        return args
    return {**args, "query": {**args.get("query", {}), "cursor": cursor}}


class File:
    """A file that Amber sends."""

    def __init__(self, caller: Caller, request: Request) -> None:
        self._caller, self._request = caller, request

    def __iter__(self) -> Iterator[bytes]:
        response = self._caller.open(self._request, "*/*")
        try:
            yield from response.iter_bytes()
        except httpx.HTTPError as e:
            raise UnreachableError(f"the file was cut off: {e or type(e).__name__}") from e
        finally:
            response.close()

    def read(self) -> bytes:
        """Read all of it."""
        return b"".join(self)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write it to a path, which is there only when all of it is."""
        _replace(path, lambda f: [f.write(part) for part in self])


def _replace(path: Union[str, "os.PathLike[str]"], write: Callable[[BinaryIO], Any]) -> None:
    target = Path(path)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        with open(part, "xb") as f:
            write(f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


class _Parser:
    """Reads server-sent events."""

    def __init__(self) -> None:
        self.id = ""
        self._event = ""
        self._data: List[str] = []

    def feed(self, line: str) -> Optional[tuple[str, str]]:
        """Take a line; returns the event and its data where one is complete."""
        if line == "":
            event, data = self._event or "message", "\n".join(self._data)
            self._event, self._data = "", []
            return (event, data) if data or event != "message" else None
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self.id = value
        return None


def _continued(args: Dict[str, Any], last: str) -> Dict[str, Any]:
    if not last:
        return args
    query = {k: v for k, v in args.get("query", {}).items() if k != "after"}
    return {**args, "query": query, "headers": {**args.get("headers", {}), "Last-Event-ID": last}}


_AGENT = "/v1/tenants/{tenant}/agents/{agent}"
_HEADS = (
    Operation("change.head", "GET", _AGENT + "/changes/head", answer="json"),
    Operation("control_change.head", "GET", _AGENT + "/control-changes/head", answer="json"),
)


def _begins(args: Dict[str, Any]) -> bool:
    """Report whether a stream begins where the events end now, which has to be known before it can be cut off."""
    return args.get("query", {}).get("after") is None and args.get("headers", {}).get("Last-Event-ID") is None


def _position(body: bytes, o: Operation) -> str:
    return str(read(Dict[str, Any], body, o).get("position", ""))


class Stream(Generic[T]):
    """Events as they happen. A stream that was cut off goes on after the last event; it ends when it is closed."""

    def __init__(self, caller: Caller, of: Type[T], o: Operation, args: Dict[str, Any]) -> None:
        self._caller, self._of, self._o, self._args = caller, of, o, args
        self._response: Optional[httpx.Response] = None
        self._closed = False
        self.restored = 0
        """How many times a restore has replaced the history that the stream was in."""

    def __iter__(self) -> Iterator[T]:
        parser = _Parser()
        if _begins(self._args):
            parser.id = ",".join(_position(self._caller.body(prepare(self._caller.settings, o)), o) for o in _HEADS)
        while not self._closed:
            r = prepare(self._caller.settings, self._o, **_continued(self._args, parser.id))
            response = self._caller.open(r, "text/event-stream")
            self._response = response
            try:
                for line in response.iter_lines():
                    found = parser.feed(line)
                    if found is None:
                        continue
                    event, data = found
                    if event == "restored":
                        self.restored += 1
                    elif event == "error":
                        raise of_answer(0, data.encode())
                    elif data:
                        yield read(self._of, data.encode(), self._o)
            except (httpx.HTTPError, httpx.StreamError):
                if self._closed:
                    return
            finally:
                response.close()
            time.sleep(random.uniform(0.02, 0.1))

    def close(self) -> None:
        """End the stream."""
        self._closed = True
        if self._response is not None:
            self._response.close()

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncConnection:
    """The connection of clients that do not wait."""

    def __init__(self, finder: Finder) -> None:
        self.finder = finder
        self.blocking = Connection(finder)
        """What threads use that wait, in the name of a client that does not. It is closed with this one."""
        self._open: Dict[Place, tuple[int, httpx.AsyncClient]] = {}

    async def client(self, s: Settings) -> tuple[httpx.AsyncClient, Place]:
        place = await anyio.to_thread.run_sync(self.finder.find)
        pid, client = self._open.get(place, (0, None))
        if client is None or pid != os.getpid():
            transport = httpx.AsyncHTTPTransport(uds=place.socket, verify=_verify(place), limits=_LIMITS) if place.socket or place.ca else None
            client = httpx.AsyncClient(transport=transport, verify=_verify(place), limits=_LIMITS, **_options(place))
            self._open[place] = os.getpid(), client
        return client, place

    def lost(self, place: Place) -> None:
        self.finder.lost(place)

    async def close(self) -> None:
        all_, self._open = list(self._open.values()), {}
        for pid, client in all_:
            if pid == os.getpid():
                await client.aclose()
        await anyio.to_thread.run_sync(self.blocking.close)


class AsyncCaller:
    """Makes requests without waiting for them."""

    def __init__(self, connection: AsyncConnection, settings: Settings) -> None:
        self.connection = connection
        self.settings = settings

    async def body(self, r: Request) -> bytes:
        """Send a request and read the answer. Errors: those of the server, by kind."""
        return await self._until(r, "application/json", _whole_async)

    async def open(self, r: Request, accept: str) -> httpx.Response:
        """Send a request and return the answer, which the caller reads and closes. Errors: those of the server, by kind."""
        return await self._until(r, accept, _unread)

    async def _until(self, r: Request, accept: str, take: Callable[[httpx.Response], Awaitable[T]]) -> T:
        """Send a request until it is answered."""
        attempts = _Attempts(self.settings, r)
        content = _aside(r.content)
        while True:
            client, place = await self.connection.client(self.settings)
            try:
                headers = {**r.headers, "Accept": accept}
                request = client.build_request(r.method, r.path, params=r.query, headers=headers, content=content, extensions={"timeout": self.settings.timeouts(r.operation)})
                response = await client.send(request, stream=True)
                if response.status_code < 300:
                    return await take(response)
                said = await _whole_async(response)
            except httpx.HTTPError as e:
                error, sent = _broken(e, self.settings, r, place)
                self.connection.lost(place)
                pause = attempts.after(error, sent)
            else:
                error = of_answer(response.status_code, said, response.headers.get("X-Request-Id", ""))
                pause = attempts.after(error, False, response.headers.get("Retry-After", ""))
            await anyio.sleep(pause)

    async def ask(self, of: Type[T], o: Operation, **args: Any) -> T:
        return cast(T, read(of, await self.body(prepare(self.settings, o, **args)), o))

    async def done(self, o: Operation, **args: Any) -> None:
        await self.body(prepare(self.settings, o, **args))

    def listing(self, of: Type[T], o: Operation, **args: Any) -> AsyncListing[T]:
        return AsyncListing(self, of, o, args)

    def stream(self, of: Type[T], o: Operation, **args: Any) -> AsyncStream[T]:
        return AsyncStream(self, of, o, args)

    def file(self, o: Operation, **args: Any) -> AsyncFile:
        return AsyncFile(self, prepare(self.settings, o, **args))


def _aside(content: Any) -> Any:
    """Make of a file what can be sent without waiting for it."""
    if content is None or isinstance(content, bytes) or hasattr(content, "__aiter__"):
        return content

    async def parts() -> AsyncIterator[bytes]:
        chunks = iter(lambda: content.read(1 << 16), b"") if hasattr(content, "read") else iter(content)
        while (part := await anyio.to_thread.run_sync(next, chunks, None)) is not None:
            yield part

    return parts()


class AsyncListing(Generic[T]):
    """A list, read page by page as it is gone through."""

    def __init__(self, caller: AsyncCaller, of: Type[T], o: Operation, args: Dict[str, Any]) -> None:
        self._caller, self._of, self._o, self._args = caller, of, o, args

    async def page(self, cursor: Optional[str] = None) -> Page[T]:
        """Read one page: the first one, or the one of a cursor."""
        r = prepare(self._caller.settings, self._o, **_at(self._args, cursor))
        return _page(self._of, await self._caller.body(r), self._o)

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self.page()
        for item in page.items:
            yield item
        while page.next and self._o.paged:
            page = await self.page(page.next)
            for item in page.items:
                yield item

    async def all(self) -> List[T]:
        """Read everything."""
        return [item async for item in self]

    async def lines(self) -> AsyncIterator[T]:
        """Read everything over one answer, item by item as it arrives."""
        response = await self._caller.open(prepare(self._caller.settings, self._o, **self._args), "application/x-ndjson")
        try:
            async for line in response.aiter_lines():
                if line:
                    yield _line(self._of, line, self._o)
        except httpx.HTTPError as e:
            raise UnreachableError(f"the list was cut off: {e or type(e).__name__}") from e
        finally:
            await response.aclose()


class AsyncFile:
    """A file that Amber sends."""

    def __init__(self, caller: AsyncCaller, request: Request) -> None:
        self._caller, self._request = caller, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        response = await self._caller.open(self._request, "*/*")
        try:
            async for part in response.aiter_bytes():
                yield part
        except httpx.HTTPError as e:
            raise UnreachableError(f"the file was cut off: {e or type(e).__name__}") from e
        finally:
            await response.aclose()

    async def read(self) -> bytes:
        """Read all of it."""
        return b"".join([part async for part in self])

    async def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write it to a path, which is there only when all of it is."""
        content = await self.read()

        def write(f: BinaryIO) -> None:
            f.write(content)

        await anyio.to_thread.run_sync(_replace, path, write)


class AsyncStream(Generic[T]):
    """Events as they happen. A stream that was cut off goes on after the last event; it ends when it is closed."""

    def __init__(self, caller: AsyncCaller, of: Type[T], o: Operation, args: Dict[str, Any]) -> None:
        self._caller, self._of, self._o, self._args = caller, of, o, args
        self._response: Optional[httpx.Response] = None
        self._closed = False
        self.restored = 0
        """How many times a restore has replaced the history that the stream was in."""

    async def __aiter__(self) -> AsyncIterator[T]:
        parser = _Parser()
        if _begins(self._args):
            parser.id = ",".join([_position(await self._caller.body(prepare(self._caller.settings, o)), o) for o in _HEADS])
        while not self._closed:
            r = prepare(self._caller.settings, self._o, **_continued(self._args, parser.id))
            response = await self._caller.open(r, "text/event-stream")
            self._response = response
            try:
                async for line in response.aiter_lines():
                    found = parser.feed(line)
                    if found is None:
                        continue
                    event, data = found
                    if event == "restored":
                        self.restored += 1
                    elif event == "error":
                        raise of_answer(0, data.encode())
                    elif data:
                        yield read(self._of, data.encode(), self._o)
            except (httpx.HTTPError, httpx.StreamError):
                if self._closed:
                    return
            finally:
                await response.aclose()
            await anyio.sleep(random.uniform(0.02, 0.1))

    async def close(self) -> None:
        """End the stream."""
        self._closed = True
        if self._response is not None:
            await self._response.aclose()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
