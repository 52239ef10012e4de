package setup

import (
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
)

// call is a command that gives an event to Amber.
type call struct {
	Executable  string
	Flags       []string // before the verb
	Host, Event string
}

// parseCall reads a command of a settings file, and reports whether it is one
// of Amber's: the words must be exactly those that setup writes, whatever the
// program's folder and the flags before the verb.
func parseCall(command string) (call, bool) {
	words, ok := split(command)
	if !ok {
		return call{}, false
	}
	if len(words) > 0 && words[0] == "&" { // PowerShell
		words = words[1:]
	}
	if n := len(words); n > 2 && words[n-2] == "||" && words[n-1] == "true" {
		words = words[:n-2]
	}
	if len(words) == 0 || !isAmber(words[0]) {
		return call{}, false
	}
	rest := skipFlags(words[1:])
	if len(rest) != 4 || rest[0] != "hook" || rest[2] != "--event" || !eventName().MatchString(rest[3]) {
		return call{}, false
	}
	return call{words[0], words[1 : len(words)-len(rest)], rest[1], rest[3]}, true
}

var eventName = pattern.Of(`^[A-Za-z.]+$`)

// isAmber reports whether a path names a program called amber.
func isAmber(path string) bool {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	return base == "amber" || base == "amber.exe"
}

// split cuts a command into its words as a POSIX shell does for text without
// expansions. It reports false for quotes that do not end.
//
// A backslash outside of quotes is a plain character before a letter or a digit:
// that is what paths of Windows look like, and setup never writes it otherwise.
func split(command string) (words []string, ok bool) {
	var word strings.Builder
	begun := false
	var quote byte
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == '\'' && c != '\'':
			word.WriteByte(c)
		case quote == '"' && c == '\\' && i+1 < len(command) && strings.IndexByte("\\\"$`", command[i+1]) >= 0:
			i++
			word.WriteByte(command[i])
		case quote == '"' && c != '"':
			word.WriteByte(c)
		case quote != 0:
			quote = 0
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == '\\' && i+1 < len(command) && !plain(command[i+1]):
			i++
			word.WriteByte(command[i])
			begun = true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, quote == 0
}

func plain(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// command returns the shell command that gives an event of a host to this
// Amber. Where the shell knows how, a failure is no failure of the host.
func (o Options) command(host, event string) string {
	words := append(append([]string{o.Executable}, o.Flags...), "hook", host, "--event", event)
	for i, w := range words {
		words[i] = o.quote(w)
	}
	text := strings.Join(words, " ")
	if o.GOOS == "windows" {
		return text // neither cmd nor PowerShell 5 knows "|| true"
	}
	return text + " || true"
}

// powershell returns the command as PowerShell wants it.
func (o Options) powershell(host, event string) string {
	text := o.command(host, event)
	if strings.HasPrefix(text, `"`) {
		text = "& " + text
	}
	return text
}

var harmless = pattern.Of(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quote writes a word for the shell. On Windows a path is written with
// slashes, which every shell there understands.
func (o Options) quote(word string) string {
	if o.GOOS == "windows" {
		word = strings.ReplaceAll(word, `\`, "/")
		if harmless().MatchString(word) {
			return word
		}
		return `"` + word + `"`
	}
	if harmless().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
