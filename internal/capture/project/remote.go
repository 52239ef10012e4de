package project

import (
	"bufio"
	"cmp"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// maxGitConfig bounds what is read of a repository's configuration.
const maxGitConfig = 1 << 20

// eachSetting calls each with the settings of a git configuration, in order, until it returns
// false. The section of a remote is `remote "NAME"`.
func eachSetting(config string, each func(section, key, value string) (more bool)) {
	f, err := openRegular(config)
	if err != nil {
		return
	}
	defer f.Close()
	section := ""
	lines := bufio.NewScanner(io.LimitReader(f, maxGitConfig))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.TrimSuffix(line[1:], "]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && !each(section, strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"`)) {
			return
		}
	}
}

// address is where a remote lies, as a name, and what earlier versions made of it.
type address struct{ name, older string }

// remoteOf returns the address of the origin remote, or of the first remote where there is no
// origin; empty where none has a name that is an id.
func remoteOf(config, top string) (found address) {
	eachSetting(config, func(section, key, value string) bool {
		remote, ok := strings.CutPrefix(section, `remote "`)
		if !ok || key != "url" {
			return true
		}
		a := address{hostAndPath(value, top), ownerAndName(value)}
		if !usable(a.name) {
			return true
		}
		if origin := remote == `origin"`; origin || found.name == "" {
			found = a
			return !origin
		}
		return true
	})
	return found
}

// here is the host of a remote that is a path.
const here = "localhost"

// hostAndPath names the place of a remote, whatever its form: https://host/owner/name.git and
// git@host:owner/name are host/owner/name. A path is one of this machine. Ways to one server count
// for nothing: users, credentials and queries, and the port of ssh. "" is no place.
func hostAndPath(remote, top string) string {
	remote = withoutCredentials(remote)
	host, path := here, ""
	if scheme, rest, isURL := strings.Cut(remote, "://"); isURL {
		if scheme = strings.ToLower(scheme); scheme == "file" {
			host, path, _ = strings.Cut(rest, "/")
			host = cmp.Or(host, here)
		} else {
			host, path, _ = strings.Cut(rest, "/")
			host = withoutPort(scheme, host)
		}
	} else if before, after, isHost := strings.Cut(remote, ":"); isHost && len(before) > 1 && !strings.ContainsAny(before, `/\`) {
		host, path = before, after
	} else {
		path = filepath.ToSlash(from(top, filepath.FromSlash(strings.ReplaceAll(remote, `\\`, `\`))))
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	if host == "" || len(parts) == 0 || slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		return ""
	}
	last := len(parts) - 1
	if parts[last] = strings.TrimSuffix(parts[last], ".git"); parts[last] == "" {
		return ""
	}
	return host + "/" + strings.Join(parts, "/")
}

// withoutPort drops the port that a scheme has, and any of ssh: people reach one server by both.
func withoutPort(scheme, host string) string {
	u, err := url.Parse("x://" + host)
	if err != nil || u.Port() == "" {
		return host
	}
	usual := map[string]string{"http": "80", "https": "443", "git": "9418"}[scheme]
	if strings.Contains(scheme, "ssh") || u.Port() == usual {
		return strings.TrimSuffix(host, ":"+u.Port())
	}
	return host
}

// ownerAndName is what earlier versions called a remote: the last two elements of its address.
func ownerAndName(remote string) string {
	remote = withoutCredentials(remote)
	remote = strings.TrimSuffix(strings.TrimRight(remote, "/"), ".git")
	parts := strings.FieldsFunc(remote, func(r rune) bool { return r == '/' || r == ':' || r == '\\' })
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1]
}

// withoutCredentials drops what a remote's address says beside the place: the
// user and password of https://user:token@host/name, and a query. The user of
// ssh stays: earlier names hold it.
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
