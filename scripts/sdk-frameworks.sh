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
  langgraph-checkpoint-conformance openai-agents langchain-core langchain-tests anthropic pydantic-ai-slim pytest-asyncio pytest-mock hatchling
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

# LangGraph's own tests of stores and savers, with Amber in the place of what they test. Left out is what looks into
# the fields of their own classes, wants the scores of their own embedder, or is about SQL; and chain_cycle, which does
# not end: a chain of parents that leads back to itself is walked for ever by the default of LangGraph that we use.
cd "$work"
"$venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary :all: langgraph-checkpoint langgraph-checkpoint-sqlite
for f in *.tar.gz; do tar xzf "$f"; done
own() { # own FOLDER LEFT_OUT FILE...
  (cd $1 && left=$2 && shift 2 && echo "== own tests: $*" && PYTHONPATH="$package/src:$package/tests/integrations" AMBER_HOME="$work/own" timeout 600 "$venv/bin/python" -m pytest -q -W ignore -p no:cacheprovider \
    -p swap_langgraph -o asyncio_mode=auto -k "not ($left)" "$@" >"$work/said" || { cat "$work/said"; exit 1; }; tail -1 "$work/said")
}
vectors="test_vector_store_initialization or update_with_embedding or embed_with_path or test_scores"
own "langgraph_checkpoint-*" "$vectors or DeltaChannel or Fallback or PreDelta or (test_memory_saver and not warns and not silences and not blocks and not isolated)" tests/test_store.py tests/test_memory.py
own "langgraph_checkpoint_sqlite-*" "$vectors or migrations or sql_injection_vulnerability or hyphens or informative_async or checkpoint_search_sql or chain_cycle or primary_key" \
  tests/test_store.py tests/test_sqlite.py tests/test_get_delta_channel_history.py tests/test_delta_parent_walk.py
echo "adapters: tested"
