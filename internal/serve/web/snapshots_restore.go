package web

import (
	"context"
	"slices"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/wire"
)

// restoreChoice is what a visitor wants to bring back, as the form has it.
type restoreChoice struct {
	Only           []string
	WithControl    bool
	LocalOnly      bool
	NoSafety       bool
	AcceptRedacted bool
	AcceptUnsigned bool
}

// restoreParts are the parts that can be chosen, in the words of the form.
var restoreParts = []struct{ Name, Says string }{
	{wire.PartMemory, "memories, sessions and turns"},
	{wire.PartNotes, "notes and their history"},
	{wire.PartState, "runtime state"},
}

func (v snapshotScreens) restoreChoice() restoreChoice {
	return restoreChoice{
		Only: v.r.PostForm["only"], WithControl: v.field("with_control") != "", LocalOnly: v.field("local_only") != "",
		NoSafety: v.field("no_safety") != "", AcceptRedacted: v.field("accept_redacted") != "", AcceptUnsigned: v.field("accept_unsigned") != "",
	}
}

// request is the choice for the API.
func (c restoreChoice) request(ref wire.SnapshotRef, dryRun bool) wire.RestoreRequest {
	return wire.RestoreRequest{
		SnapshotRef: ref, Only: c.Only, WithControl: c.WithControl, LocalOnly: c.LocalOnly, NoSafetySnapshot: c.NoSafety,
		AcceptRedacted: c.AcceptRedacted, AcceptUnsigned: c.AcceptUnsigned, DryRun: dryRun,
	}
}

// Has reports whether a part was chosen.
func (c restoreChoice) Has(part string) bool { return slices.Contains(c.Only, part) }

// flags are the choice as a command has it.
func (c restoreChoice) flags() (words []string) {
	if len(c.Only) < len(restoreParts) {
		for _, p := range c.Only {
			words = append(words, "--only", p)
		}
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"--with-control", c.WithControl},
		{"--local-only", c.LocalOnly},
		{"--no-safety-snapshot", c.NoSafety},
		{"--accept-redacted", c.AcceptRedacted},
		{"--accept-unsigned", c.AcceptUnsigned},
	} {
		if f.set {
			words = append(words, f.name)
		}
	}
	return words
}

func (v snapshotScreens) restoreCommand(id amber.SnapshotID, c restoreChoice, last string) string {
	return v.command(slices.Concat([]string{"snapshot", "restore", string(id)}, c.flags(), []string{last})...)
}

// restoreData is what the form of a restore shows.
type restoreData struct {
	snapshotRow
	Choice  restoreChoice
	Parts   []struct{ Name, Says string }
	Problem string
	Running string // the address of a restore that goes on
}

// askRestore shows the form of a restore.
func (v snapshotScreens) askRestore(c restoreChoice, problem string) error {
	if err := v.mayStart(wire.TokenRestore, nil); err != nil {
		return err
	}
	v.log.forget()
	detail, err := v.remote.Snapshots().ShowSnapshot(v.r.Context(), v.snapshotRef())
	if err != nil {
		return err
	}
	if problem == "" {
		c.Only = []string{wire.PartMemory, wire.PartNotes, wire.PartState}
	}
	d := restoreData{snapshotRow: v.snapshotRow(detail.SnapshotMeta), Choice: c, Parts: restoreParts, Problem: problem, Running: v.runningRestore()}
	s := screen{Title: "Restore from snapshot " + d.Short, Nav: "snapshots", Command: v.restoreCommand(detail.ID, c, "--dry-run")}
	return v.render("snapshot_restore", s, d)
}

// runningRestore is the address of the restore of the agent that goes on; "" where none does.
func (v snapshotScreens) runningRestore() string {
	v.p.jobs.mu.Lock()
	j := v.p.jobs.busy(&job{Kind: jobRestore, Tenant: v.tenant, Agent: v.agent})
	v.p.jobs.mu.Unlock()
	if j == nil {
		return ""
	}
	return v.jobPath(j, jobRestore, j.Subject)
}

// planResult is what a restore would change.
type planResult struct {
	Meta   wire.SnapshotMeta
	Choice restoreChoice
	Report wire.RestoreReport
}

// planRestore finds out what a restore would change.
func (v snapshotScreens) planRestore() error {
	c, ref := v.restoreChoice(), v.snapshotRef()
	if err := v.mayStart(wire.TokenRestore, nil); err != nil {
		return err
	}
	if len(c.Only) == 0 {
		return v.askRestore(c, "Choose at least one part to restore.")
	}
	if _, err := c.request(ref, true).Normalize(); err != nil {
		return v.askRestore(c, err.Error())
	}
	j := &job{Kind: jobPlan, Title: "What restoring " + shortID(ref.ID) + " would change", Subject: string(ref.ID)}
	err := v.begin(j, func(ctx context.Context, a *client.Agent) (any, error) {
		detail, err := a.Snapshots().ShowSnapshot(ctx, ref)
		if err != nil {
			return nil, err
		}
		report, err := a.Snapshots().Restore(ctx, c.request(ref, true))
		return planResult{Meta: detail.SnapshotMeta, Choice: c, Report: report}, err
	})
	if err != nil {
		return v.askRestore(c, err.Error())
	}
	v.await(j)
	return v.redirect(v.jobPath(j, jobPlan, string(ref.ID)))
}

// restoreSnapshot restores the agent when the word of the snapshot was typed.
func (v snapshotScreens) restoreSnapshot() error {
	c, ref := v.restoreChoice(), v.snapshotRef()
	err := v.mayStart(wire.TokenRestore, func(ctx context.Context, a *client.Agent) error {
		_, err := a.Snapshots().Restore(ctx, c.request(ref, false))
		return err
	})
	if err != nil {
		return err
	}
	detail, err := v.remote.Snapshots().ShowSnapshot(v.r.Context(), ref)
	if err != nil {
		return err
	}
	if len(c.Only) == 0 {
		return v.askRestore(c, "Choose at least one part to restore.")
	}
	if err := v.confirmed(detail.SnapshotMeta); err != nil {
		return v.askAgain(c, err.Error())
	}
	before, err := v.generationBefore()
	if err != nil {
		return err
	}
	j := &job{Kind: jobRestore, Title: "Restore from snapshot " + shortID(ref.ID), Subject: string(ref.ID), Alone: true, Before: before}
	err = v.begin(j, func(ctx context.Context, a *client.Agent) (any, error) {
		return a.Snapshots().Restore(ctx, c.request(ref, false))
	})
	if err != nil {
		return v.askAgain(c, err.Error())
	}
	// The redirect goes out at once: should the server end, the browser knows where to ask.
	return v.redirect(v.jobPath(j, jobRestore, string(ref.ID), "generation", before))
}

// askAgain shows the plan that a form came from, or the choice where the plan is not known any more.
func (v snapshotScreens) askAgain(c restoreChoice, problem string) error {
	if j, ok := v.p.jobs.find(v.field("plan"), v.tenant, v.agent); ok && j.Kind == jobPlan {
		v.log.forget()
		return jobScreen(v).showKnownJob(j, problem)
	}
	return v.askRestore(c, problem)
}

// generationBefore is the generation that is live before a restore, "0" for an agent that does not exist, and "" where
// its records cannot be read: a restore may be what mends them.
func (v snapshotScreens) generationBefore() (string, error) {
	g, err := v.remote.Generation(v.r.Context())
	switch amber.KindOf(err) {
	case amber.KindNotFound:
		return "0", nil
	case amber.KindDamaged, amber.KindTooNew, amber.KindUnsupported:
		return "", nil
	}
	return strconv.FormatInt(g.Generation, 10), err
}
