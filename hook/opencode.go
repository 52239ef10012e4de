package hook

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
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
			{"session.created", amber.HostSessionStart, true},
			{"session.deleted", amber.HostSessionEnd, false},
			{"dispose", amber.HostSessionEnd, false},
			{"chat.message", amber.HostPrompt, true},
			{"tool.execute.before", amber.HostToolBefore, false},
			{"tool.execute.after", amber.HostToolAfter, false},
			{"experimental.text.complete", amber.HostTurnEnd, false},
			{"session.idle", amber.HostTurnEnd, false},
			{"experimental.session.compacting", amber.HostCompactBefore, false},
			{"session.compacted", amber.HostCompactAfter, false},
			{"todo.updated", amber.HostTaskChange, false},
			{"session.error", amber.HostError, false},
			{"file.edited", amber.HostOther, false},
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
			d.ev.Kind, d.ev.SubagentID = amber.HostSubagentStart, string(d.ev.SessionID)
		}
	case "session.idle":
		if d.ev.ParentSession != "" {
			d.ev.Kind, d.ev.SubagentID = amber.HostSubagentEnd, string(d.ev.SessionID)
		}
	case "session.deleted", "dispose":
		d.ev.Reason = firstOf(d.ev.Reason, strings.TrimPrefix(d.event.name, "session."))
	case "file.edited":
		d.addFile(d.text("file"), amber.FileModified)
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
