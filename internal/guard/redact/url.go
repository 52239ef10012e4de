package redact

import (
	"slices"
	"strconv"
	"strings"
)

// urlRules are passwords and keys in URLs, and for hosts.
var urlRules = []rule{
	{name: "url-password", anchors: []string{"://", `:\/\/`}, finder: findURLPassword},
	{name: "url-key", anchors: []string{"?key=", "&key="}, finder: findURLKey},
	{name: "wandb-api-key", anchors: []string{"wandb", "weights & biases", "weights and biases"}, finder: findWandb},
	{name: "netrc-password", anchors: []string{"machine "}, finder: findNetrc},
	{name: "pgpass-password", anchors: pgPorts, finder: findPgpass},
}

// databases are the schemes of database and queue URLs.
var databases = []string{
	"amqp", "amqps", "bolt", "cassandra", "clickhouse", "cockroachdb", "couchbase", "couchdb", "influxdb", "kafka", "ldap", "ldaps",
	"mariadb", "mongodb", "mssql", "mysql", "nats", "neo4j", "oracle", "postgres", "postgresql", "redis", "rediss",
	"snowflake", "sqlserver",
}

// The parts of a URL before its host; a password with other bytes must encode
// them. A password that nothing must follow is judged by its head, the bytes
// before the first that may part another name from its value.
var (
	urlScheme   = newClass("0-9A-Za-z+.-")
	urlUser     = newClass("!$&*+,.0-9;=A-Z_a-z~%|^-")
	urlPassword = newClass("!#$&*+,.0-9:;=A-Z_a-z~%|^-")
	urlRest     = newClass("!#$*+.0-9A-Z_a-z~%^-") // of a password behind an @ in it
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
	for stop < v.hi && v.text[stop] == '@' {
		next := urlRest.run(v.text, stop+1, v.hi)
		if next >= v.hi || v.text[next] != '@' {
			break
		}
		stop = next
	}
	if stop >= v.hi || v.text[stop] != '@' || v.has(stop+1, "sha256:") { // as in image:tag@sha256:digest
		return found
	}
	password := v.text[start:stop]
	if !isPassword(v.text[user:end], password) || v.isExampleHost(stop+1) && !(len(password) >= minReal && chosen(password)) {
		return found
	}
	return append(found, span{start, stop, v.urlRule(at)})
}

// findURLKey removes the key in ?key=... that is random enough to be one.
func findURLKey(v view, at int, found []span) []span {
	start := at + len("?key=")
	end := urlSafe.run(v.text, start, v.hi)
	if !random(v.text[start:end]) {
		return found
	}
	return append(found, span{start, end, "url-key"})
}

// minReal is the length from which a password at an example's host is taken
// for a real one.
const minReal = 12

// isExampleHost reports whether a host that examples use stands at at. It
// excuses a password that looks made up, not a real one.
func (v view) isExampleHost(at int) bool {
	host := strings.ToLower(v.text[at:dotted.run(v.text, at, v.hi)])
	for _, reserved := range []string{"example.com", "example.org", "example.net", "example", "invalid"} {
		if host == reserved || strings.HasSuffix(host, "."+reserved) {
			return true
		}
	}
	return host == "host" || host == "hostname"
}

// urlRule names the rule for the URL whose scheme ends at at.
func (v view) urlRule(at int) string {
	const longest = 32
	start := v.wordStart(at, &urlScheme, longest)
	scheme, _, _ := strings.Cut(strings.ToLower(v.text[start:at]), "+") // mongodb+srv
	if slices.Contains(databases, scheme) {
		return "database-url-password"
	}
	return "url-password"
}

// defaults are passwords of examples and of fresh installations.
var defaults = []string{
	"admin", "guest", "mypass", "mypassword", "mysecretpassword", "pass", "passwd", "password", "postgres", "pwd", "pw",
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

// The fields of a line of .pgpass. A colon in one of them is escaped.
var (
	pgPort = newClass("*0-9")
	pgHost = newClass("*./0-9A-Z_a-z-")
	pgName = newClass("!#$%&*+,./0-9;=?@A-Z^_a-z|~-")
)

// pgPorts are how the port of a line begins: all there are, or any number.
var pgPorts = func() []string {
	ports := []string{":*:"}
	for n := 10; n < 100; n++ {
		ports = append(ports, ":"+strconv.Itoa(n))
	}
	return ports
}()

// isUsualPort reports whether a port is PostgreSQL's, or one of a pooler.
func isUsualPort(port string) bool {
	return port == "*" || strings.HasPrefix(port, "54") || strings.HasPrefix(port, "64") || strings.HasPrefix(port, "65") ||
		port == "15432" || port == "25060" || port == "26257"
}

// findPgpass removes the password of a line host:port:database:user:password, whose port stands at at.
func findPgpass(v view, at int, found []span) []span {
	const longest = 256
	host := v.wordStart(at, &pgHost, longest)
	if host == at || host > v.lo && !v.begins(host, wordEdge) || host > v.lo && v.text[host-1] == ':' {
		return found
	}
	end := at
	for _, field := range [...]*class{&pgPort, &pgName, &pgName} {
		start := end + 1
		if end = field.run(v.text, start, min(v.hi, start+longest)); end == start || !v.has(end, ":") {
			return found
		}
	}
	start := end + 1
	end = netrcWord.run(v.text, start, v.hi)
	password := v.text[start:end]
	if port := v.text[at+1 : at+1+pgPort.run(v.text[at+1:], 0, 8)]; !isUsualPort(port) {
		if len(port) < 4 || strings.Contains(password, ":") || !chosen(password) || !v.isLineStart(host) {
			return found // a file and a line of it, an address, a time
		}
	}
	if len(password) < minPlain || isNumber(password) || ordinary(password) || !isLonePassword("", password) {
		return found
	}
	return append(found, span{start, end, "pgpass-password"})
}

// isLineStart reports whether nothing but blanks and quotation marks stands before at in its line.
func (v view) isLineStart(at int) bool {
	if _, behind := v.escape(at); behind {
		return true
	}
	for at > v.lo && strings.IndexByte(" \t\"'", v.text[at-1]) >= 0 {
		at--
	}
	return at == v.lo || v.text[at-1] == '\n' || v.doc.isEdge(at)
}

// findWandb removes the forty digits that stand behind the name of Weights & Biases in a sentence or
// a command. They look like a commit, so the words between may not say that they are one.
func findWandb(v view, at int, found []span) []span {
	const longest = 64
	hi := min(v.hi, at+longest+40)
	for i := at + len("wandb"); i < min(hi, at+longest) && v.text[i] != '\n'; i++ {
		if !hexLower.has[v.text[i]] || alnum.has[v.text[i-1]] {
			continue
		}
		end := hexLower.run(v.text, i, hi)
		if end-i != 40 || end < v.hi && wordByte.has[v.text[end]] {
			continue
		}
		words := strings.ToLower(v.text[at:i])
		if containsAny(words, []string{"commit", "sha", "rev", "hash", "@", "/"}) || !varied(v.text[i:end]) {
			return found
		}
		return append(found, span{i, end, "wandb-api-key"})
	}
	return found
}
