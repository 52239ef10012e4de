"""Where Amber is: at an address that was named, at the server of the home, or one that is started."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import os
import secrets
import shutil
import socket as sockets
import stat
import subprocess
import threading
import urllib.parse
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Dict, Mapping, Optional, Union, cast

from ._errors import AmberError, InvalidError, UnreachableError, UnsupportedError, of_kind

_MAX_WHERE = 4096
_START_WITHIN = 60.0
_PROVE_WITHIN = 5.0


@dataclass(frozen=True)
class Place:
    """Where a server is. A place that can be lost is looked for again."""

    url: str
    socket: Optional[str] = None
    token: Optional[str] = field(default=None, repr=False)
    ca: Optional[str] = None
    fixed: bool = False


@dataclass(frozen=True)
class Wanted:
    """What is said about where Amber is."""

    url: Optional[str] = None
    token: Optional[str] = field(default=None, repr=False)
    token_file: Optional[str] = None
    ca: Optional[str] = None
    home: Optional[str] = None
    binary: Optional[str] = None
    start_server: bool = True


class Finder:
    """Finds a server, and starts one where there is none. Safe for several threads."""

    def __init__(self, wanted: Wanted, environ: Optional[Mapping[str, str]] = None) -> None:
        self._wanted = wanted
        self._environ = os.environ if environ is None else environ
        self._lock = threading.Lock()
        self._place: Optional[Place] = None
        self._pid = os.getpid()
        self._private: Optional[_Private] = None

    def find(self) -> Place:
        """Return where the server is. Errors: UnreachableError and those of starting one."""
        with self._lock:
            if self._pid != os.getpid():  # a copy of the process: the server is that of the original
                self._place, self._private, self._pid = None, None, os.getpid()
            if self._place is None:
                self._place = self._look()
            return self._place

    def lost(self, place: Place) -> None:
        """Look for another server next time: nobody answers at this one."""
        with self._lock:
            if self._place == place and not place.fixed:
                self._place = None

    def close(self) -> None:
        """Let go of a server that was started."""
        with self._lock:
            self._place = None
            private, self._private = self._private, None
        if private is not None:
            private.release()

    def _look(self) -> Place:
        w = self._wanted
        url = w.url or self._environ.get("AMBER_REMOTE") or None
        token = self._token()
        ca = w.ca or self._environ.get("AMBER_REMOTE_CA") or None
        if url is not None:
            return _address(url, token, ca)
        home = home_folder(w.home, self._environ)
        place = _served(home, token)
        if place is not None:
            return place
        if not w.start_server:
            raise UnreachableError(f"no server of the home {home} runs, and none is to be started", hint="amber serve")
        return self._start(home, token)

    def _token(self) -> Optional[str]:
        if self._wanted.token is not None:
            return self._wanted.token
        path = self._wanted.token_file or self._environ.get("AMBER_TOKEN_FILE")
        if not path:
            return None
        try:
            return Path(path).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as e:
            raise InvalidError(f"the token file {path} cannot be read: {type(e).__name__}") from e

    def _start(self, home: Path, token: Optional[str]) -> Place:
        if self._private is not None:
            self._private.release()
            self._private = None
        private = _Private.acquire(binary_path(self._wanted.binary, self._environ), home, self._environ)
        self._private = private
        place = _place_of(private.where, token)
        if place is None:
            raise UnreachableError(f"the server of the home {home} does not say where programs of this user ask it", hint="set AMBER_REMOTE to its address")
        return place


def _address(url: str, token: Optional[str], ca: Optional[str]) -> Place:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "unix":
        return Place(url="http://localhost", socket=parts.path, token=token, fixed=True)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None or parts.password is not None:
        raise InvalidError("the address of the server is not valid: want http://HOST, https://HOST or unix:///PATH, without a password")
    return Place(url=url.rstrip("/"), token=token, ca=ca, fixed=True)


def home_folder(home: Optional[str], environ: Mapping[str, str]) -> Path:
    """Return the home folder by the rule of the command line."""
    if home:
        return Path(home).absolute()
    if environ.get("AMBER_HOME"):
        return Path(environ["AMBER_HOME"]).absolute()
    if environ.get("XDG_DATA_HOME"):
        return Path(environ["XDG_DATA_HOME"]).absolute() / "amber"
    user = environ.get("HOME") or environ.get("USERPROFILE")
    if not user:
        raise InvalidError("the home folder is not known: neither AMBER_HOME, XDG_DATA_HOME nor HOME is set")
    return Path(user).absolute() / ".local" / "share" / "amber"


def binary_path(binary: Optional[str], environ: Mapping[str, str]) -> str:
    """Return the program: the one that was named, the one in this package, or the one on the path."""
    name = "amber.exe" if os.name == "nt" else "amber"
    for named in (binary, environ.get("AMBER_BINARY")):
        if named:
            return named
    carried = Path(__file__).with_name("bin") / name
    if carried.is_file():
        return str(carried)
    found = _on_path(name, environ)
    if found is None:
        raise UnsupportedError(
            "the program amber is not there: this package was built without it, and it is not on the path",
            hint="install the wheel for this platform, or set AMBER_BINARY",
        )
    return found


def _on_path(name: str, environ: Mapping[str, str]) -> Optional[str]:
    """Return the program of the path. An empty or relative element would take one out of the folder in which this process happens to be."""
    for folder in environ.get("PATH", "").split(os.pathsep):
        found = shutil.which(os.path.join(folder, name)) if os.path.isabs(folder) else None
        if found is not None:
            return found
    return None


def _served(home: Path, token: Optional[str]) -> Optional[Place]:
    """Return where the server of a home is; None when there is none, or one that was killed."""
    try:
        with open(home / "serve.json", "rb") as f:
            text = f.read(_MAX_WHERE + 1)
    except OSError:
        return None
    where = _object(text) if len(text) <= _MAX_WHERE else None
    return None if where is None else _place_of(where, token)


def _object(text: Union[str, bytes]) -> Optional[Dict[str, Any]]:
    """Read a JSON object; None for anything else."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return cast("Dict[str, Any]", found) if isinstance(found, dict) else None


def _place_of(where: Mapping[str, Any], token: Optional[str]) -> Optional[Place]:
    """Return the place that a server has told, if it is the one that answers there."""
    path = where.get("socket")
    if isinstance(path, str) and path and hasattr(sockets, "AF_UNIX"):
        return Place(url="http://localhost", socket=path, token=token) if _is_mine(path) else None
    url, key, secret = where.get("url"), where.get("key"), where.get("secret")
    if not isinstance(url, str) or not url.startswith("http://"):
        return None
    if secret is not None and not _proves(url, str(secret)):
        return None
    return Place(url=url.rstrip("/"), token=key if isinstance(key, str) and key else token)


def _is_mine(path: str) -> bool:
    """Report whether a process of this user listens at a socket that nobody else can reach."""
    try:
        info, folder = os.lstat(path), os.stat(os.path.dirname(path))
        mine = stat.S_ISSOCK(info.st_mode) and info.st_uid == os.geteuid() and stat.S_IMODE(info.st_mode) == 0o600
        if not mine or folder.st_uid != os.geteuid() or stat.S_IMODE(folder.st_mode) & 0o077:
            return False
        with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as s:
            s.settimeout(_PROVE_WITHIN)
            s.connect(path)
        return True
    except OSError:
        return False


def _proves(url: str, secret: str) -> bool:
    """Report whether the server at an address knows the secret that is in the home."""
    challenge = secrets.token_hex(16)
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_PROVE_WITHIN)
    try:
        connection.request("GET", f"/ui/-/proof?challenge={challenge}")
        answer = connection.getresponse().read(_MAX_WHERE)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return hmac.compare_digest(answer, hmac.new(secret.encode(), challenge.encode(), hashlib.sha256).hexdigest().encode())


class _Private:
    """A server that this process has started, for all clients of a home in it."""

    _all: dict[tuple[int, str], _Private] = {}
    _guard = threading.Lock()

    def __init__(self, key: tuple[int, str], process: subprocess.Popen[bytes], where: Mapping[str, Any]) -> None:
        self._key = key
        self._process = process
        self._users = 0
        self.where = where

    @classmethod
    def acquire(cls, binary: str, home: Path, environ: Mapping[str, str]) -> _Private:
        key = (os.getpid(), str(home))
        with cls._guard:
            there = cls._all.get(key)
            if there is None or there._process.poll() is not None:
                there = cls._all[key] = cls._run(key, binary, home, environ)
            there._users += 1
            return there

    def release(self) -> None:
        with self._guard:
            self._users -= 1
            if self._users > 0 or self._key[0] != os.getpid():
                return
            if self._all.get(self._key) is self:
                del self._all[self._key]
        self._end()

    def _end(self) -> None:
        """Close what the server reads: it finishes what it was asked, and ends."""
        if self._process.stdin is not None:
            try:
                self._process.stdin.close()
            except OSError:
                pass  # it has ended
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    @classmethod
    def _run(cls, key: tuple[int, str], binary: str, home: Path, environ: Mapping[str, str]) -> _Private:
        command = [binary, "serve", "--private", "--json", "--home", str(home), "--log-level", "warn"]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environ),
                start_new_session=os.name != "nt",  # Ctrl-C is for the program
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as e:
            raise UnsupportedError(f"the program {binary} cannot be started: {e.strerror or type(e).__name__}") from e
        said = _Said(process.stderr)
        where = _first_document(process)
        if "error" in where or not where:
            process.kill()
            process.wait()
            said.wait()
            raise _not_started(binary, where, said.text())
        return cls(key, process, where)


def _not_started(binary: str, where: Mapping[str, Any], said: str) -> AmberError:
    e = (where if "error" in where else _object(said[max(said.find("{"), 0) :]) or {}).get("error")
    if isinstance(e, dict):
        told = cast("Dict[str, Any]", e)
        return of_kind(str(told.get("kind", "")), f"amber serve --private: {told.get('message', '')}", hint=str(told.get("hint", "")))
    return UnreachableError(f"{binary} serve --private does not start: {said.strip()[-500:] or 'it says nothing'}")


def _first_document(process: subprocess.Popen[bytes]) -> Mapping[str, Any]:
    """Read the JSON document that the server prints when it listens; empty when it ends before that."""
    assert process.stdout is not None
    overdue = threading.Timer(_START_WITHIN, process.kill)
    overdue.daemon = True
    overdue.start()
    text = b""
    try:
        for line in process.stdout:
            text += line
            if line.rstrip() not in (b"}",) and not line.startswith(b'{"'):
                continue
            found = _object(text)
            if found is not None:
                return found
        return {}
    finally:
        overdue.cancel()


class _Said:
    """The end of what a process says on its standard error, read so that it never waits."""

    def __init__(self, stream: Optional[IO[bytes]]) -> None:
        self._lines: deque[bytes] = deque(maxlen=50)
        self._stream = stream
        self._thread = threading.Thread(target=self._read, name="amber-log", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        if self._stream is None:
            return
        try:
            for line in self._stream:
                self._lines.append(line[:1000])
        except (OSError, ValueError):
            pass  # it was closed

    def wait(self) -> None:
        self._thread.join(timeout=2)

    def text(self) -> str:
        return b"".join(self._lines).decode("utf-8", "replace")
