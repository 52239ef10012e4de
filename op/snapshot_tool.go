package op

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/wire"
)

// The tools freeze the agent and show snapshots. People configure the redaction, encryption and signatures that protect a
// snapshot, and the tools cannot switch these off.

const frozenShows = "id label created_at bytes_total bytes_new encrypted signed_by pinned skipped damage"

// frozenPage is a snapshot in an answer: no places on this machine.
type frozenPage struct {
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

func frozenOf(m wire.SnapshotMeta) frozenPage {
	return frozenPage{
		m.ID, m.Label, m.CreatedAt, m.BytesTotal, m.BytesNew, m.Encrypted, m.SignedBy, m.Pinned,
		max(m.SkippedCount, len(m.Skipped)), max(m.WarningCount, len(m.Warnings)), Scrub(m.Damage),
	}
}

func (f frozenPage) String() string {
	s := fmt.Sprintf("%s %s, %s, %d new", f.ID, f.CreatedAt, words.Count(f.BytesTotal, "byte", "bytes"), f.BytesNew)
	if f.Label != "" {
		s += ": " + shown.OneLine(f.Label, wire.MaxLabelBytes)
	}
	if f.Skipped > 0 {
		s += " (" + words.Count(f.Skipped, "thing is", "things are") + " missing)"
	}
	if f.Damage != "" {
		s += " (damaged: " + f.Damage + ")"
	}
	return s
}

// Scrub replaces a text that names a place of this machine, since other machines must not learn it. The code cannot find out
// where a path in a text ends, so it keeps nothing of the text.
func Scrub(s string) string {
	if NamesPlace(s) {
		return Unplaced
	}
	return s
}

// ScrubAll scrubs every text of a list.
func ScrubAll(list []string) []string {
	out := []string{}
	for _, s := range list {
		out = append(out, Scrub(s))
	}
	return out
}

// snapshot names a snapshot of the agent of the connection.
func (h *Host) snapshot(id string) (SnapshotID, error) {
	parsed, err := amber.ParseSnapshotID(id)
	return SnapshotID{h.whose(), parsed}, err
}

type snapshotCreateArgs struct {
	Label string `json:"label" doc:"what the snapshot is for"`
}

var snapshotCreate = NewTool(Tool{
	Op: SnapshotTake.Row, Name: "snapshot_create", Title: "Take a snapshot", Shows: frozenShows,
	Use: "Freeze everything this agent knows, before a risky change or at a milestone.",
}, func(ctx context.Context, c *Call, in snapshotCreateArgs) (frozenPage, string, error) {
	m, err := SnapshotTake.Call(ctx, c, SnapshotTakeIn{c.Host.whose(), wire.SnapshotRequest{Label: in.Label}})
	f := frozenOf(m)
	return f, "Took " + f.String(), err
})

type snapshotListArgs struct {
	Limit  int          `json:"limit" doc:"default 10, at most 100" range:"1 100" default:"10"`
	Cursor amber.Cursor `json:"cursor"`
}

type frozenPages struct {
	Snapshots []frozenPage `json:"snapshots" shows:"id label created_at bytes_total bytes_new encrypted signed_by pinned skipped damage"`
	Next      amber.Cursor `json:"next,omitempty"`
}

var snapshotList = NewTool(Tool{
	Op: SnapshotList.Row, Name: "snapshot_list", Title: "List snapshots",
	Use: "The snapshots of this agent, newest first. For more call again with cursor = next.",
}, func(ctx context.Context, c *Call, in snapshotListArgs) (frozenPages, string, error) {
	p, err := SnapshotList.Call(ctx, c, SnapshotsIn{c.Host.whose(), Paging(in)})
	out, lines := frozenPages{[]frozenPage{}, p.Next}, []string{}
	for _, m := range p.Items {
		out.Snapshots, lines = append(out.Snapshots, frozenOf(m)), append(lines, frozenOf(m).String())
	}
	return out, Lines(lines, "There are no snapshots."), err
})

type snapshotDiffArgs struct {
	A string `json:"a" need:"yes"`
	B string `json:"b" need:"yes"`
}

type fileCounts struct {
	Added   int64 `json:"added"`
	Changed int64 `json:"changed"`
	Removed int64 `json:"removed"`
}

type snapshotsDiffer struct {
	A       amber.SnapshotID `json:"a"`
	B       amber.SnapshotID `json:"b"`
	Tables  []wire.TableDiff `json:"tables" shows:"name added changed removed"` // with a difference
	Notes   fileCounts       `json:"notes"`
	State   fileCounts       `json:"state"`
	Git     wire.GitDiff     `json:"git"`
	Missing []string         `json:"missing,omitempty"`
}

var snapshotDiff = NewTool(Tool{
	Op: SnapshotDiff.Row, Name: "snapshot_diff", Title: "Compare two snapshots", Use: "What changed from snapshot a to snapshot b, in numbers.",
}, func(ctx context.Context, c *Call, in snapshotDiffArgs) (out snapshotsDiffer, text string, err error) {
	from, err := amber.ParseSnapshotID(in.A)
	if err != nil {
		return out, "", err
	}
	to, err := amber.ParseSnapshotID(in.B)
	if err != nil {
		return out, "", err
	}
	d, err := SnapshotDiff.Call(ctx, c, SnapshotDiffIn{c.Host.whose(), wire.DiffRequest{A: from, B: to}})
	out = snapshotsDiffer{
		d.A, d.B,
		[]wire.TableDiff{},
		fileCounts{d.Notes.Added, d.Notes.Changed, d.Notes.Removed},
		fileCounts{d.State.Added, d.State.Changed, d.State.Removed},
		d.Git, ScrubAll(d.Missing[:min(len(d.Missing), maxDamage)]),
	}
	var lines []string
	for _, t := range d.Store.Tables {
		if t.Added+t.Changed+t.Removed > 0 {
			out.Tables = append(out.Tables, t)
			lines = append(lines, fmt.Sprintf("%s: %d added, %d changed, %d removed", t.Name, t.Added, t.Changed, t.Removed))
		}
	}
	if n := out.Notes; n != (fileCounts{}) {
		lines = append(lines, fmt.Sprintf("notes: %d added, %d changed, %d removed", n.Added, n.Changed, n.Removed))
	}
	return out, Lines(lines, "Both snapshots hold the same."), err
})

type snapshotVerifyArgs struct {
	ID       string `json:"id" need:"yes"`
	ReadData bool   `json:"read_data"`
}

// maxDamage bounds how many damaged things an answer names.
const maxDamage = 20

type damagedThing struct {
	Object string `json:"object"`
	Reason string `json:"reason"`
}

type snapshotVerified struct {
	ID         amber.SnapshotID `json:"id"`
	OK         bool             `json:"ok"`
	Checked    []string         `json:"checked"`
	NotChecked []string         `json:"not_checked"`
	Damaged    []damagedThing   `json:"damaged" shows:"object reason"`
	More       int              `json:"more,omitempty"`
	Signature  string           `json:"signature"`
}

var snapshotVerify = NewTool(Tool{
	Op: SnapshotVerify.Row, Name: "snapshot_verify", Title: "Verify a snapshot", Shows: "id ok checked not_checked damaged signature",
	Use: "Whether a snapshot is whole. read_data reads every byte and takes longer.",
}, func(ctx context.Context, c *Call, in snapshotVerifyArgs) (out snapshotVerified, text string, err error) {
	id, err := c.Host.snapshot(in.ID)
	if err != nil {
		return out, "", err
	}
	r, err := SnapshotVerify.Call(ctx, c, SnapshotVerifyIn{id, wire.VerifyRequest{ReadData: in.ReadData}})
	if err != nil {
		return out, "", err
	}
	out = snapshotVerified{
		r.ID, r.OK(), ScrubAll(r.Checked), ScrubAll(r.NotChecked[:min(len(r.NotChecked), maxDamage)]),
		[]damagedThing{},
		max(0, len(r.Damaged)-maxDamage), string(r.Signature.Status),
	}
	for _, d := range r.Damaged[:min(len(r.Damaged), maxDamage)] {
		out.Damaged = append(out.Damaged, damagedThing{Scrub(d.Object), Scrub(d.Reason)})
	}
	text = fmt.Sprintf("%s is whole as far as it was checked: %s.", r.ID, strings.Join(out.Checked, ", "))
	if !r.OK() {
		text = fmt.Sprintf("%s is damaged: %s: %s.", r.ID, out.Damaged[0].Object, out.Damaged[0].Reason)
	}
	if n := len(r.NotChecked); n > 0 {
		text += fmt.Sprintf(" Not checked (%d): %s.", n, strings.Join(out.NotChecked, ", "))
	}
	return out, text, nil
})

type snapshotRestoreArgs struct {
	ID      string `json:"id" need:"yes"`
	Confirm string `json:"confirm" doc:"the id again" need:"yes"`
	DryRun  bool   `json:"dry_run"`
}

type snapshotRestored struct {
	From       amber.SnapshotID `json:"from"`
	Safety     amber.SnapshotID `json:"safety_snapshot,omitempty"`
	Restored   []string         `json:"restored"`
	Generation int64            `json:"generation"`
	Parked     int64            `json:"parked_frames,omitempty"`
	DryRun     bool             `json:"dry_run"`
}

// RestoreTool is offered only where restoring was allowed.
const RestoreTool = "snapshot_restore"

// snapshotRestore restores what was confirmed by its id. The safety snapshot is always taken.
var snapshotRestore = NewTool(Tool{
	Op: SnapshotRestore.Row, Name: RestoreTool, Title: "Restore a snapshot", Hints: Destroys, Shows: "from safety_snapshot restored generation dry_run",
	Use: "Put a snapshot in the place of the live agent; the agent as it is now is kept in a snapshot of its own. Only when the user asks for it. Try dry_run first.",
}, func(ctx context.Context, c *Call, in snapshotRestoreArgs) (out snapshotRestored, text string, err error) {
	id, err := c.Host.snapshot(in.ID)
	if err != nil {
		return out, "", err
	}
	c.Subject = in.ID
	if in.Confirm != in.ID {
		return out, "", amber.Errorf(amber.KindRefused, "restore snapshot", in.ID, "confirm differs from the id of the snapshot, want the same id")
	}
	r, err := SnapshotRestore.Call(ctx, c, SnapshotRestoreIn{id, wire.RestoreRequest{DryRun: in.DryRun}})
	out = snapshotRestored{r.From, r.SafetySnapshot, ScrubAll(r.Restored), r.Generation, r.ParkedFrames, r.DryRun}
	text = fmt.Sprintf("The agent was restored from %s; its state before that is in %s.", r.From, r.SafetySnapshot)
	if r.DryRun {
		text = fmt.Sprintf("Nothing was changed. %s would be restored: %s.", r.From, strings.Join(out.Restored, ", "))
	}
	return out, text, err
})

type consolidationBeginArgs struct {
	Run     string `json:"run" doc:"a name for the run"`
	Abandon string `json:"abandon" doc:"the id of a run that is gone"`
}

const consolidationShows = "id run began_at ended_at snapshot warning outcome unfinished"

var consolidationBegin = NewTool(Tool{
	Op: ConsolidationBegin.Row, Name: "consolidation_begin", Title: "Begin a consolidation", Shows: consolidationShows,
	Use: "Call before you merge, digest or prune many memories: a snapshot is taken first. Keep the id for consolidation_end. Conflict: another run has not ended; if that run is gone, give its id as abandon.",
}, func(ctx context.Context, c *Call, in consolidationBeginArgs) (wire.Consolidation, string, error) {
	began, err := ConsolidationBegin.Call(ctx, c, ConsolidationBeginIn{c.Host.whose(), wire.ConsolidationBegin{Run: in.Run, Abandon: in.Abandon}})
	began.Warning = Scrub(began.Warning)
	text := fmt.Sprintf("Consolidation %s is open; snapshot %s holds the memory as it was before.", began.ID, began.Snapshot)
	if began.Snapshot == "" {
		text = fmt.Sprintf("Consolidation %s is open WITHOUT a snapshot. %s", began.ID, began.Warning)
	}
	if u := began.Unfinished; u != nil {
		text += fmt.Sprintf(" Consolidation %s, which began at %s and never ended, was abandoned.", u.ID, u.BeganAt)
	}
	return began, text, err
})

type consolidationEndArgs struct {
	ID      string                    `json:"id" need:"yes"`
	Outcome wire.ConsolidationOutcome `json:"outcome" doc:"done, failed or abandoned; default done"`
}

var consolidationEnd = NewTool(Tool{
	Op: ConsolidationEnd.Row, Name: "consolidation_end", Title: "End a consolidation", Shows: consolidationShows,
	Use: "Call when the consolidation is over, whether it worked or not.",
}, func(ctx context.Context, c *Call, in consolidationEndArgs) (wire.Consolidation, string, error) {
	ended, err := ConsolidationEnd.Call(ctx, c, ConsolidationEndIn{c.Host.whose(), in.ID, wire.ConsolidationEnd{Outcome: in.Outcome}})
	ended.Warning, c.Subject = Scrub(ended.Warning), ended.ID
	return ended, fmt.Sprintf("Consolidation %s is over: %s.", ended.ID, ended.Outcome), err
})
