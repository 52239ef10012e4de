package claudecode

import "strings"

// programTags enclose text that Claude Code puts into a prompt. The arguments that the user gave to a command are the
// user's words.
var programTags = []string{
	"command-name", "command-message", "local-command-stdout", "local-command-stderr", "local-command-caveat",
	"system-reminder", "bash-input", "bash-stdout", "bash-stderr", "task-notification", "user-prompt-submit-hook",
	"ide_opened_file", "ide_selection", "ide_diagnostics",
}

const (
	argumentsTag = "command-args"
	caveat       = "Caveat: The messages below"
	interrupted  = "[Request interrupted by user"
)

// maxElements bounds how much of the program's text is looked for in one text.
const maxElements = 64

// ownWords returns what the user wrote: the text without what the program put before or behind it. The same words
// within the text are left, as people write about such things too.
func ownWords(s string) string {
	s = strings.TrimSpace(s)
	for range maxElements {
		next := cutBehind(cutBefore(s))
		if next == s {
			break
		}
		s = next
	}
	if strings.HasPrefix(s, caveat) || strings.HasPrefix(s, interrupted) && strings.HasSuffix(s, "]") {
		return ""
	}
	return s
}

// cutBefore takes one element of the program off the beginning.
func cutBefore(s string) string {
	if !strings.HasPrefix(s, "<") {
		return s
	}
	for _, tag := range programTags {
		if _, rest, ok := cutElement(s, tag); ok {
			return strings.TrimSpace(rest)
		}
	}
	if arguments, rest, ok := cutElement(s, argumentsTag); ok {
		return strings.TrimSpace(strings.TrimSpace(arguments) + "\n" + strings.TrimSpace(rest))
	}
	return s
}

// cutElement cuts an element off the beginning of s.
func cutElement(s, tag string) (inner, rest string, ok bool) {
	if s, ok = strings.CutPrefix(s, "<"+tag+">"); !ok {
		return "", "", false
	}
	return strings.Cut(s, "</"+tag+">")
}

// cutBehind takes one element of the program off the end.
func cutBehind(s string) string {
	if !strings.HasSuffix(s, ">") {
		return s
	}
	for _, tag := range programTags {
		if rest, ok := strings.CutSuffix(s, "</"+tag+">"); ok {
			if at := strings.LastIndex(rest, "<"+tag+">"); at >= 0 {
				return strings.TrimSpace(rest[:at])
			}
		}
	}
	return s
}
