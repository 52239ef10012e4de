"""Puts Amber in the place of what LangGraph's own tests test: `pytest -p swap_langgraph` in the folder of its source.

$AMBER_SUITE names the suite. Its tests in langgraph_left_out.txt must fail: one that passes, or that there is not, is an error.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path
from typing import Any, AsyncIterator, Dict, Iterator, List, Optional, Union

import langgraph.checkpoint.memory
import langgraph.checkpoint.sqlite
import langgraph.checkpoint.sqlite.aio
import langgraph.store.memory
import langgraph.store.sqlite
import langgraph.store.sqlite.aio
import pytest

from amber_memory import Amber, AsyncAmber
from amber_memory.integrations.langgraph import AmberSaver, AmberStore

_number = itertools.count()


def _client(kind: Any = Amber) -> Any:
    return kind(agent=f"own-{next(_number)}")


class _Entered:
    """What is made with a client of its own can be used with `with`."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class Saver(AmberSaver, _Entered):
    def __init__(self, *, serde: Optional[Any] = None) -> None:
        super().__init__(_client(), serde=serde)

    def setup(self) -> None:
        pass

    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, where: str) -> Iterator[Saver]:
        yield cls()


class AsyncSaver(AmberSaver):
    async def setup(self) -> None:
        pass

    @classmethod
    @contextlib.asynccontextmanager
    async def from_conn_string(cls, where: str) -> AsyncIterator[AsyncSaver]:
        async with _client(AsyncAmber) as amber:
            yield cls(amber)


class Store(AmberStore, _Entered):
    def __init__(self, *, index: Optional[Any] = None, ttl: Optional[Any] = None) -> None:
        super().__init__(_client(), index=_index(index), ttl=ttl)

    def setup(self) -> None:
        pass

    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, where: str, **named: Any) -> Iterator[Store]:
        yield cls(**named)


class AsyncStore:
    """An AmberStore whose sweeper is waited for, as that of AsyncSqliteStore is."""

    def __init__(self, store: AmberStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def setup(self) -> None:
        pass

    async def sweep_ttl(self) -> int:
        return await self._store.asweep_ttl()

    async def start_ttl_sweeper(self) -> None:
        self._store.start_ttl_sweeper()

    async def stop_ttl_sweeper(self) -> bool:
        return self._store.stop_ttl_sweeper()

    @classmethod
    @contextlib.asynccontextmanager
    async def from_conn_string(cls, where: str, *, index: Optional[Any] = None, ttl: Optional[Any] = None) -> AsyncIterator[AsyncStore]:
        async with _client(AsyncAmber) as amber:
            yield cls(AmberStore(amber, index=_index(index), ttl=ttl))


def _index(index: Optional[Dict[str, Any]]) -> Any:
    """SqliteStore calls the fields text_fields, too."""
    return index if index is None or "text_fields" not in index else {**index, "fields": index["text_fields"]}


langgraph.checkpoint.memory.InMemorySaver = Saver  # type: ignore[assignment, misc]
langgraph.store.memory.InMemoryStore = Store  # type: ignore[assignment, misc]
langgraph.checkpoint.sqlite.SqliteSaver = Saver  # type: ignore[assignment, misc]
langgraph.checkpoint.sqlite.aio.AsyncSqliteSaver = AsyncSaver  # type: ignore[assignment, misc]
langgraph.store.sqlite.SqliteStore = Store  # type: ignore[assignment, misc]
langgraph.store.sqlite.AsyncSqliteStore = AsyncStore  # type: ignore[assignment, misc]
langgraph.store.sqlite.aio.AsyncSqliteStore = AsyncStore  # type: ignore[assignment, misc]


def left_out(suite: str) -> Dict[str, str]:
    """Read which tests of a suite are left out, and why."""
    found: Dict[str, str] = {}
    for line in (Path(__file__).parent / "langgraph_left_out.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split("\t")
            if name.startswith(suite + "/"):
                found[name[len(suite) + 1 :]] = reason
    return found


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "flaky(retries): their tests of time may be repeated; here they are not")


def pytest_collection_modifyitems(items: List[Union[pytest.Item]]) -> None:
    listed = left_out(os.environ["AMBER_SUITE"])
    for item in items:
        reason = listed.pop(item.nodeid, None)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    if listed:
        raise pytest.UsageError(f"langgraph_left_out.txt has tests that there are not: {', '.join(listed)}")
