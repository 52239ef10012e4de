package redact

import (
	"slices"
	"strings"
)

// urlRules are passwords in URLs and in commands that take a user with one.
func urlRules() []rule {
	return []rule{
		{name: "url-password", anchors: []string{"://", `:\/\/`}, find: findURLPassword},
		{name: "curl-user", anchors: []string{" -u ", " --user "}, find: findCurlUser},
		{name: "netrc-password", anchors: []string{"machine "}, find: findNetrc},
	}
}

// databases are the schemes of database and queue URLs.
var databases = []string{
	"amqp", "amqps", "bolt", "cassandra", "clickhouse", "cockroachdb", "couchbase", "couchdb", "influxdb", "kafka", "ldap", "ldaps",
	"mariadb", "mongodb", "mongodb+srv", "mssql", "mysql", "nats", "neo4j", "oracle", "postgres", "postgresql", "redis", "rediss",
	"snowflake", "sqlserver",
}

// The parts of a URL before its host; a password with other bytes must encode
// them. A password that nothing must follow is judged by its head, the bytes
// before the first that may part another name from its value.
var (
	urlScheme   = newClass("0-9A-Za-z+.-")
	urlUser     = newClass("!$&*+,.0-9;=A-Z_a-z~%|^-")
	urlPassword = newClass("!$&*+,.0-9:;=A-Z_a-z~%|^-")
	netrcWord   = newClass("!#$%&*+,./0-9:;=?@A-Z^_a-z|~-")
	loneHead    = newClass("!#$%&*+,./0-9;?@A-Z^_a-z|~-")
)

// findURLPassword removes the password in scheme://user:password@host, and a
// user without one that looks like a token.
func findURLPassword(v view, at int, found []span) []span {
	user := at + len("://")
	if v.text[at+1] == '\\' {
		user = at + len(`:\/\/`)
	}
	end := urlUser.run(v.text, user, v.hi)
	if end >= v.hi {
		return found
	}
	if v.text[end] == '@' && random(v.text[user:end]) {
		return append(found, span{user, end, "url-password"})
	}
	if v.text[end] != ':' {
		return found
	}
	start := end + 1
	stop := urlPassword.run(v.text, start, v.hi)
	if stop >= v.hi || v.text[stop] != '@' || !v.isHost(stop+1) || !isPassword(v.text[user:end], v.text[start:stop]) {
		return found
	}
	return append(found, span{start, stop, v.urlRule(at)})
}

// isHost reports whether a host that may be real stands at at. It is no host
// in image:tag@sha256:digest, and no real one in a domain kept for examples.
func (v view) isHost(at int) bool {
	if v.has(at, "sha256:") {
		return false
	}
	host := "." + strings.ToLower(v.text[at:dotted.run(v.text, at, v.hi)])
	for _, reserved := range []string{".example.com", ".example.org", ".example.net", ".example", ".invalid", ".host", ".hostname"} {
		if strings.HasSuffix(host, reserved) {
			return false
		}
	}
	return true
}

// urlRule names the rule for the URL whose scheme ends at at.
func (v view) urlRule(at int) string {
	const longest = 16
	start := v.wordStart(at, urlScheme, longest)
	if slices.Contains(databases, strings.ToLower(v.text[start:at])) {
		return "database-url-password"
	}
	return "url-password"
}

// defaults are passwords of examples and of fresh installations.
var defaults = []string{
	"admin", "guest", "hunter2", "mypass", "mypassword", "mysecretpassword", "pass", "passwd", "password", "postgres", "pwd", "pw",
	"root", "secret", "pswd", "user", "username", "token", "key", "foo", "bar", "baz", "abc", "123", "1234", "12345", "123456",
}

// isPassword reports whether a password beside a user is more than a
// placeholder.
func isPassword(user, password string) bool {
	folded := strings.ToLower(password)
	switch {
	case len(password) < 3 || tallyOf(password).distinct < 3:
		return false
	case password == user || slices.Contains(defaults, folded):
		return false
	case password[0] == '$' || password[0] == '%' && len(password) <= 3:
		return false
	}
	return !saysPlaceholder(password)
}

// findCurlUser removes the password of curl -u user:password.
func findCurlUser(v view, at int, found []span) []span {
	const command = 400 // bytes before the option in which curl stands
	line := v.text[max(v.lo, at-command):at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	if !strings.Contains(line, "curl") {
		return found
	}
	user := v.quote(at + strings.IndexByte(v.text[at+1:v.hi], ' ') + 2)
	end := urlUser.run(v.text, user, v.hi)
	if end == user || end >= v.hi || v.text[end] != ':' {
		return found
	}
	password := v.text[end+1 : urlPassword.run(v.text, end+1, v.hi)]
	password = strings.TrimRight(password, ".,;:") // of the sentence around
	if !isLonePassword(v.text[user:end], password) {
		return found
	}
	return append(found, span{end + 1, end + 1 + len(password), "curl-user"})
}

// isLonePassword is isPassword for a password that nothing must follow.
func isLonePassword(user, password string) bool {
	return isPassword(user, password[:loneHead.run(password, 0, len(password))])
}

// findNetrc removes the password of "machine HOST login USER password WORD".
func findNetrc(v view, at int, found []span) []span {
	const longest = 400
	v.hi = min(v.hi, at+longest)
	var words [6]string
	start, stop := at, at
	for i := range words {
		start = v.skip(stop, " \t\r\n")
		stop = netrcWord.run(v.text, start, v.hi)
		words[i] = v.text[start:stop]
	}
	if words[2] != "login" || words[4] != "password" || !isLonePassword(words[3], words[5]) {
		return found
	}
	return append(found, span{start, stop, "netrc-password"})
}
