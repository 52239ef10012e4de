#!/bin/sh
# Shows the terminal UI without a person: fills a temporary home, runs amber tui in tmux, presses
# keys and prints what is on the screen after each step.
#
#	sh scripts/tui-panes.sh [AMBER [COLUMNS [ROWS]]]
#
# AMBER is the program, by default amber of the PATH. Needs tmux.
set -eu

amber=${1:-amber}
columns=${2:-120}
rows=${3:-30}
command -v tmux >/dev/null || { echo "tui-panes: tmux is not installed" >&2; exit 1; }
amber=$(command -v "$amber") || { echo "tui-panes: ${1:-amber} is not a program" >&2; exit 1; }

dir=$(mktemp -d)
socket=$dir/tmux.sock
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; rm -rf "$dir"' EXIT
export HOME="$dir" AMBER_HOME="$dir/home" XDG_CONFIG_HOME="$dir/config" GIT_CONFIG_GLOBAL=/dev/null
cd "$dir"

fill() {
	id=$("$amber" --quiet remember "We chose MySQL" --title Database --tag decision)
	"$amber" --quiet edit "$id" "We chose PostgreSQL for JSONB" >/dev/null
	"$amber" --quiet remember "Coupons round half to even, see RFC 12" --kind constraint >/dev/null
	"$amber" --quiet note write decisions/database "# Database

We use PostgreSQL." >/dev/null
	session=$("$amber" --quiet session start --name "fix the build")
	"$amber" --quiet turn add --role user "why does the build fail" >/dev/null
	"$amber" --quiet turn add --role assistant "A test expects the old rounding." >/dev/null
	"$amber" --quiet session end "$session" >/dev/null
	"$amber" --quiet snapshot create --label first >/dev/null
	"$amber" --quiet remember "Releases happen on Tuesdays" >/dev/null
	"$amber" --quiet snapshot create --label second >/dev/null
	"$amber" --quiet approval request --task release-1.4 --node deploy --summary "deploy 1.4?" '{"cmd":"deploy 1.4"}' >/dev/null
}

pane() { tmux -S "$socket" capture-pane -p -t tui; }

# await TEXT: until the screen shows it, at most 20 seconds.
await() {
	tries=0
	until pane | grep -qF "$1"; do
		tries=$((tries + 1))
		if [ $tries -gt 200 ]; then
			echo "tui-panes: the screen does not show: $1" >&2
			pane >&2
			exit 1
		fi
		sleep 0.1
	done
}

# keys TEXT KEY...: press the keys, and wait for the text. A key behind Escape would be taken for
# Alt and that key, so Escape is always the last.
keys() {
	text=$1
	shift
	for key in "$@"; do
		tmux -S "$socket" send-keys -t tui "$key"
	done
	await "$text"
}

# step NAME TEXT KEY...: the same, and print the screen.
step() {
	name=$1
	shift
	keys "$@"
	printf '\n== %s\n' "$name"
	pane
}

fill
tmux -S "$socket" -f /dev/null new-session -d -s tui -x "$columns" -y "$rows" "$amber tui"
await "[1 Recall]"
step "1 Recall" "recall: which database" "which database"
step "2 Memories" "Releases" Enter 2
keys "> Database" G
step "2 History" "revision 2: content" h
step "2 Diff" "+ We chose PostgreSQL" d
keys "> fix the build" 3
step "3 Turns" "user      why" Enter
step "4 Notes" "We use PostgreSQL." 4
step "5 Snapshots" "> second" 5
step "5 Diff of snapshots" "from first to second" d
keys "> second" Escape
keys "> first" G
step "5 Restore, dry run" "to restore:" R
keys "nothing was changed" Escape
step "6 Conflicts" "no conflicts" 6
step "7 Work" "deploy 1.4?" 7
step "8 Live" "Live  0" 8
keys "healthy" 9
step "9 Health" "the doctor is done" r
step "Help" "search:" "?"
keys "r doctor" Escape
step "Command line" "snapshot list" ":" "snapshot "
keys "r doctor" Escape
tmux -S "$socket" send-keys -t tui q
