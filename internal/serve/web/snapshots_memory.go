package web

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/wire"
)

// snapshotMemoriesData is what the memories of a snapshot are shown from.
type snapshotMemoriesData struct {
	ID    amber.SnapshotID
	Short string
	Page  amber.Page[amber.Memory]
}

// snapshotMemories lists what was remembered at the time of a snapshot.
func (v snapshotScreens) snapshotMemories() error {
	past, err := v.past()
	if err != nil {
		return err
	}
	page, err := past.List(v.r.Context(), amber.ListQuery{All: true, Limit: pageSize, Cursor: amber.Cursor(v.query("cursor"))})
	if err != nil {
		return err
	}
	d := snapshotMemoriesData{ID: v.snapshotRef().ID, Short: shortID(v.snapshotRef().ID), Page: page}
	s := screen{Title: "Memories of snapshot " + d.Short, Nav: "snapshots", Command: v.command("list", "--all", "--at", string(d.ID))}
	return v.render("snapshot_memories", s, d)
}

// past is the memory of the snapshot that the address names.
func (v snapshotScreens) past() (*client.Past, error) {
	return v.remote.Snapshots().At(v.r.Context(), v.snapshotRef())
}

// snapshotMemoryData is what one memory of a snapshot is shown from.
type snapshotMemoryData struct {
	ID    amber.SnapshotID
	Short string
	Then  amber.Memory
	Whole long          // the text of then
	Now   *amber.Memory // nil: it is not live
	Gone  string        // why it is not
	Same  bool
	Text  sides
	Facts []factPair // fields that differ
	Plan  *wire.MemoryRestore
	// Live is the state of the live memory that the plan is about.
	Live    string
	Problem string
}

// liveState names a state of a live memory; nil is one that is not live. The digest is in it because a restore
// of the whole agent can give a revision number again.
func liveState(m *amber.Memory) string {
	if m == nil {
		return "none"
	}
	return fmt.Sprintf("%d %s", m.Revision, m.ContentDigest)
}

// snapshotMemory shows a memory as it was, beside the live one. With restore in the address it also
// shows what bringing it back would change.
func (v snapshotScreens) snapshotMemory() error {
	return v.showSnapshotMemory(v.query("restore") != "", "")
}

func (v snapshotScreens) showSnapshotMemory(plan bool, problem string) error {
	past, err := v.past()
	if err != nil {
		return err
	}
	ctx, id := v.r.Context(), amber.MemoryID(v.r.PathValue("memory"))
	d := snapshotMemoryData{ID: v.snapshotRef().ID, Short: shortID(v.snapshotRef().ID), Problem: problem}
	if d.Then, err = past.Get(ctx, id); err != nil {
		return err
	}
	d.Whole = fitting(d.Then.Content)
	if d.Now, d.Gone, err = v.liveMemory(ctx, id); err != nil {
		return err
	}
	d.Live = liveState(d.Now)
	if d.Now != nil {
		d.Text, d.Facts = newSides(d.Now.Content, d.Then.Content), factPairs(*d.Now, d.Then)
		d.Same = !d.Text.Differ && len(d.Facts) == 0
	}
	s := screen{Title: "Memory in snapshot " + d.Short, Nav: "snapshots", Command: v.command("list", "--all", "--at", string(d.ID))}
	if plan {
		s.Command = v.command("snapshot", "restore", string(d.ID), "--memory", string(id), "--dry-run")
		v.log.forget()
		plan, err := v.remote.Snapshots().RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: v.snapshotRef(), Memory: id, DryRun: true})
		if err != nil {
			return err
		}
		d.Plan = &plan
	}
	return v.render("snapshot_memory", s, d)
}

// liveMemory is a memory as it is now; nil with the reason for one that is not live.
func (v snapshotScreens) liveMemory(ctx context.Context, id amber.MemoryID) (*amber.Memory, string, error) {
	store, err := v.remote.Store(ctx)
	if err != nil {
		return nil, "", err
	}
	now, err := store.Memories.Get(ctx, id)
	switch {
	case err == nil && now.DeletedAt.IsZero():
		return &now, "", nil
	case err == nil:
		return nil, "it was forgotten", nil
	case amber.KindOf(err) == amber.KindNotFound:
		return nil, "it was forgotten, or erased, or never reached the live agent", nil
	}
	return nil, "", err
}

// restoreMemory brings one memory back, if the live one is still as it was when the visitor saw what would change.
func (v snapshotScreens) restoreMemory() error {
	ctx, id := v.r.Context(), amber.MemoryID(v.r.PathValue("memory"))
	now, _, err := v.liveMemory(ctx, id)
	if err != nil {
		return err
	}
	if v.field("live") != liveState(now) {
		return v.showSnapshotMemory(true, "Nothing was brought back: the live memory is not as it was when you saw what would change. Below is what would change now.")
	}
	if _, err := v.remote.Snapshots().RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: v.snapshotRef(), Memory: id}); err != nil {
		return err
	}
	return v.redirect(v.path("snapshots", string(v.snapshotRef().ID), "memories", string(id)))
}

// factPair is a field that two memories differ in.
type factPair struct {
	Name, A, B string
}

// factPairs are the fields beside the text in which two memories differ.
func factPairs(a, b amber.Memory) (out []factPair) {
	for _, p := range []factPair{
		{"title", a.Title, b.Title},
		{"summary", a.Summary, b.Summary},
		{"kind", string(a.Kind), string(b.Kind)},
		{"scope", string(a.Scope), string(b.Scope)},
		{"topic", a.Topic, b.Topic},
		{"project", a.ProjectID, b.ProjectID},
		{"tags", strings.Join(a.Tags, ", "), strings.Join(b.Tags, ", ")},
		{"metadata", metadataText(a.Metadata), metadataText(b.Metadata)},
		{"trust", string(a.Trust), string(b.Trust)},
	} {
		if p.A != p.B {
			out = append(out, p)
		}
	}
	return out
}

func metadataText(m map[string]string) string {
	var parts []string
	for _, p := range pairs(m) {
		parts = append(parts, p.Name+"="+p.Value)
	}
	return strings.Join(parts, ", ")
}
