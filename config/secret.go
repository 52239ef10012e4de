package config

import (
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// Secret is a list of URLs that may hold passwords. Printed, logged or encoded
// in any way it shows none of them; [Secret.Reveal] does.
type Secret string

// hidden replaces text that is not shown.
const hidden = "***"

// Reveal returns the value with everything in it.
func (s Secret) Reveal() string { return string(s) }

// String returns the value without user name and password.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	shown := strings.Split(string(s), ",")
	for i, text := range shown {
		shown[i] = hideUser(strings.TrimSpace(text))
	}
	return strings.Join(shown, ",")
}

// GoString returns what String does.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// LogValue returns what String does.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// hideUser returns a URL without its user; of what is no URL it returns nothing.
func hideUser(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "":
		return hidden
	case u.User != nil:
		return u.Scheme + "://" + hidden + "@" + u.Host
	}
	return u.Scheme + "://" + u.Host
}

// maxServers bounds a list of servers: a client finds the others of a cluster
// by itself.
const maxServers = 64

// servers reports whether s is a list of URLs of NATS servers, or empty.
func (s Secret) servers() bool {
	if s == "" {
		return true
	}
	list := strings.Split(string(s), ",")
	if len(list) > maxServers || len(s) > maxPathBytes || strings.ContainsFunc(string(s), unicode.IsControl) {
		return false
	}
	for _, text := range list {
		if !validServer(strings.TrimSpace(text)) {
			return false
		}
	}
	return true
}

func validServer(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return false
	}
	switch u.Scheme {
	case "nats", "tls", "ws", "wss":
		return validHost(u.Hostname()) && (u.Port() == "" || validPort(u.Port()))
	}
	return false
}

// validAddress reports whether s is a place to listen at: host:port, where no
// host means every address of the machine and port 0 any that is free.
func validAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && (host == "" || validHost(host)) && validPort(port)
}

// validHost reports whether s is an address or looks like a name.
func validHost(s string) bool {
	if net.ParseIP(s) != nil {
		return true
	}
	return s != "" && len(s) <= 253 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	})
}

func validPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// secret reports whether a text has a secret key in it, or a URL with a
// password.
func secret(s string) bool {
	upper := strings.ToUpper(s)
	if strings.Contains(upper, "SECRET-KEY") || strings.Contains(upper, "PRIVATE KEY") {
		return true
	}
	_, rest, ok := strings.Cut(s, "://")
	return ok && strings.Contains(rest, "@")
}
