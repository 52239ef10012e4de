#!/bin/sh
# Prints the folder for the temporary files of tests: one in memory, where this machine has 8 GiB of it free, since tests
# sync thousands of files, and else the usual one. $TMPDIR is kept where it is set. The name is the same in each run,
# because the cache of go test looks at it. Servers of PostgreSQL stay in /tmp: they run under another account.
set -eu
memory=/dev/shm
usual=${TMPDIR:-/tmp}
give_up() { echo "$usual"; exit 0; }

test -z "${TMPDIR:-}" || give_up
test "$(uname)" = Linux && test "$(stat -f -c %T "$memory" 2>/dev/null)" = tmpfs || give_up
test "$(df -Pk "$memory" | awk 'NR == 2 { print $4 }')" -ge 8388608 || give_up
test "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -ge 8388608 || give_up

folder=$memory/amber-$(id -u)
mkdir -m 711 "$folder" 2>/dev/null || test -d "$folder" || give_up
test ! -L "$folder" && test -O "$folder" || give_up # another account made it

# Tests run programs that they make.
try=$folder/try.$$
printf '#!/bin/sh\n' >"$try" && chmod 700 "$try" || give_up
"$try" 2>/dev/null && rm -f "$try" || { rm -f "$try"; give_up; }
echo "$folder"
