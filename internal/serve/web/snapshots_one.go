package web

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
)

// snapshotData is what the screen of one snapshot shows.
type snapshotData struct {
	snapshotRow
	Detail  wire.SnapshotDetail
	Word    string // to type before it is deleted
	Problem string
	Last    bool
}

func (v snapshotScreens) showSnapshot(problem string) error {
	detail, err := v.remote.Snapshots().ShowSnapshot(v.r.Context(), v.snapshotRef())
	if err != nil {
		return err
	}
	d := snapshotData{snapshotRow: v.snapshotRow(detail.SnapshotMeta), Detail: detail, Word: confirmWord(detail.SnapshotMeta), Problem: problem}
	s := screen{Title: "Snapshot " + d.Short, Nav: "snapshots", Command: v.command("snapshot", "show", string(detail.ID))}
	return v.render("snapshot", s, d)
}

// confirmWord is what a visitor types to confirm a snapshot: its label, or the end of its id where the label is
// empty or cannot be typed as it is read.
func confirmWord(m wire.SnapshotMeta) string {
	label := m.Label
	if label == "" || len(label) > 60 || label != clip.Line(label) || strings.ContainsFunc(label, func(r rune) bool { return r > '~' && deceives(r, 0) || r < ' ' }) {
		return shortID(m.ID)
	}
	return label
}

// confirmed returns nil when the form carries the word of a snapshot.
func (v snapshotScreens) confirmed(m wire.SnapshotMeta) error {
	if want, got := confirmWord(m), v.field("word"); got != want {
		return amber.Errorf(amber.KindInvalid, "confirm", shortID(m.ID), "the word is %q, want %q: nothing was done", clip.Marked(got, 80), want)
	}
	return nil
}

func (v snapshotScreens) pinSnapshot() error {
	pinned := v.field("pinned") == "true"
	if !pinned && v.field("pinned") != "false" {
		return amber.Errorf(amber.KindInvalid, "pin snapshot", "", "field pinned is %q, want true or false", clip.Marked(v.field("pinned"), 40))
	}
	if err := v.remote.Snapshots().PinSnapshot(v.r.Context(), v.snapshotRef(), pinned); err != nil {
		return err
	}
	return v.redirect(v.path("snapshots", v.r.PathValue("id")))
}

// deleteSnapshot deletes a snapshot when its word was typed.
func (v snapshotScreens) deleteSnapshot() error {
	detail, err := v.remote.Snapshots().ShowSnapshot(v.r.Context(), v.snapshotRef())
	if err != nil {
		return err
	}
	err = v.confirmed(detail.SnapshotMeta)
	if err == nil {
		err = v.remote.Snapshots().DeleteSnapshot(v.r.Context(), v.snapshotRef())
	}
	v.log.forget()
	switch {
	case err == nil:
		return v.redirect(v.path("snapshots"))
	case amber.KindOf(err) == amber.KindInvalid || amber.KindOf(err) == amber.KindRefused && v.may(wire.TokenSnapshot):
		return v.showSnapshot(err.Error()) // a pinned one, or the last
	}
	return err
}

// verifySnapshot starts a check.
func (v snapshotScreens) verifySnapshot() error {
	if err := v.mayStart(wire.TokenSnapshot, nil); err != nil {
		return err
	}
	ref, deep := v.snapshotRef(), v.field("read_data") != ""
	if _, err := amber.ParseSnapshotID(string(ref.ID)); err != nil {
		return err
	}
	j := &job{Kind: jobVerify, Title: "Check snapshot " + shortID(ref.ID), Subject: string(ref.ID)}
	err := v.begin(j, func(ctx context.Context, a *client.Agent) (any, error) {
		report, err := a.Snapshots().VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: ref, ReadData: deep})
		return verifyResult{Deep: deep, Report: report}, err
	})
	if err != nil {
		return err
	}
	return v.redirect(v.jobPath(j, jobVerify, string(ref.ID)))
}
