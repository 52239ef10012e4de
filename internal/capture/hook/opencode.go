package hook

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// openCode has no hooks that run programs: a plugin of ours runs one for each
// event, and names things as OpenCode does.
func openCode() dialect {
	return dialect{
		host:    OpenCode,
		aliases: []string{"open-code"},
		names:   []string{"type"},
		session: []string{"sessionID"},
		events: []event{
			{"session.created", journal.HostSessionStart, true},
			{"session.deleted", journal.HostSessionEnd, false},
			{"dispose", journal.HostSessionEnd, false},
			{"chat.message", journal.HostPrompt, true},
			{"tool.execute.before", journal.HostToolBefore, false},
			{"tool.execute.after", journal.HostToolAfter, false},
			{"experimental.text.complete", journal.HostTurnEnd, false},
			{"session.idle", journal.HostTurnEnd, false},
			{"experimental.session.compacting", journal.HostCompactBefore, false},
			{"session.compacted", journal.HostCompactAfter, false},
			{"todo.updated", journal.HostTaskChange, false},
			{"session.error", journal.HostError, false},
			{"file.edited", journal.HostOther, false},
		},
		fill:  fillOpenCode,
		reply: bare,
	}
}

// fillOpenCode: a session with a parent is a subagent's.
func fillOpenCode(d *draft) {
	switch d.event.name {
	case "session.created":
		if d.ev.ParentSession != "" {
			d.ev.Kind, d.ev.SubagentID = journal.HostSubagentStart, string(d.ev.SessionID)
		}
	case "session.idle":
		if d.ev.ParentSession != "" {
			d.ev.Kind, d.ev.SubagentID = journal.HostSubagentEnd, string(d.ev.SessionID)
		}
	case "session.deleted", "dispose":
		d.ev.Reason = cmp.Or(d.ev.Reason, strings.TrimPrefix(d.event.name, "session."))
	case "file.edited":
		d.addFile(d.text("file"), journal.FileModified)
	}
}

//go:embed opencode/amber.js
var openCodePlugin string

// OpenCodePluginMark is in the first line of the plugin, so that a reader who finds
// the file knows whose it is.
const OpenCodePluginMark = "amber-memory opencode plugin"

// commandPlaceholder is what the plugin has in the place of the command.
const commandPlaceholder = `["amber"]`

// OpenCodePlugin returns the source of the plugin for OpenCode that runs command,
// followed by "hook opencode --event NAME", for each event.
func OpenCodePlugin(command []string) string {
	b, err := json.Marshal(command) // escapes < and > as well
	if err != nil {
		panic("hook: strings always marshal: " + err.Error())
	}
	return strings.Replace(openCodePlugin, commandPlaceholder, string(b), 1)
}
