#!/bin/sh
# Tests the adapters of the Python package with the newest packages of the frameworks from PyPI: types, tests,
# examples, and the frameworks' own suites. $1 is the program. Needs Python 3.11 with venv, and the network.
set -eu
cd "$(dirname "$0")/.."
amber=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
venv=$PWD/bin/frameworks
crew=$PWD/bin/frameworks-crewai # CrewAI wants older packages than others do
package=$PWD/sdk/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -d "$venv" ] || python3 -m venv "$venv"
[ -d "$crew" ] || python3 -m venv "$crew"
"$venv/bin/pip" install -q --disable-pip-version-check -U -r "$package/requirements-test.txt" langgraph langgraph-checkpoint langgraph-checkpoint-sqlite \
  langgraph-checkpoint-conformance openai-agents langchain-core langchain-tests anthropic pydantic-ai-slim pytest-asyncio pytest-mock pytest-timeout hatchling
"$crew/bin/pip" install -q --disable-pip-version-check -U crewai pytest mypy pyright
"$venv/bin/pip" list 2>/dev/null | grep -E '^(langgraph|langchain-core|langchain-tests|openai-agents|anthropic|pydantic-ai-slim)' || true
"$crew/bin/pip" list 2>/dev/null | grep -E '^crewai ' || true

cd "$package"
export PYTHONPATH="$package/src:$package/tests" PYTHONDONTWRITEBYTECODE=1 AMBER_BINARY="$amber" CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true
"$venv/bin/ruff" check --no-cache -q .
files=$(ls src/amber_memory/integrations/*.py tests/integrations/*.py examples/*.py | grep -v crewai)
MYPYPATH="$package/tests:$package/src" "$venv/bin/mypy" --cache-dir "$work/mypy" --explicit-package-bases --python-version 3.11 $files
MYPYPATH="$package/tests:$package/src" "$crew/bin/mypy" --cache-dir "$work/mypy-crewai" --explicit-package-bases --python-version 3.11 src/amber_memory/integrations/crewai.py tests/integrations/test_crewai.py
"$venv/bin/pyright" -p frameworks.pyright.json --pythonpath "$venv/bin/python"
"$crew/bin/pyright" -p crewai.pyright.json --pythonpath "$crew/bin/python"

for name in langgraph openai_agents langchain anthropic pydantic_ai crewai; do
  python=$venv/bin/python more="-o asyncio_mode=auto"
  [ $name = crewai ] && python=$crew/bin/python more=
  echo "== $name"
  "$python" -m pytest -q -s -W ignore -p no:cacheprovider $more "tests/integrations/test_$name.py"
  AMBER_HOME="$work/home-$name" "$python" -W ignore "examples/${name}_agent.py" >/dev/null
done

# LangGraph's own tests of stores and savers, with Amber in the place of what they test. Those in langgraph_left_out.txt
# must fail, for the reasons given there; everything else must pass.
cd "$work"
"$venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary :all: langgraph-checkpoint langgraph-checkpoint-sqlite
for f in *.tar.gz; do tar xzf "$f"; done
own() { # own SUITE FOLDER FILE...
  (export AMBER_SUITE=$1 && cd $2 && shift 2 && echo "== own tests of langgraph-$AMBER_SUITE" && PYTHONPATH="$package/src:$package/tests/integrations" AMBER_HOME="$work/own-$AMBER_SUITE" timeout 900 "$venv/bin/python" -m pytest -q -W ignore -p no:cacheprovider \
    -p swap_langgraph -o asyncio_mode=auto --timeout 120 "$@" >"$work/said" || { cat "$work/said"; exit 1; }; tail -1 "$work/said")
}
own checkpoint "langgraph_checkpoint-*/" tests/test_store.py tests/test_memory.py
own checkpoint-sqlite "langgraph_checkpoint_sqlite-*/" tests
echo "adapters: tested"
