#!/bin/sh
# Sets a PostgreSQL database back under two servers of Amber, by pg_restore and by a recovery to a point in time, as the drills of docs/scale.md do,
# and looks whether everybody is told: servers and commands refuse the database, amber migrate --restored names what went back, listeners hear
# "restored" at both servers, and a token that was revoked since the backup stays so.
#
#   sh scripts/set-back.sh [AMBER]
#
# AMBER is the program (default bin/amber). It needs curl and the programs of a PostgreSQL server (PGBIN names their folder; default the newest in
# /usr/lib/postgresql, else that of pg_config). Everything is in a folder of its own, which is removed.
set -eu
amber=$(realpath "${1:-bin/amber}")
PGBIN=${PGBIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)}
PGBIN=${PGBIN:-$(pg_config --bindir)}
work=$(mktemp -d)
chmod 755 "$work"
owner=""
if [ "$(id -u)" = 0 ]; then # a server of PostgreSQL refuses to be root
  owner="setpriv --reuid=65534 --regid=65534 --clear-groups"
  chown 65534:65534 "$work"
fi
pg() { program=$1; shift; (cd "$work" && $owner "$PGBIN/$program" "$@"); }
servers=""
ended() {
  code=$?
  [ $code -eq 0 ] || tail -n 20 "$work"/*.log >&2 || true
  # shellcheck disable=SC2086
  [ -z "$servers" ] || kill $servers 2>/dev/null || true
  pg pg_ctl -D "$work/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$work"
  exit $code
}
trap ended EXIT

fail() { echo "$way: $1" >&2; exit 1; }
same() { [ "$2" = "$3" ] || fail "$1: want $3, found $2"; echo "$way: $1: as expected"; } # same WHAT FOUND WANTED
says() { # says WHAT TEXT < ANSWER
  cat >"$work/answer"
  grep -q "$2" "$work/answer" || fail "$1: want $2, found $(cat "$work/answer")"
  echo "$way: $1: as expected"
}
until_so() { # until_so WHAT COMMAND...
  what=$1; shift
  for i in $(seq 150); do
    "$@" && return 0
    sleep 0.2
  done
  fail "$what: not after 30 s"
}

agent=/v1/tenants/default/agents/default
of() { # of HOME COMMAND...: amber in a home
  home=$1; shift
  AMBER_HOME="$work/$home" AMBER_SERVER__REPLICA__NAME="$home" "$amber" "$@"
}
serve() { # serve HOME: starts a server and notes its address
  : >"$work/$1.url"
  AMBER_HOME="$work/$1" AMBER_SERVER__REPLICA__NAME="$1" "$amber" serve --listen 127.0.0.1:0 --accept-unsafe-database --drain 0s >"$work/$1.url" 2>>"$work/$1.log" &
  echo $! >"$work/$1.pid"
  servers="$servers $!"
  until_so "server $1 listens" test -s "$work/$1.url"
}
stop() { for home in a b; do kill "$(cat "$work/$home.pid")"; wait "$(cat "$work/$home.pid")" || true; done; }
ask() { # ask HOME TOKEN METHOD PATH [JSON]
  curl -sS --max-time 30 -X "$3" -H "Authorization: Bearer $2" -H "Content-Type: application/json" ${5:+-d "$5"} "$(head -1 "$work/$1.url")$4"
}
status() { ask "$@" >/dev/null && curl -s -o /dev/null -w '%{http_code}' --max-time 30 -H "Authorization: Bearer $2" "$(head -1 "$work/$1.url")$4"; }
remember() { ask "$1" "$root" POST $agent/memories "{\"content\":\"$2\"}" | says "remember '$2' at $1" '"id"'; }
listen() { # listen HOME FILE [EVENT]: returns when the stream has begun
  rm -f "$work/$2" "$work/$2.begun"
  curl -sSN --max-time 60 -D "$work/$2.begun" -H "Authorization: Bearer $root" ${3:+-H "Last-Event-ID: $3"} "$(head -1 "$work/$1.url")$agent/events" >"$work/$2" 2>/dev/null &
  servers="$servers $!"
  until_so "the stream of events begins" test -s "$work/$2.begun"
}
refused() { ask "$1" "$root" GET $agent/memories | grep -q 'set back'; }
noted() { grep -q '"revoked":\["' "$work/$1/keys/database.json" && grep -q '"memory":7' "$work/$1/keys/database.json"; }
sql() { pg psql -qAt -h "$work" -U amber -d "${2:-amber}" -c "$1"; }
start() { pg pg_ctl -D "$work/data" -l "$work/postgres.log" -w start >/dev/null; }

for way in pg_restore "point in time"; do
  rm -rf "$work/data" "$work/base" "$work/archive" "$work/a" "$work/b"
  $owner mkdir "$work/archive"
  pg initdb -D "$work/data" -U amber -A trust -E UTF8 --no-locale >"$work/initdb.log"
  $owner sh -c "cat >>'$work/data/postgresql.conf'" <<END
listen_addresses = ''
unix_socket_directories = '$work'
archive_mode = on
archive_command = 'cp %p $work/archive/%f'
END
  start
  pg createdb -h "$work" -U amber --encoding UTF8 --template template0 amber
  echo "postgres:///amber?host=$work&user=amber" >"$work/dsn"
  chmod 600 "$work/dsn"
  export AMBER_MEMORY__BACKEND=postgres AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE="$work/dsn"
  root=$(of a --quiet token create root --all-tenants --scope read,write,admin)
  left=$(of a --quiet token create left --scope read)
  serve a
  serve b
  remember a "there before the backup"

  # The backup.
  if [ "$way" = pg_restore ]; then
    pg pg_dump -Fc -h "$work" -U amber -f "$work/data/amber.dump" amber
    $owner mv "$work/data/amber.dump" "$work/archive/amber.dump"
  else
    pg pg_basebackup -D "$work/base" -c fast -h "$work" -U amber
    target=$(sql 'SELECT clock_timestamp()')
    sleep 1
  fi

  # What it lacks.
  for n in 1 2 3 4 5; do remember b "lost with the backup $n"; done
  id=$(ask a "$root" GET /v1/tokens | tr '{' '\n' | grep '"name":"left"' | sed 's/.*"id":"\([^"]*\)".*/\1/')
  ask b "$root" DELETE "/v1/tokens/$id" >/dev/null
  same "the token that was revoked" "$(status a "$left" GET $agent/memories)" 401
  listen a heard
  remember b "heard by the listener"
  until_so "the listener hears" grep -q '^event: mutated' "$work/heard"
  last=$(sed -n 's/^id: //p' "$work/heard" | tail -1)
  for home in a b; do until_so "the home $home notes it" noted $home; done

  # The database goes back, under the servers.
  if [ "$way" = pg_restore ]; then
    pg createdb -h "$work" -U amber --encoding UTF8 --template template0 amber_restored
    pg pg_restore -h "$work" -U amber -d amber_restored "$work/archive/amber.dump"
    sql 'ALTER DATABASE amber WITH ALLOW_CONNECTIONS false' postgres
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'amber'" postgres >/dev/null
    sleep 0.2 # until they are gone
    sql 'ALTER DATABASE amber RENAME TO amber_before' postgres
    sql 'ALTER DATABASE amber_restored RENAME TO amber' postgres
  else
    pg pg_ctl -D "$work/data" -m fast -w stop >/dev/null
    rm -rf "$work/data"
    $owner mv "$work/base" "$work/data"
    $owner sh -c "cat >>'$work/data/postgresql.auto.conf'" <<END
restore_command = 'cp $work/archive/%f %p'
recovery_target_time = '$target'
recovery_target_action = 'promote'
END
    $owner touch "$work/data/recovery.signal"
    start
    until_so "the server is promoted" sh -c "[ \"\$(cd / && $owner '$PGBIN/psql' -qAt -h '$work' -U amber -d amber -c 'SELECT pg_is_in_recovery()')\" = f ]"
  fi

  # Servers and commands notice, and refuse.
  for home in a b; do until_so "the server $home notices" refused $home; echo "$way: the server $home notices: as expected"; done
  stop
  for home in a b; do
    { of $home serve --listen 127.0.0.1:0 --accept-unsafe-database 2>&1 && echo "exit 0" || true; } | says "a server that starts in $home" 'amber migrate --restored'
    { of $home remember "not stored" 2>&1 || true; } | says "a command in $home" 'set back'
    of $home doctor >"$work/doctor" 2>&1 && code=0 || code=$?
    same "amber doctor in $home ends with" "$code" 5
  done

  # The operator accepts it, in one home.
  of b migrate --restored >"$work/restored"
  says "memories that went back" 'default/default went back: memory from change 7 to 1' <"$work/restored"
  says "the audit log" 'the audit log went back' <"$work/restored"
  says "the token" '(left) was good again, and is revoked' <"$work/restored"
  serve a
  serve b
  for home in a b; do
    same "the token that was revoked, at $home" "$(status $home "$left" GET $agent/memories)" 401
    listen $home "heard.$home" "$last"
    until_so "the listener at $home hears" grep -q '^event:' "$work/heard.$home"
    says "the first event at $home" '^event: restored' <"$work/heard.$home"
  done
  remember b "written after"
  of a audit verify | says "the audit log" .
  of a doctor >"$work/doctor" 2>&1 || fail "amber doctor: $(cat "$work/doctor")"
  stop
  pg pg_ctl -D "$work/data" -m immediate stop >/dev/null
done
echo "a database that was set back: found and accepted, by $("$PGBIN/postgres" --version)"
