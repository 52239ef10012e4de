package mcpapi

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// restoreTool is offered only where restoring was allowed.
const restoreTool = "snapshot_restore"

// snapshotTools freeze the agent and look at snapshots. People configure the redaction, encryption and signatures
// that protect a snapshot, and the tools cannot switch these off.
func snapshotTools() []*tool {
	listing := need{scope: wire.TokenRead, frozen: true, within: true}
	comparing := need{scope: wire.TokenRead, frozen: true, long: true}
	taking := need{scope: wire.TokenSnapshot, mutates: true, frozen: true, long: true}
	checking := need{scope: wire.TokenSnapshot, frozen: true, long: true}
	restoring := need{scope: wire.TokenRestore, mutates: true, frozen: true, long: true}
	return []*tool{
		define("snapshot_create", "Take a snapshot",
			"Freeze everything this agent knows, before a risky change or at a milestone.",
			taking, hints{},
			object(str("label", "what the snapshot is for")),
			snapshotSchema(), createSnapshot),
		define("snapshot_list", "List snapshots",
			"The snapshots of this agent, newest first. For more call again with cursor = next.",
			listing, hints{},
			object(num("limit", "default 10, at most 100"), str("cursor")),
			object(list("snapshots", snapshotSchema()), str("next")), listSnapshots),
		define("snapshot_diff", "Compare two snapshots",
			"What changed from snapshot a to snapshot b, in numbers.",
			comparing, hints{},
			object(must(str("a")), must(str("b"))),
			object(str("a"), str("b"), list("tables", object(str("name"), num("added"), num("changed"), num("removed"))), obj("notes"), obj("state"), obj("git"), list("missing", nil)), diffSnapshots),
		define("snapshot_verify", "Verify a snapshot",
			"Whether a snapshot is whole. read_data reads every byte and takes longer.",
			checking, hints{},
			object(must(str("id")), flag("read_data")),
			object(str("id"), flag("ok"), list("checked", nil), list("not_checked", nil), list("damaged", object(str("object"), str("reason"))), str("signature")), verifySnapshot),
		define(restoreTool, "Restore a snapshot",
			"Put a snapshot in the place of the live agent; the agent as it is now is kept in a snapshot of its own. Only when the user asks for it. Try dry_run first.",
			restoring, hints{destroys: true},
			object(must(str("id")), must(str("confirm", "the id again")), flag("dry_run")),
			object(str("from"), str("safety_snapshot"), list("restored", nil), num("generation"), flag("dry_run")), restoreSnapshot),
	}
}

func snapshotSchema() *jsonschema.Schema {
	return object(str("id"), str("label"), str("created_at"), num("bytes_total"), num("bytes_new"), flag("encrypted"), str("signed_by"), flag("pinned"), num("skipped"), str("damage"))
}

// frozen is a snapshot in an answer: no places on this machine.
type frozen struct {
	ID         amber.SnapshotID `json:"id"`
	Label      string           `json:"label,omitempty"`
	CreatedAt  amber.Time       `json:"created_at"`
	BytesTotal int64            `json:"bytes_total"`
	BytesNew   int64            `json:"bytes_new"`
	Encrypted  bool             `json:"encrypted"`
	SignedBy   string           `json:"signed_by,omitempty"`
	Pinned     bool             `json:"pinned,omitempty"`
	Skipped    int              `json:"skipped"` // things that should be in it and are not
	Warnings   int              `json:"warnings,omitempty"`
	Damage     string           `json:"damage,omitempty"`
}

func frozenOf(m wire.SnapshotMeta) frozen {
	return frozen{
		m.ID, m.Label, m.CreatedAt, m.BytesTotal, m.BytesNew, m.Encrypted, m.SignedBy, m.Pinned,
		max(m.SkippedCount, len(m.Skipped)), max(m.WarningCount, len(m.Warnings)), scrub(m.Damage),
	}
}

func (f frozen) String() string {
	s := fmt.Sprintf("%s %s, %s, %d new", f.ID, f.CreatedAt, words.Count(f.BytesTotal, "byte", "bytes"), f.BytesNew)
	if f.Label != "" {
		s += ": " + oneLine(f.Label, wire.MaxLabelBytes)
	}
	if f.Skipped > 0 {
		s += " (" + words.Count(f.Skipped, "thing is", "things are") + " missing)"
	}
	if f.Damage != "" {
		s += " (damaged: " + f.Damage + ")"
	}
	return s
}

// scrub replaces a text that names a place of this machine, since other machines must not learn it. The code cannot
// find out where a path in a text ends, so it keeps nothing of the text.
func scrub(s string) string {
	if op.NamesPlace(s) {
		return op.Unplaced
	}
	return s
}

// scrubAll scrubs every text of a list.
func scrubAll(list []string) []string {
	out := []string{}
	for _, s := range list {
		out = append(out, scrub(s))
	}
	return out
}

type createArgs struct{ Label string }

func createSnapshot(ctx context.Context, b *bound, a *op.Call, in createArgs) (answer, error) {
	m, err := a.Snapshots.Snapshot(ctx, wire.SnapshotRequest{Tenant: b.tenant, Agent: b.agent, Label: a.Redact(in.Label)})
	f := frozenOf(m)
	return answer{text: "Took " + f.String(), data: f, subject: string(m.ID)}, err
}

type pageArgs struct {
	Limit  integer
	Cursor string
}

func listSnapshots(ctx context.Context, b *bound, a *op.Call, in pageArgs) (answer, error) {
	limit, err := in.Limit.within("limit", 10, 1, 100)
	if err != nil {
		return answer{}, err
	}
	p, err := a.Snapshots.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: b.tenant, Agent: b.agent, Limit: limit, Cursor: amber.Cursor(in.Cursor)})
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Snapshots []frozen     `json:"snapshots"`
		Next      amber.Cursor `json:"next,omitempty"`
	}{[]frozen{}, p.Next}
	lines := []string{}
	for _, m := range p.Items {
		out.Snapshots = append(out.Snapshots, frozenOf(m))
		lines = append(lines, frozenOf(m).String())
	}
	return answer{text: listed(lines, "There are no snapshots."), data: out}, nil
}

type diffArgs struct{ A, B string }

func diffSnapshots(ctx context.Context, b *bound, a *op.Call, in diffArgs) (answer, error) {
	from, err := amber.ParseSnapshotID(in.A)
	if err != nil {
		return answer{}, err
	}
	to, err := amber.ParseSnapshotID(in.B)
	if err != nil {
		return answer{}, err
	}
	d, err := a.Snapshots.DiffSnapshots(ctx, wire.DiffRequest{Tenant: b.tenant, Agent: b.agent, A: from, B: to})
	return diffAnswer(d), err
}

func diffAnswer(d wire.SnapshotDiff) answer {
	type files struct {
		Added   int64 `json:"added"`
		Changed int64 `json:"changed"`
		Removed int64 `json:"removed"`
	}
	out := struct {
		A       amber.SnapshotID `json:"a"`
		B       amber.SnapshotID `json:"b"`
		Tables  []wire.TableDiff `json:"tables"` // with a difference
		Notes   files            `json:"notes"`
		State   files            `json:"state"`
		Git     wire.GitDiff     `json:"git"`
		Missing []string         `json:"missing,omitempty"`
	}{
		d.A, d.B,
		[]wire.TableDiff{},
		files{d.Notes.Added, d.Notes.Changed, d.Notes.Removed},
		files{d.State.Added, d.State.Changed, d.State.Removed},
		d.Git, scrubAll(d.Missing[:min(len(d.Missing), maxDamage)]),
	}
	var text strings.Builder
	for _, t := range d.Store.Tables {
		if t.Added+t.Changed+t.Removed > 0 {
			out.Tables = append(out.Tables, t)
			fmt.Fprintf(&text, "%s: %d added, %d changed, %d removed\n", t.Name, t.Added, t.Changed, t.Removed)
		}
	}
	if n := out.Notes; n != (files{}) {
		fmt.Fprintf(&text, "notes: %d added, %d changed, %d removed\n", n.Added, n.Changed, n.Removed)
	}
	if text.Len() == 0 {
		text.WriteString("Both snapshots hold the same.\n")
	}
	return answer{text: strings.TrimSuffix(text.String(), "\n"), data: out}
}

type verifyArgs struct {
	ID       string
	ReadData bool `json:"read_data"`
}

// maxDamage bounds how many damaged things an answer names.
const maxDamage = 20

func verifySnapshot(ctx context.Context, b *bound, a *op.Call, in verifyArgs) (answer, error) {
	ref, err := b.snapshotRef(in.ID)
	if err != nil {
		return answer{}, err
	}
	r, err := a.Snapshots.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: ref, ReadData: in.ReadData})
	if err != nil {
		return answer{}, err
	}
	type damage struct {
		Object string `json:"object"`
		Reason string `json:"reason"`
	}
	out := struct {
		ID         amber.SnapshotID `json:"id"`
		OK         bool             `json:"ok"`
		Checked    []string         `json:"checked"`
		NotChecked []string         `json:"not_checked"`
		Damaged    []damage         `json:"damaged"`
		More       int              `json:"more,omitempty"`
		Signature  string           `json:"signature"`
	}{r.ID, r.OK(), scrubAll(r.Checked), scrubAll(r.NotChecked[:min(len(r.NotChecked), maxDamage)]), []damage{}, max(0, len(r.Damaged)-maxDamage), string(r.Signature.Status)}
	for _, d := range r.Damaged[:min(len(r.Damaged), maxDamage)] {
		out.Damaged = append(out.Damaged, damage{scrub(d.Object), scrub(d.Reason)})
	}
	text := fmt.Sprintf("%s is whole as far as it was checked: %s.", r.ID, strings.Join(out.Checked, ", "))
	if !r.OK() {
		text = fmt.Sprintf("%s is damaged: %s: %s.", r.ID, out.Damaged[0].Object, out.Damaged[0].Reason)
	}
	if n := len(r.NotChecked); n > 0 {
		text += fmt.Sprintf(" Not checked (%d): %s.", n, strings.Join(out.NotChecked, ", "))
	}
	return answer{text: text, data: out, subject: in.ID}, nil
}

func (b *bound) snapshotRef(id string) (wire.SnapshotRef, error) {
	parsed, err := amber.ParseSnapshotID(id)
	return wire.SnapshotRef{Tenant: b.tenant, Agent: b.agent, ID: parsed}, err
}

// veiled hides from a caller that may see one agent that a snapshot belongs to another agent: the error says that
// the snapshot is not there, in the same words as for an id that no snapshot has.
func (b *bound) veiled(id string, err error) error {
	kind := amber.KindOf(err)
	if kind != amber.KindCrossTenant && kind != amber.KindNotFound || b.who.Grant.Reaches(b.tenant, "") {
		return err
	}
	return amber.Errorf(amber.KindNotFound, "find snapshot", id, "agent %s has no such snapshot", string(b.agent))
}

type restoreArgs struct {
	ID, Confirm string
	DryRun      bool `json:"dry_run"`
}

// restoreSnapshot restores what was confirmed by its id. The safety snapshot is
// always taken.
func restoreSnapshot(ctx context.Context, b *bound, a *op.Call, in restoreArgs) (answer, error) {
	ref, err := b.snapshotRef(in.ID)
	if err != nil {
		return answer{}, err
	}
	if in.Confirm != in.ID {
		return answer{subject: in.ID}, amber.Errorf(amber.KindRefused, "restore snapshot", in.ID, "confirm differs from the id of the snapshot, want the same id")
	}
	r, err := a.Snapshots.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref, DryRun: in.DryRun})
	if err != nil {
		return answer{subject: in.ID}, b.veiled(in.ID, err)
	}
	out := struct {
		From       amber.SnapshotID `json:"from"`
		Safety     amber.SnapshotID `json:"safety_snapshot,omitempty"`
		Restored   []string         `json:"restored"`
		Generation int64            `json:"generation"`
		Parked     int64            `json:"parked_frames,omitempty"`
		DryRun     bool             `json:"dry_run"`
	}{r.From, r.SafetySnapshot, scrubAll(r.Restored), r.Generation, r.ParkedFrames, r.DryRun}
	text := fmt.Sprintf("The agent was restored from %s; its state before that is in %s.", r.From, r.SafetySnapshot)
	if r.DryRun {
		text = fmt.Sprintf("Nothing was changed. %s would be restored: %s.", r.From, strings.Join(out.Restored, ", "))
	}
	return answer{text: text, data: out, subject: string(r.From)}, nil
}
