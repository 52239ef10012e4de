#!/bin/sh
# Writes a home with the program of a commit or tag, and packs it for cmd/amber/compatibility_test.go:
#
#   sh scripts/compat-home.sh memory-9 HEAD
#
# The home holds what cmd/amber/testdata/homes/written.tsv says: memories, a topic with a history, a session with turns, notes, a
# document of state, an event in the queue, a token, a signed snapshot of all that, a bundle and a folder for sync beside
# it, one memory that is younger than the snapshot, and an entry of the journal that nobody has drained.
# It needs Go, git and a minute. See docs/releasing.md.
set -eu
name=$1 commit=$2
repo=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
written=$repo/cmd/amber/testdata/homes/written.tsv

mkdir "$work/source" "$work/user" "$work/beside"
mkdir -m 700 "$work/home"
git -C "$repo" archive "$commit" | tar -x -C "$work/source"
(cd "$work/source" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath -ldflags '-s -w' -o "$work/amber" ./cmd/amber)

# Outside of any project, so that everything is global.
cd "$work/user"
amber() {
	env -i HOME="$work/user" PATH="$PATH" GIT_CONFIG_GLOBAL=/dev/null "$work/amber" --quiet --home "$work/home" "$@"
}
amber key new >/dev/null
amber session start --name "checkout bug" >/dev/null
while IFS="$(printf '\t')" read -r kind one two; do
	case $kind in
	memory) amber remember --scope global "$one" ;;
	topic) amber remember --scope global --topic "$one" "$two" ;;
	turn) amber turn add "$one" ;;
	note) amber note write "$one" "$two" ;;
	state) amber state set "$one" "$two" ;;
	event) amber queue publish "$one" --task t1 --node n1 "$two" ;;
	token) amber token create "$one" --secret-file "$work/beside/token.secret" ;;
	journal | later) ;;
	*) echo "written.tsv has a line of kind $kind, which this script does not know" >&2; exit 1 ;;
	esac >/dev/null
done <"$written"
amber session end --summary "rounding fixed" >/dev/null
amber index sync >/dev/null
amber snapshot create --label compatibility --sign >/dev/null
amber bundle export --now -o "$work/beside/agent.tar.zst" >/dev/null
amber sync export --all --dir "$work/beside/shared" --created-by compatibility >/dev/null
amber remember --scope global "$(sed -n 's/^later	//p' "$written")" >/dev/null
amber journal append --session build-7 --type prompt "$(sed -n 's/^journal	//p' "$written")" >/dev/null

out=$repo/cmd/amber/testdata/homes/$name.tar.gz
rm -rf "$work/home/cache" # made again
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -cf - home beside | gzip -9n >"$out"
echo "$out: $(wc -c <"$out") bytes, written by $(git -C "$repo" rev-parse --short "$commit")"
