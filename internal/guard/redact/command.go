package redact

import "strings"

// commandRules are passwords in the arguments of commands.
var commandRules = []rule{
	{name: "curl-user", anchors: []string{" -u", " --user"}, finder: findCurlUser},
	{name: "command-password", anchors: []string{" -p", " -a"}, finder: findCommandPassword},
}

// commandBefore returns the command whose option stands at at, up to there.
func (v view) commandBefore(at int) string {
	const longest = 400
	line := v.text[max(v.lo, at-longest):at]
	return line[strings.LastIndexAny(line, "\n;|")+1:]
}

// findCurlUser removes the password of curl -u user:password.
func findCurlUser(v view, at int, found []span) []span {
	if !strings.Contains(v.commandBefore(at), "curl") {
		return found
	}
	user := at + len(" -u")
	if v.has(at, " --user") {
		user = at + len(" --user")
	}
	if v.has(user, " ") || v.has(user, "=") {
		user++
	}
	user = v.quote(user)
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

// passwordCommands are commands that take a password as the value of an option
// of one letter, and whether a space parts them.
var passwordCommands = []struct {
	name, option string
	parted       bool
}{
	{"sshpass", " -p", true},
	{"sshpass", " -p", false},
	{"docker login", " -p", true},
	{"podman login", " -p", true},
	{"registry login", " -p", true},
	{"redis-cli", " -a", true},
	{"mysql", " -p", false},
	{"mysqldump", " -p", false},
	{"mariadb", " -p", false},
}

// minCommandPassword is the length from which an argument is taken for a
// password: shorter ones are often another option's.
const minCommandPassword = 6

// findCommandPassword removes the password of sshpass -p password and of
// commands like it.
func findCommandPassword(v view, at int, found []span) []span {
	start := at + len(" -p")
	parted := v.has(start, " ")
	if parted {
		start++
	}
	start = v.quote(start)
	if strings.IndexByte(",:", v.text[min(start, v.hi-1)]) >= 0 {
		return found // the mark ended a string of JSON
	}
	password := v.text[start:netrcWord.run(v.text, start, v.hi)]
	password = strings.TrimRight(password, ".,;:")
	if len(password) < minCommandPassword || isNumber(password) || !isLonePassword("", password) {
		return found
	}
	before := v.commandBefore(at)
	for _, c := range passwordCommands {
		if c.parted == parted && v.has(at, c.option) && strings.Contains(before, c.name) {
			return append(found, span{start, start + len(password), "command-password"})
		}
	}
	return found
}
