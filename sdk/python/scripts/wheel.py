"""Make the wheel of the package, with the program of one platform in it. Needs Python 3.11 and nothing else.

    python3 scripts/wheel.py --version 1.2.3 --out dist --platform linux-amd64 --binary dist/amber
    python3 scripts/wheel.py --version 1.2.3 --out dist                # without the program

The same input makes the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import zipfile
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, whose pip has one
    from pip._vendor import tomli as tomllib


ROOT = Path(__file__).resolve().parents[1]

PLATFORMS = {
    "linux-amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin-amd64": "macosx_11_0_x86_64",
    "darwin-arm64": "macosx_11_0_arm64",
    "windows-amd64": "win_amd64",
    "windows-arm64": "win_arm64",
}


def version_of(text: str) -> str:
    """Write a version of Amber as Python does: v1.2.3-rc.1 is 1.2.3rc1, and what is no release is one of development."""
    m = re.fullmatch(r"v?(\d+\.\d+\.\d+)(?:-(rc|alpha|beta)\.?(\d+))?", text)
    if m is None:
        head = re.match(r"v?(\d+\.\d+\.\d+)", text)
        return (head.group(1) if head else "0.0.0") + ".dev0"
    word = {"alpha": "a", "beta": "b"}.get(m.group(2) or "", m.group(2) or "")
    return m.group(1) + word + (m.group(3) or "")


def metadata(version: str) -> str:
    p = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = ["Metadata-Version: 2.4", f"Name: {p['name']}", f"Version: {version}", f"Summary: {p['description']}", f"License-Expression: {p['license']}", "License-File: LICENSE", f"Requires-Python: {p['requires-python']}"]
    lines += [f"Classifier: {c}" for c in p["classifiers"]]
    lines += [f"Requires-Dist: {d}" for d in p["dependencies"]]
    for extra, wants in p.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {d}; extra == "{extra}"' for d in wants]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text("utf-8")]
    return "\n".join(lines)


class Wheel:
    """A wheel that is being made."""

    def __init__(self, path: Path, info: str) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._info, self._record = info, ""

    def add(self, name: str, data: bytes, mode: int = 0o644) -> None:
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.create_system = 3
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record += f"{name},sha256={digest},{len(data)}\n"

    def close(self) -> None:
        name = f"{self._info}/RECORD"
        self.add(name, (self._record + f"{name},,\n").encode())
        self._zip.close()


def build(version: str, out: Path, platform: str | None, binary: Path | None) -> Path:
    """Make the wheel and return its path."""
    version = version_of(version)
    tag = PLATFORMS[platform] if platform else "any"
    info = f"amber_memory-{version}.dist-info"
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"amber_memory-{version}-py3-none-{tag}.whl"
    wheel = Wheel(path, info)
    source = ROOT / "src"
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source).as_posix()
        if not file.is_file() or "__pycache__" in name or "/bin/" in name:
            continue
        data = file.read_bytes()
        if name == "amber_memory/__init__.py":
            data = re.sub(rb'__version__ = "[^"]*"', f'__version__ = "{version}"'.encode(), data)
        wheel.add(name, data)
    if binary is not None:
        wheel.add("amber_memory/bin/amber" + (".exe" if (platform or "").startswith("windows") else ""), binary.read_bytes(), 0o755)
    wheel.add(f"{info}/METADATA", metadata(version).encode())
    wheel.add(f"{info}/licenses/LICENSE", (ROOT.parents[1] / "LICENSE").read_bytes())
    tags = "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: amber\nRoot-Is-Purelib: {'false' if platform else 'true'}\n{tags}".encode())
    wheel.close()
    return path


def main() -> None:
    p = argparse.ArgumentParser(description="Make the wheel of amber-memory.")
    p.add_argument("--version", required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--platform", choices=sorted(PLATFORMS))
    p.add_argument("--binary", type=Path)
    a = p.parse_args()
    if (a.platform is None) != (a.binary is None):
        p.error("--platform and --binary go together")
    print(build(a.version, a.out, a.platform, a.binary))


if __name__ == "__main__":
    main()
