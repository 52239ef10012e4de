"""What the models have in common."""

from __future__ import annotations

import base64
from datetime import date, datetime, timezone
from typing import Annotated, Any, Iterable, Mapping

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer


def _decode(value: Any) -> Any:
    return base64.b64decode(value, validate=True) if isinstance(value, str) else value


def _encode(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


Base64 = Annotated[bytes, BeforeValidator(_decode), PlainSerializer(_encode, when_used="json")]
"""Bytes, which travel as base64."""


class Model(BaseModel):
    """An object that Amber answers with. Fields that a newer server has beside these are kept."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=())


def plain(value: Any) -> Any:
    """Make of a value what JSON can say. Fields without a value are left out of models and arguments."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, BaseModel):
        return {k: plain(v) for k, v in value.model_dump(by_alias=True, exclude_unset=True).items() if v is not None}
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, (bytes, bytearray)):
        return _encode(bytes(value))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in _any(value).items()}
    if isinstance(value, Iterable):
        return [plain(v) for v in _any(value)]
    raise TypeError(f"{type(value).__name__} cannot be sent: want text, numbers, lists, dictionaries, times, bytes or models")


def _any(value: Any) -> Any:
    return value


def timestamp(value: datetime) -> str:
    """Write a time in UTC. One without a zone is local."""
    return value.astimezone(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
