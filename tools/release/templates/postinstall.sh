#!/bin/sh
# The user of the service. The service itself is started by the administrator: systemctl enable --now amber
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers [[.Name]].conf
elif ! getent passwd [[.Name]] >/dev/null 2>&1 && command -v useradd >/dev/null 2>&1; then
	useradd --system --home-dir [[.DataDir]] --shell /usr/sbin/nologin [[.Name]]
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	# After an upgrade a server that runs is the new one. A server that does not run stays so.
	systemctl try-restart [[.Name]].service || true
fi
