package web

import (
	"fmt"
	"maps"
	"slices"
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
func (v *visit) snapshotMemories() error {
	past, _, err := v.past()
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
func (v *visit) past() (*client.Past, *client.Agent, error) {
	agent, err := v.remote()
	if err != nil {
		return nil, nil, err
	}
	past, err := agent.Snapshots().At(v.r.Context(), v.snapshotRef())
	return past, agent, err
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
}

// snapshotMemory shows a memory as it was, beside the live one. With restore in the address it also
// shows what bringing it back would change.
func (v *visit) snapshotMemory() error {
	past, agent, err := v.past()
	if err != nil {
		return err
	}
	ctx, id := v.r.Context(), amber.MemoryID(v.r.PathValue("memory"))
	d := snapshotMemoryData{ID: v.snapshotRef().ID, Short: shortID(v.snapshotRef().ID)}
	if d.Then, err = past.Get(ctx, id); err != nil {
		return err
	}
	d.Whole = fitting(d.Then.Content)
	store, err := agent.Store(ctx)
	if err != nil {
		return err
	}
	now, err := store.Memories.Get(ctx, id)
	switch {
	case err == nil && now.DeletedAt.IsZero():
		d.Now = &now
	case err == nil:
		d.Gone = "it was forgotten"
	case amber.KindOf(err) == amber.KindNotFound:
		d.Gone = "it was forgotten, or erased, or never reached the live agent"
	default:
		return err
	}
	if d.Now != nil {
		d.Text, d.Facts = newSides(d.Now.Content, d.Then.Content), factPairs(*d.Now, d.Then)
		d.Same = !d.Text.Differ && len(d.Facts) == 0
	}
	s := screen{Title: "Memory in snapshot " + d.Short, Nav: "snapshots", Command: v.command("list", "--all", "--at", string(d.ID))}
	if v.query("restore") != "" {
		s.Command = v.command("snapshot", "restore", string(d.ID), "--memory", string(id), "--dry-run")
		v.log.forget()
		plan, err := agent.Snapshots().RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: v.snapshotRef(), Memory: id, DryRun: true})
		if err != nil {
			return err
		}
		d.Plan = &plan
	}
	return v.render("snapshot_memory", s, d)
}

// restoreMemory brings one memory back.
func (v *visit) restoreMemory() error {
	agent, err := v.remote()
	if err != nil {
		return err
	}
	id := amber.MemoryID(v.r.PathValue("memory"))
	if _, err := agent.Snapshots().RestoreMemory(v.r.Context(), wire.MemoryRestoreRequest{SnapshotRef: v.snapshotRef(), Memory: id}); err != nil {
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
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s=%s", k, m[k]))
	}
	return strings.Join(parts, ", ")
}
