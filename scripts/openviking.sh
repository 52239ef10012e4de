#!/bin/sh
# Makes a Python environment with OpenViking in a folder, unless it is there already:
#
#	sh scripts/openviking.sh DIR
#
# It takes some minutes and 1.3 GB. Needs Python 3.10 or later with venv and pip. All packages are
# those of scripts/openviking.lock; on Linux x86_64 with Python 3.11 their hashes are checked, too.
set -eu

version=0.5.2
dir=${1:?"usage: sh scripts/openviking.sh DIR"}
lock=$(dirname "$0")/openviking.lock
mark=$dir/.openviking-$version

if [ -e "$mark" ]; then
	echo "openviking $version is in $dir"
	exit 0
fi
echo "installing openviking $version into $dir: 1.3 GB, some minutes"
python3 -m venv "$dir"
pip() { "$dir/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
here="$(uname -sm) $("$dir/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
if [ "$here" = "Linux x86_64 3.11" ]; then
	pip install --no-deps --require-hashes --requirement "$lock"
else
	echo "this is $here: versions are pinned, hashes are not checked"
	sed 's/ --hash=.*//' "$lock" >"$dir/versions"
	pip install --constraint "$dir/versions" "openviking==$version"
fi
"$dir/bin/openviking-server" --help >/dev/null
touch "$mark"
