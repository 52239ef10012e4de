#!/bin/sh
# Makes a Python environment with OpenViking in a folder, unless it is there already:
#
#	sh scripts/openviking.sh DIR
#
# It takes some minutes and 1.3 GB. Needs Python 3.10 or later with venv and pip.
set -eu

version=0.5.2
dir=${1:?"usage: sh scripts/openviking.sh DIR"}
mark=$dir/.openviking-$version

if [ -e "$mark" ]; then
	echo "openviking $version is in $dir"
	exit 0
fi
echo "installing openviking $version into $dir: 1.3 GB, some minutes"
python3 -m venv "$dir"
"$dir/bin/python" -m pip install --quiet --disable-pip-version-check "openviking==$version"
"$dir/bin/openviking-server" --help >/dev/null
touch "$mark"
