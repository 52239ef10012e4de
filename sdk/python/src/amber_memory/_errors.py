"""Errors, by kind."""

from __future__ import annotations

import json
from typing import Any


class AmberError(Exception):
    """Something that Amber did not do. The class says the kind of the reason.

    message says what is wrong, hint what to do about it, reason is a word for programs where the kind is not
    enough, request_id finds the request in the log of the server, and status is that of HTTP (0 where no
    server has answered).
    """

    kind = "internal"

    def __init__(self, message: str, *, kind: str = "", hint: str = "", reason: str = "", request_id: str = "", status: int = 0) -> None:
        super().__init__(message + (f" ({hint})" if hint else ""))
        self.message = message
        self.hint = hint
        self.reason = reason
        self.request_id = request_id
        self.status = status
        if kind:
            self.kind = kind

    def __reduce__(self) -> Any:
        return _make, (type(self), self.message, self.kind, self.hint, self.reason, self.request_id, self.status)


def _make(cls: type[AmberError], message: str, kind: str, hint: str, reason: str, request_id: str, status: int) -> AmberError:
    return cls(message, kind=kind, hint=hint, reason=reason, request_id=request_id, status=status)


class InvalidError(AmberError):
    """The request is not valid."""

    kind = "invalid"


class NotFoundError(AmberError):
    """It is not there, or not for this caller."""

    kind = "not_found"


class ConflictError(AmberError):
    """Somebody else has changed it, or the outcome of an earlier attempt is not known."""

    kind = "conflict"


class BusyError(AmberError):
    """Somebody else uses it; later it may work."""

    kind = "busy"


class DamagedError(AmberError):
    """What is stored is damaged."""

    kind = "damaged"


class UntrustedError(AmberError):
    """A signature is missing, or is not of a trusted key."""

    kind = "untrusted"


class RefusedError(AmberError):
    """The caller may not do this."""

    kind = "refused"


class QuotaError(AmberError):
    """It is more than is allowed."""

    kind = "quota"


class CrossTenantError(AmberError):
    """It belongs to another tenant."""

    kind = "cross_tenant"


class TooNewError(AmberError):
    """A newer version of Amber has written it."""

    kind = "too_new"


class UnsupportedError(AmberError):
    """The store or the system cannot do this."""

    kind = "unsupported"


class UnreachableError(AmberError):
    """No server answers."""

    kind = "unreachable"


class InternalError(AmberError):
    """A mistake in Amber."""

    kind = "internal"


_CLASSES: dict[str, type[AmberError]] = {
    c.kind: c
    for c in (
        InvalidError,
        NotFoundError,
        ConflictError,
        BusyError,
        DamagedError,
        UntrustedError,
        RefusedError,
        QuotaError,
        CrossTenantError,
        TooNewError,
        UnsupportedError,
        UnreachableError,
        InternalError,
    )
}

KINDS = tuple(_CLASSES)
"""The kinds of errors."""


def of_kind(kind: str, message: str, **more: Any) -> AmberError:
    """Make the error of a kind. A kind of a newer server is an AmberError of that kind."""
    return _CLASSES.get(kind, AmberError)(message, kind=kind, **more)


def of_answer(status: int, body: bytes, request_id: str = "") -> AmberError:
    """Make the error of an answer. One that is not of Amber, as that of a proxy, is told as it is."""
    try:
        e = json.loads(body)["error"]
        kind, message = e["kind"], e["message"]
        if not isinstance(kind, str) or not isinstance(message, str):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        start = body[:200].decode("utf-8", "replace")
        kind = "unreachable" if status in (502, 503, 504) else "internal"
        return of_kind(kind, f"the answer is not of Amber: status {status}, {start!r}", status=status, request_id=request_id)
    more = {k: v if isinstance(v, str) else "" for k, v in ((k, e.get(k, "")) for k in ("hint", "reason", "request_id"))}
    more["request_id"] = more["request_id"] or request_id
    return of_kind(kind, message, status=status, **more)
