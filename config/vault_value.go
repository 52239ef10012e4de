package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// maxLabel bounds a label: it becomes a part of file names, with a tenant and
	// an agent behind it.
	maxLabel = 64
	// maxExtensions bounds a list of endings of names.
	maxExtensions = 256
)

// validURL reports whether s is a place to send documents and keys to: https, or http on this
// machine, without a user in the URL.
func validURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxPathBytes || strings.ContainsFunc(s, unicode.IsControl) ||
		u.User != nil || u.Opaque != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		!validHost(u.Hostname()) || u.Port() != "" && !validPort(u.Port()) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// validLabel reports whether s can name documents of a vault and be shown.
func validLabel(s string) bool {
	return s != "" && len(s) <= maxLabel && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) && !secret(s)
}

// ValidVaultLabel reports whether s may be vault.label.
func ValidVaultLabel(s string) bool { return validLabel(s) }

var validExtension = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.[a-z0-9][a-z0-9_-]{0,30}$`)
})

// checkExtensions checks a list of endings of names.
func (k Key) checkExtensions(list []string) error {
	return k.checkEach(list, maxExtensions, "elements", func(s string) error {
		if validExtension().MatchString(s) {
			return nil
		}
		return fmt.Errorf("%s must hold endings of names such as .md, not %s", k.Path, quote(s))
	})
}
