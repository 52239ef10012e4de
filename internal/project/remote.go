package project

import (
	"bufio"
	"io"
	"strings"

	"github.com/amber-memory/amber"
)

// maxGitConfig bounds what is read of a repository's configuration.
const maxGitConfig = 1 << 20

// remoteName returns owner/name of the origin remote, or of the first remote
// where there is no origin; "" where none has a name that is an id.
func remoteName(config string) string {
	f, err := openRegular(config)
	if err != nil {
		return ""
	}
	defer f.Close()
	remote, first := "", ""
	lines := bufio.NewScanner(io.LimitReader(f, maxGitConfig))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			remote = ""
			if name, ok := strings.CutPrefix(line, `[remote "`); ok {
				remote = strings.TrimSuffix(name, `"]`)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if remote == "" || !ok || strings.TrimSpace(key) != "url" {
			continue
		}
		name := ownerAndName(strings.TrimSpace(value))
		if amber.CheckID("project id", name) != nil {
			continue
		}
		if remote == "origin" {
			return name
		}
		if first == "" {
			first = name
		}
	}
	return first
}

// ownerAndName takes the last two elements of a remote's address, whatever
// its form: https://host/owner/name.git, git@host:owner/name, /srv/owner/name.
func ownerAndName(remote string) string {
	remote = withoutCredentials(strings.Trim(remote, `"`))
	remote = strings.TrimSuffix(strings.TrimRight(remote, "/"), ".git")
	parts := strings.FieldsFunc(remote, func(r rune) bool { return r == '/' || r == ':' || r == '\\' })
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1]
}

// withoutCredentials drops what a remote's address says beside the place: the
// user and password of https://user:token@host/name, and a query. The user of
// ssh stays: git@host/name is what projects are called.
func withoutCredentials(remote string) string {
	scheme, rest, isURL := strings.Cut(remote, "://")
	if !isURL {
		scheme, rest = "", remote
	} else if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	host, path, deeper := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		secret := strings.Contains(host[:at], ":") || isURL && !strings.Contains(strings.ToLower(scheme), "ssh")
		if secret {
			host = host[at+1:]
		}
	}
	if deeper {
		host += "/" + path
	}
	if isURL {
		return scheme + "://" + host
	}
	return host
}
