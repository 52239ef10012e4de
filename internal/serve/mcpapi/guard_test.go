package mcpapi_test

import (
	"context"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestTheGuardIsAskedBeforeEveryChange has a guard that says no: every tool that
// says it changes something fails with its error and changes nothing, and no
// tool that says it only reads asks it.
func TestTheGuardIsAskedBeforeEveryChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var asked []string
	r.desk.BeforeTool = func(_ context.Context, tenant amber.TenantID, agent amber.AgentID, tool string) error {
		must.Equal(t, "tenant", tenant, "default")
		must.Equal(t, "agent", agent, "default")
		asked = append(asked, tool)
		return amber.Errorf(amber.KindBusy, "freeze", "", "not now")
	}
	c := r.local("all")
	res := must.Get(c.cs.ListTools(t.Context(), nil))(t)
	for _, tool := range res.Tools {
		asked = nil
		args, ok := plausible[tool.Name]
		if !ok {
			t.Fatalf("no arguments for %s", tool.Name)
		}
		if tool.Name == "memory" { // that only looks
			args = object{"command": "create", "path": "/memories/x", "file_text": "x"}
		}
		res := c.try(tool.Name, args)
		if tool.Annotations.ReadOnlyHint {
			if len(asked) != 0 {
				t.Errorf("%s reads, and asked %v", tool.Name, asked)
			}
			continue
		}
		if !slices.Equal(asked, []string{tool.Name}) || !res.IsError || textOf(res) != "busy: freeze: not now" {
			t.Errorf("%s asked %v: %s", tool.Name, asked, textOf(res))
		}
	}
	must.Equal(t, "changes", must.Get(r.store().Stats.Stats(t.Context()))(t).Changes, 0)
	for _, e := range r.audit.Cut(0) {
		must.Equal(t, "outcome written down", e.Outcome, string(amber.KindBusy))
	}
}
