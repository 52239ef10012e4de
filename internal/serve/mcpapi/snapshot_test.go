package mcpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestSnapshotsTellNoPlaces(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.agents["default/"]
	a.Snapshots = talkative{a.Snapshots}
	c := r.local("snapshots")
	one, _ := c.call("snapshot_create", object{"label": "one"})
	two, _ := c.call("snapshot_create", nil)
	diff, said := c.call("snapshot_diff", object{"a": one["id"], "b": two["id"]})
	discreet(t, diff, said)
	must.Equal(t, "tables", len(diff["tables"].([]any)), 0)
	must.Equal(t, "missing", len(diff["missing"].([]any)), 2)
	page, said := c.call("snapshot_list", object{"limit": 1})
	discreet(t, page, said)
	rest, said := c.call("snapshot_list", object{"limit": 1, "cursor": page["next"]})
	discreet(t, rest, said)
	if found := rest["snapshots"].([]any)[0].(object); found["id"] != one["id"] || found["damage"] == nil {
		t.Errorf("list %v, %v", page, rest)
	}
	report, said := c.call("snapshot_verify", object{"id": one["id"], "read_data": true})
	discreet(t, report, said)
	if report["ok"] != false || len(report["checked"].([]any)) != 2 || len(report["not_checked"].([]any)) != 2 || !strings.Contains(said, "packs/ab") {
		t.Errorf("verify: %v, %q", report, said)
	}
	a.Snapshots = nil
	c.failsAs("without snapshots", amber.KindUnsupported, "snapshot_list", nil)
}

// discreet checks that an answer has no part of a place of the machine.
func discreet(t *testing.T, data object, said string) {
	t.Helper()
	b := must.Get(json.Marshal(data))(t)
	must.Hides(t, "what is told", string(b)+said, "ophelia", "my files", "lighthouse", "share")
}

// talkative names places of its machine.
type talkative struct{ wire.Snapshotter }

const (
	ofUnix    = "open /home/ophelia/my files/packs/ab: permission denied"
	ofWindows = `open \\lighthouse\ophelia share\packs\ab: permission denied`
)

func (s talkative) ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	p, err := s.Snapshotter.ListSnapshots(ctx, q)
	for i := range p.Items {
		p.Items[i].Damage = ofUnix
	}
	return p, err
}

func (s talkative) DiffSnapshots(ctx context.Context, r wire.DiffRequest) (wire.SnapshotDiff, error) {
	d, err := s.Snapshotter.DiffSnapshots(ctx, r)
	d.Missing = []string{ofUnix, ofWindows}
	return d, err
}

func (s talkative) VerifySnapshot(_ context.Context, r wire.VerifyRequest) (wire.VerifyReport, error) {
	return wire.VerifyReport{
		ID: r.ID, Checked: []string{"objects", ofUnix}, NotChecked: []string{ofWindows, ofUnix}, Damaged: []wire.Damage{{Object: "packs/ab", Reason: ofWindows}},
	}, nil
}

func (s talkative) Restore(context.Context, wire.RestoreRequest) (wire.RestoreReport, error) {
	return wire.RestoreReport{}, amber.Errorf(amber.KindDamaged, "open repository", "/home/ophelia/my files", "permission denied")
}

// TestATenantIsToldNoPlaces: a caller with a token of a tenant gets the meaning of an error; the user of the
// machine and the log get what happened.
func TestATenantIsToldNoPlaces(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.agents["default/"]
	a.Snapshots = talkative{a.Snapshots}
	args := object{"id": someID, "confirm": someID}
	r.local("snapshots").failsAs("what the user is told", amber.KindDamaged, "snapshot_restore", args, "permission denied")
	var log bytes.Buffer
	o := r.options("all")
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	tenant := r.session(o, holder("default", "default", wire.TokenScopes()...), "default", "default")
	if kind, text := tenant.fails("snapshot_restore", args); kind != amber.KindDamaged || strings.Contains(text, "permission") || strings.Contains(text, "ophelia") {
		t.Errorf("a tenant is told %s: %s", kind, text)
	}
	must.Says(t, "the log", log.String(), "/home/ophelia/my files", "request_id=req")
	// The error repeats the path that the caller itself has sent.
	none := object{"command": "view", "path": "/memories/none.md"}
	tenant.failsAs("a file that is not there", amber.KindNotFound, "memory", none, "/memories/none.md")
}

// TestSnapshotsNeedNoLiveAgent lists, verifies and restores snapshots of an agent
// whose store cannot be opened, and makes none.
func TestSnapshotsNeedNoLiveAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("all")
	taken, _ := c.call("snapshot_create", object{"label": "one"})
	delete(r.agents, "default/default")
	c.failsAs("an agent that is gone", amber.KindNotFound, "memory_recall", object{"query": "x"})
	must.Equal(t, "snapshots", c.count("snapshots", "snapshot_list", nil), 1)
	c.call("snapshot_verify", object{"id": taken["id"]})
	c.call("snapshot_diff", object{"a": taken["id"], "b": taken["id"]})
	c.call("snapshot_restore", object{"id": taken["id"], "confirm": taken["id"]})
}

// foreign has snapshots of other agents only.
type foreign struct {
	wire.Snapshotter
	err error
}

func (f foreign) Restore(context.Context, wire.RestoreRequest) (wire.RestoreReport, error) {
	return wire.RestoreReport{}, f.err
}

// TestASnapshotOfAnotherAgentIsNotThere for a caller that may see one agent.
func TestASnapshotOfAnotherAgentIsNotThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.agents["default/"]
	c := r.session(r.options("snapshots"), holder("default", "default", wire.TokenRestore), "default", "default")
	told := func(err error) string {
		a.Snapshots = foreign{err: err}
		kind, text := c.fails("snapshot_restore", object{"id": someID, "confirm": someID})
		if kind != amber.KindNotFound {
			t.Errorf("%v is told as %s", err, kind)
		}
		return text
	}
	other := told(amber.Errorf(amber.KindCrossTenant, "restore", someID, "it is a snapshot of agent bob"))
	must.Equal(t, "what is told of another agent's",
		other, told(amber.Errorf(amber.KindNotFound, "find manifest", someID, "no repository has the manifest")))
}
