#!/bin/sh
# Makes the pictures of docs/pictures: the page in a browser, and the terminal UI. Needs chromium and
# tmux.
#
#	sh scripts/pictures.sh AMBER
set -eu

amber=$(realpath "$1")
repo=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
socket=$dir/tmux.sock
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; rm -rf "$dir"' EXIT

fill() {
	"$amber" --quiet remember "Amounts are integers in cents. Never use floating point for money." --title Money --kind constraint --tag money >/dev/null
	"$amber" --quiet remember "A migration that locks orders has to run at night: on 3 May the shop stood still for four minutes." --title Migrations --tag database >/dev/null
	"$amber" --quiet remember "Ada wants one idea per commit, with a test in the same commit." --title "Small commits" --kind preference >/dev/null
	id=$("$amber" --quiet remember "Coupons are rounded half up." --title "Rounding of coupons" --tag money)
	"$amber" --quiet edit "$id" "Coupons round half to even, in the cart and on the invoice, with money.Round. Order 4711 was a cent off before." >/dev/null
	"$amber" --quiet remember "We chose PostgreSQL for its JSONB columns: orders carry what each shop adds to them." --title Database --tag database >/dev/null
	"$amber" --quiet snapshot create --label "release 2.4" >/dev/null
}

(
	export HOME="$dir" AMBER_HOME="$dir/home" XDG_CONFIG_HOME="$dir/config" GIT_CONFIG_GLOBAL=/dev/null TERM=xterm-256color COLORTERM=truecolor
	cd "$dir"
	fill
	tmux -S "$socket" -f /dev/null new-session -d -s tui -x 110 -y 24 "$amber tui"
	pane() { tmux -S "$socket" capture-pane -p -t tui; }
	# await TEXT: until the screen shows the text, at most 20 seconds.
	await() {
		tries=0
		until pane | grep -qF "$1"; do
			tries=$((tries + 1))
			[ $tries -le 200 ] || { echo "pictures: the terminal does not show: $1" >&2; pane >&2; exit 1; }
			sleep 0.1
		done
	}
	await "[1 Recall]"
	tmux -S "$socket" send-keys -t tui "how do we round coupons"
	await '"round" in'
	tmux -S "$socket" send-keys -t tui Enter
	await "q quit"
	tmux -S "$socket" capture-pane -ep -t tui >"$dir/pane"
)

cd "$repo"
AMBER_BROWSER=required "${GO:-go}" test ./internal/serve/web -run '^TestPictures$' -count=1 -pictures "$repo/docs/pictures" -terminal "$dir/pane"
