#!/bin/sh
# Memories are never removed by a package: [[.DataDir]] and the user stay, also after a purge.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
