package web

import (
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
)

// snapshotScreens are the list of snapshots, one snapshot, its memories, the comparison of two, and a restore.
type snapshotScreens struct{ *visit }

func snapshotRoutes(p *Page) {
	p.get("/snapshots", func(v *visit) error { return snapshotScreens{v}.listSnapshots(snapshotForm{}) })
	p.post("/snapshots", on(snapshotScreens.takeSnapshot))
	p.get("/snapshots/diff", on(snapshotScreens.diffSnapshots))
	p.get("/snapshots/{id}", func(v *visit) error { return snapshotScreens{v}.showSnapshot("") })
	p.post("/snapshots/{id}/pin", on(snapshotScreens.pinSnapshot))
	p.post("/snapshots/{id}/delete", on(snapshotScreens.deleteSnapshot))
	p.post("/snapshots/{id}/verify", on(snapshotScreens.verifySnapshot))
	p.get("/snapshots/{id}/memories", on(snapshotScreens.snapshotMemories))
	p.get("/snapshots/{id}/memories/{memory}", on(snapshotScreens.snapshotMemory))
	p.post("/snapshots/{id}/memories/{memory}/restore", on(snapshotScreens.restoreMemory))
	p.get("/snapshots/{id}/restore", func(v *visit) error { return snapshotScreens{v}.askRestore(restoreChoice{}, "") })
	p.post("/snapshots/{id}/restore/plan", on(snapshotScreens.planRestore))
	p.post("/snapshots/{id}/restore", on(snapshotScreens.restoreSnapshot))
}

// The tiers of snapshots, by what their labels begin with.
const (
	tierManual    = "manual"
	tierAutomatic = "automatic"
	tierSafety    = "safety"
)

// tier says who took a snapshot: a person, Amber by itself, or Amber before a restore.
func tier(label string) string {
	switch {
	case strings.HasPrefix(label, wire.LabelBeforeRestore):
		return tierSafety
	case strings.HasPrefix(label, wire.LabelAutomatic):
		return tierAutomatic
	}
	return tierManual
}

// snapshotRow is a snapshot in a list.
type snapshotRow struct {
	wire.SnapshotMeta
	Tier    string
	Short   string
	Checked *checkedBy // what this server has checked; nil: nothing
}

func (v snapshotScreens) snapshotRow(m wire.SnapshotMeta) snapshotRow {
	return snapshotRow{SnapshotMeta: m, Tier: tier(m.Label), Short: shortID(m.ID), Checked: v.checked(m.ID)}
}

// shortID is the end of an id, as commands take it.
func shortID(id amber.SnapshotID) string { return string(id[max(0, len(id)-8):]) }

// snapshotForm is the form for a new snapshot, as it was sent.
type snapshotForm struct {
	Label   string
	Pin     bool
	Problem string
}

// snapshotsData is what the screen of snapshots shows.
type snapshotsData struct {
	Form snapshotForm
	Rows []snapshotRow
	Next amber.Cursor
	Axis *axis // nil: there is nothing to draw
	Past bool  // it is not the first page
}

func (v snapshotScreens) listSnapshots(form snapshotForm) error {
	cursor := amber.Cursor(v.query("cursor"))
	page, err := v.remote.Snapshots().ListSnapshots(v.r.Context(), wire.SnapshotQuery{Limit: pageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	d := snapshotsData{Form: form, Next: page.Next, Past: cursor != ""}
	for _, m := range page.Items {
		d.Rows = append(d.Rows, v.snapshotRow(m))
	}
	d.Axis = newAxis(d.Rows)
	return v.render("snapshots", screen{Title: "Snapshots", Nav: "snapshots", Command: v.command("snapshot", "list")}, d)
}

// takeSnapshot takes a snapshot; one that takes long goes on at the page of its job.
func (v snapshotScreens) takeSnapshot() error {
	form := snapshotForm{Label: v.field("label"), Pin: v.field("pin") != ""}
	r := wire.SnapshotRequest{Tenant: v.tenant, Agent: v.agent, Label: form.Label, Pin: form.Pin}
	take := func(ctx context.Context, a *client.Agent) (any, error) { return a.Snapshots().Snapshot(ctx, r) }
	err := v.mayStart(wire.TokenSnapshot, func(ctx context.Context, a *client.Agent) error {
		_, err := take(ctx, a)
		return err
	})
	if err == nil {
		_, err = r.Normalize()
	}
	j := &job{Kind: jobTake, Title: "Take a snapshot"}
	if err == nil {
		err = v.begin(j, take)
	}
	if err != nil {
		if amber.KindOf(err) == amber.KindRefused {
			return err
		}
		form.Problem = err.Error()
		return v.listSnapshots(form)
	}
	if v.await(j) {
		if m, ok := j.progress().Result.(wire.SnapshotMeta); ok && j.progress().Err == nil {
			return v.redirect(v.path("snapshots", string(m.ID)))
		}
	}
	return v.redirect(v.jobPath(j, "take", "1"))
}

// mayStart refuses work that the API refuses, before a job is made of it. Ask asks the API in vain,
// so that the attempt is in the audit log; nil where nothing was attempted.
func (v *visit) mayStart(scope wire.TokenScope, ask func(ctx context.Context, a *client.Agent) error) error {
	if v.may(scope) {
		return nil
	}
	if ask != nil {
		if err := ask(v.r.Context(), v.remote); err != nil {
			return err
		}
	}
	return amber.Errorf(amber.KindRefused, "authorize", "", "the token does not have the scope %s", string(scope))
}

// snapshotRef is the snapshot that the address names.
func (v snapshotScreens) snapshotRef() wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: v.tenant, Agent: v.agent, ID: amber.SnapshotID(v.r.PathValue("id"))}
}

// axis is the time of the snapshots of a page, drawn as points on a line.
type axis struct {
	Points      []axisPoint
	First, Last string // the days at its ends
}

// axisPoint is one snapshot on the axis.
type axisPoint struct {
	X, Y   int
	Tier   string
	Pinned bool
	Bad    bool
	Title  string
}

// The drawing: its width, the ends of the line, and how near two points may be.
const (
	axisLeft, axisRight = 24, 976
	axisBase, axisRise  = 48, 18
	axisNear, axisHigh  = 16, 3
)

// newAxis draws snapshots that have a time; nil where there are none. A point that is too near to the one
// before is put above it.
func newAxis(rows []snapshotRow) *axis {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r snapshotRow) bool { return r.CreatedAt.IsZero() })
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b snapshotRow) int { return a.CreatedAt.Time().Compare(b.CreatedAt.Time()) })
	first, last := rows[0].CreatedAt.Time(), rows[len(rows)-1].CreatedAt.Time()
	a := &axis{First: first.UTC().Format("2006-01-02 15:04"), Last: last.UTC().Format("2006-01-02 15:04")}
	all := last.Sub(first)
	level, before := 0, -axisNear
	for _, r := range rows {
		x := (axisLeft + axisRight) / 2
		if all > 0 {
			x = axisLeft + int(float64(axisRight-axisLeft)*(float64(r.CreatedAt.Time().Sub(first))/float64(all)))
		}
		if x-before < axisNear && before >= 0 {
			level = (level + 1) % axisHigh
		} else {
			level = 0
		}
		before = x
		a.Points = append(a.Points, axisPoint{
			X: x, Y: axisBase - axisRise*level, Tier: r.Tier, Pinned: r.Pinned, Bad: r.Damage != "",
			Title: visible(clip.Marked(clip.Line(r.Label), 80)) + " " + r.CreatedAt.String(),
		})
	}
	if len(rows) == 1 {
		a.Last = ""
	}
	return a
}
