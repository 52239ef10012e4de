package foreign

import "github.com/amber-memory/amber"

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
		"bash": true, "shell": true, "localshell": true, "runshellcommand": true, "execcommand": true, "unifiedexec": true,
		"runinterminal": true, "runterminalcmd": true, "runterminalcommand": true, "execute": true, "powershell": true, "terminal": true,
	}
	fileTools = map[string]string{
		"read": "read", "readfile": "read", "readmanyfiles": "read", "view": "read", "viewfile": "read", "viewimage": "read", "notebookread": "read",
		"create": "created", "createfile": "created",
		"write": "modified", "writefile": "modified", "edit": "modified", "editfile": "modified", "multiedit": "modified",
		"notebookedit": "modified", "editnotebook": "modified", "editnotebookfile": "modified", "editfiles": "modified",
		"replace": "modified", "searchreplace": "modified", "strreplace": "modified", "replacestringinfile": "modified", "inserteditintofile": "modified",
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
