#!/bin/sh
# Tests the Python package: style, types, contract, servers, and the wheel in a clean
# environment. $1 is the program. Needs Python 3.10 or newer with venv, $PYTHON or python3, and the network once.
set -eu
cd "$(dirname "$0")/.."
amber=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
python=${PYTHON:-python3}
venv=$PWD/bin/python${PYTHON:+-$(echo "$PYTHON" | tr -c '[:alnum:].\n' -)} # one for each Python
package=$PWD/sdk/python

leave() { # leave REASON: says that nothing was tested, which is an error where it has to be
  echo "NOT TESTED: the Python package: $1" >&2
  [ "${AMBER_SDK:-}" = required ] && exit 1
  exit 0
}
if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  leave "$python (3.10 or newer, with venv) is missing"
fi
if ! cmp -s "$package/requirements-test.txt" "$venv/requirements.txt"; then
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r "$package/requirements-test.txt" || leave "pip cannot install what its tests need"
  cp "$package/requirements-test.txt" "$venv/requirements.txt"
fi
cd "$package"
export PYTHONPATH="$package/src" PYTHONDONTWRITEBYTECODE=1 AMBER_BINARY="$amber"
# Style and types depend on the files of the package alone: they are checked once for each state of these.
state=$(find . -type f ! -path './src/amber_memory/bin/*' ! -path '*/__pycache__/*' | sort | xargs cat | cksum)
if [ "$state" != "$(cat "$venv/checked" 2>/dev/null)" ]; then
  "$venv/bin/ruff" check --no-cache -q .
  "$venv/bin/mypy" --cache-dir "$venv/mypy"
  "$venv/bin/pyright" --pythonpath "$venv/bin/python"
  echo "$state" >"$venv/checked"
fi
# The tests depend on these files, the program and this Python: with all as they were, make test does not repeat them.
tested="$state $(cat ../contract/* ../../docs/*.md | cksum) $(cksum <"$amber") $("$python" -V)"
if [ "${AMBER_SDK:-}" != required ] && [ "$tested" = "$(cat "$venv/tested" 2>/dev/null)" ]; then
  echo "Python package: tested before with this program"
  exit 0
fi
"$venv/bin/pytest" -q -p no:cacheprovider

# The wheel, as a stranger installs it: nothing but Python, and a home of its own.
clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
unset PYTHONPATH AMBER_BINARY
platform=$(go env GOOS)-$(go env GOARCH)
"$python" scripts/wheel.py --version v0.0.0-rc.1 --out "$clean" --platform "$platform" --binary "$amber" >/dev/null
"$python" scripts/wheel.py --version v0.0.0-rc.1 --out "$clean/again" --platform "$platform" --binary "$amber" >/dev/null
cmp "$clean"/*.whl "$clean"/again/*.whl
"$python" -m venv "$clean/venv"
"$clean/venv/bin/pip" install -q --disable-pip-version-check "$clean"/*.whl
"$python" - "$package/README.md" >"$clean/example.py" <<'PY'
import re, sys
print(re.search(r"```python\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S).group(1))
PY
said=$(cd "$clean" && env -i HOME="$clean" PATH=/usr/bin:/bin "$clean/venv/bin/python" example.py)
[ "$said" = "Ada prefers short answers" ] || { echo "the example of the README says: $said" >&2; exit 1; }
echo "Python package: tested with $("$python" -V), and its wheel of $(wc -c <"$(ls "$clean"/*.whl)") bytes installed"
echo "$tested" >"$venv/tested"
