#!/bin/sh
# Stops the service when the package goes; an upgrade restarts it afterwards (rpm says 1, dpkg says upgrade).
set -e
case "${1:-}" in
upgrade | 1) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now [[.Name]].service || true
fi
