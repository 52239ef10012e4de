package drain

import (
	"cmp"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/wire"
)

// doings collects what was done in one event.
type doings struct {
	ev   journal.HostEvent
	list []amber.Activity
}

func (d *doings) add(kind amber.ActivityKind, what, detail, status string, failed bool) {
	a := amber.Activity{
		SessionID: d.ev.SessionID, Kind: kind, Name: what, Detail: clip.Bytes(text(detail), amber.MaxActivityDetailBytes),
		Status: clip.Bytes(clip.Printed(status), amber.MaxIDBytes), Count: 1, FirstAt: d.ev.ObservedAt, LastAt: d.ev.ObservedAt,
	}
	if failed {
		a.Failed = 1
	}
	d.list = append(d.list, a)
}

// activity returns what was done. The use of a tool counts when it is over:
// that event says everything the one before it said.
func activity(ev journal.HostEvent) []amber.Activity {
	d := &doings{ev: ev}
	switch ev.Kind {
	case journal.HostToolAfter:
		d.tool()
	case journal.HostError:
		d.add(amber.ActivityError, name(ev.Message, "an error"), ev.Reason, "", true)
	case journal.HostSubagentStart:
		d.add(amber.ActivitySubagent, d.subagent(), ev.Prompt, "running", false)
	case journal.HostSubagentEnd:
		d.add(amber.ActivitySubagent, d.subagent(), ev.Answer, "completed", false)
	case journal.HostCompactBefore:
		d.add(amber.ActivityCompaction, name(ev.Reason, "compaction"), ev.Message, "", false)
	case journal.HostContext:
		for _, i := range ev.Shown[:min(len(ev.Shown), wire.MaxKnown)] {
			d.add(amber.ActivityContext, name(amber.ShownName(i.Layer, i.Owner), "unknown"), i.Digest, i.Why, false)
		}
	case journal.HostOther:
		d.add(amber.ActivityOther, name(ev.NativeEvent, "unknown"), cmp.Or(ev.Message, string(ev.Raw)), "", false)
	}
	if ev.Kind != journal.HostToolBefore {
		for _, f := range ev.Files {
			d.add(amber.ActivityFile, name(f.Path, "unknown"), "", string(f.Action), false)
		}
		for _, t := range ev.Tasks {
			d.add(amber.ActivityTask, name(t.Text, "unnamed"), t.ID, t.Status, t.Status == "failed")
		}
	}
	return d.list
}

// tool returns the use of a tool, its command and its failure.
func (d *doings) tool() {
	t := d.ev.Tool
	if t == nil {
		return
	}
	status := "completed"
	if t.Failed {
		status = "failed"
	}
	d.add(amber.ActivityTool, name(t.Name, "unknown"), string(t.Input), status, t.Failed)
	if t.Command != "" {
		d.add(amber.ActivityCommand, name(t.Command, "unknown"), ending(t), status, t.Failed)
	}
	if t.Failed {
		d.add(amber.ActivityError, name(t.Name+": "+cmp.Or(t.Output, d.ev.Message), "an error"), t.Command, "", true)
	}
}

// ending is what is worth keeping of a command beside its first line: the
// rest of it, and what it said when it failed.
func ending(t *journal.HostTool) string {
	var parts []string
	if strings.Contains(strings.TrimSpace(t.Command), "\n") {
		parts = append(parts, clip.Bytes(t.Command, amber.MaxActivityDetailBytes/2))
	}
	if t.Failed && t.Output != "" {
		parts = append(parts, t.Output)
	}
	return strings.Join(parts, "\n\n")
}

func (d *doings) subagent() string {
	kind := cmp.Or(d.ev.SubagentType, "subagent")
	if d.ev.SubagentID == "" {
		return name(kind, "subagent")
	}
	return name(kind+" "+d.ev.SubagentID, "subagent")
}
