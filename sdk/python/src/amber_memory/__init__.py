"""Amber: durable memory for AI agents."""

from __future__ import annotations

from . import _models as models
from ._call import AsyncFile, AsyncListing, AsyncStream, File, Listing, Page, Stream
from ._client import Amber, AsyncAmber
from ._errors import (
    KINDS,
    AmberError,
    BusyError,
    ConflictError,
    CrossTenantError,
    DamagedError,
    InternalError,
    InvalidError,
    NotFoundError,
    QuotaError,
    RefusedError,
    TooNewError,
    UnreachableError,
    UnsupportedError,
    UntrustedError,
)

__version__ = "0.0.0"

__all__ = [
    "KINDS",
    "Amber",
    "AmberError",
    "AsyncAmber",
    "AsyncFile",
    "AsyncListing",
    "AsyncStream",
    "BusyError",
    "ConflictError",
    "CrossTenantError",
    "DamagedError",
    "File",
    "InternalError",
    "InvalidError",
    "Listing",
    "NotFoundError",
    "Page",
    "QuotaError",
    "RefusedError",
    "Stream",
    "TooNewError",
    "UnreachableError",
    "UnsupportedError",
    "UntrustedError",
    "models",
]
