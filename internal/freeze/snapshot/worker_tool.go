package snapshot

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// LabelBeforeTool begins the label of snapshots that are taken before a tool
// changes something; the name of the tool follows.
const LabelBeforeTool = "auto:pre-tool-"

// ToolGuard freezes an agent before a tool changes something.
type ToolGuard struct {
	Taker  wire.SnapshotTaker
	Insist Insistence // "": Off
	// Warn receives the failures that the guard did not insist on. It may be nil, and returns at
	// once.
	Warn func(string)
}

// BeforeMutatingTool freezes an agent before a tool runs, and returns the
// snapshot, "" when there is none: nothing is insisted on, or there is no such
// agent yet and so nothing to lose. An error means that the tool must not run.
// Errors: those of Snapshot, where Insist is [Require].
func (g ToolGuard) BeforeMutatingTool(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, tool string) (amber.SnapshotID, error) {
	if g.Insist == Off || g.Insist == "" {
		return "", nil
	}
	meta, err := g.Taker.Snapshot(ctx, wire.SnapshotRequest{Tenant: tenant, Agent: agent, Label: LabelBeforeTool + toolName(tool)})
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return "", nil
	case err != nil && g.Insist == Try:
		if g.Warn != nil {
			g.Warn(fmt.Sprintf("a tool changes something of agent %s without a snapshot: %v", agent, err))
		}
		return "", nil
	}
	return meta.ID, err
}

// toolName makes the name of a tool, which a host brings, fit for a label.
func toolName(tool string) string {
	tool = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, tool)
	most := wire.MaxLabelBytes - len(LabelBeforeTool)
	for len(tool) > most {
		_, size := utf8.DecodeLastRuneInString(tool)
		tool = tool[:len(tool)-size]
	}
	if tool == "" {
		return "unnamed"
	}
	return tool
}
