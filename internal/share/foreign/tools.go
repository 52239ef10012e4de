package foreign

import (
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
)

// Outcome is what became of the use of a tool.
type Outcome string

// The outcomes, as the status of an activity names them.
const (
	Unknown   Outcome = ""
	Completed Outcome = "completed"
	Failed    Outcome = "failed"
)

// shells are tools that run a command, and fileTools those that touch a file, by their folded names. Hooks know the same
// tools by the same names.
var (
	shells = map[string]bool{
		"bash": true, "shell": true, "localshell": true, "runshellcommand": true, "execcommand": true,
		"runinterminal": true, "runterminalcmd": true, "runterminalcommand": true, "execute": true, "powershell": true,
	}
	fileTools = map[string]string{
		"read": "read", "readfile": "read", "view": "read", "notebookread": "read",
		"create": "created", "createfile": "created",
		"write": "modified", "writefile": "modified", "edit": "modified", "editfile": "modified", "multiedit": "modified",
		"notebookedit": "modified", "replace": "modified", "searchreplace": "modified",
		"delete": "deleted", "deletefile": "deleted",
	}
)

// noted returns an activity that says what was done to a file or a thing to do.
func noted(kind amber.ActivityKind, name, detail, status string) amber.Activity {
	return amber.Activity{Kind: kind, Name: name, Detail: detail, Status: status, Count: 1}
}

// did returns an activity of that outcome.
func (o Outcome) did(kind amber.ActivityKind, name, detail string) amber.Activity {
	a := noted(kind, name, detail, string(o))
	if o == Failed {
		a.Failed = 1
	}
	return a
}

func failure(name string) amber.Activity {
	return amber.Activity{Kind: amber.ActivityError, Name: name, Count: 1, Failed: 1}
}

// multiline returns a command of several lines, whose name is only the first.
func multiline(command string) string {
	if strings.Contains(strings.TrimSpace(command), "\n") {
		return command
	}
	return ""
}

// lineOf returns the first line of s that says something, cut to what a name may have, or instead.
func lineOf(s, instead string, cut func(s string, most int) string) string {
	for line := range strings.Lines(s) {
		words := strings.FieldsFunc(strings.ToValidUTF8(line, "\uFFFD"), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
		if len(words) > 0 {
			return cut(strings.Join(words, " "), amber.MaxActivityNameBytes)
		}
	}
	return instead
}
