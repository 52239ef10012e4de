package claudemem

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// programProject is what the program calls its own sessions.
const programProject = "observer-sessions"

// contentSession is the id of the host's session. Before schema 17 the columns had other names.
func contentSession(r row) string { return r.Text("content_session_id", "claude_session_id") }

func memorySession(r row) string { return r.Text("memory_session_id", "sdk_session_id") }

// timeOf returns a time that is kept twice: as milliseconds, which count, and as text. It is zero where there is none.
func timeOf(r row, column string) (amber.Time, error) {
	if ms, ok := r.Number(column + "_epoch"); ok {
		return foreign.Seconds(ms / 1000)
	}
	if s := r.Text(column); s != "" {
		return foreign.Text(s)
	}
	return amber.Time{}, nil
}

// epoch returns the time of a row as its key has it.
func epoch(r row) string {
	if ms, ok := r.Number("created_at_epoch"); ok {
		return strconv.FormatFloat(ms, 'f', -1, 64)
	}
	return r.Text("created_at")
}

// list returns a list, which is JSON in a text.
func list(r row, column string) []string {
	text := r.Text(column)
	if m, ok := r.(foreign.Fields); ok && text == "" {
		return m.Texts(column)
	}
	return foreign.Fields{"": json.RawMessage(strings.TrimSpace(text))}.Texts("")
}

// project returns the project of a row; own is set for what the program wrote about itself.
func project(r row, o foreign.Options) (project string, own bool) {
	project = r.Text("merged_into_project", "project")
	if project == programProject || r.Text("project") == programProject {
		return "", true
	}
	if o.Project != "" {
		return o.Project, false
	}
	return project, false
}

// kept returns the columns that Amber has no field for, as they were, unless they are empty.
func kept(r row, columns ...string) foreign.Object {
	out := foreign.Object{}
	for _, c := range columns {
		if s := r.Text(c); s != "" {
			out[c] = s
		}
	}
	return out
}
