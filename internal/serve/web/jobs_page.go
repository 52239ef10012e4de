package web

import (
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// The kinds of jobs that have a page. Each is also the name of what its address carries.
const (
	jobTake    = "snapshot"
	jobVerify  = "verify"
	jobPlan    = "plan"
	jobRestore = "restore"
)

// shownLines bounds the lines of a report on a page.
const shownLines = 100

// jobScreen is work that takes longer than a request, and what is known of work that the server has forgotten.
type jobScreen struct{ *visit }

func jobRoutes(p *Page) { p.get("/jobs/{job}", on(jobScreen.showJob)) }

// jobData is what the page of a job shows.
type jobData struct {
	*job
	Progress progress
	Problem  string // with the form of the plan
	Short    string // the subject
	Failure  *failure
	Hidden   bool // the visitor may not see what was found
	Verify   *verifyData
	Taken    *wire.SnapshotMeta
	Plan     *planData
	Report   *wire.RestoreReport
	Verdict  *verdict // of a restore that failed
}

// verifyData is the report of a check.
type verifyData struct {
	verifyResult
	OK                           bool
	Checked, NotChecked          []string
	Damaged                      []wire.Damage
	MoreChecked, MoreNot, MoreDm int
	Signature                    string
}

// planData is what a restore would change, as far as a page shows it.
type planData struct {
	planResult
	Word         string
	Tables       []wire.TableDiff
	Rows         []wire.RowDiff
	Notes, State []wire.RowDiff
	More         int64 // changes that are not named
	Nothing      bool
	Parts        []struct{ Name, Says string }
}

// showJob shows a job. Where the server does not know it (any more), the page shows what the records of the agent
// say.
func (v jobScreen) showJob() error {
	if err := v.mayStart(wire.TokenRead, nil); err != nil {
		return err
	}
	if j, ok := v.p.jobs.find(v.r.PathValue("job"), v.tenant, v.agent); ok {
		return v.showKnownJob(j, "")
	}
	return v.showLostJob()
}

func (v jobScreen) showKnownJob(j *job, problem string) error {
	d := jobData{job: j, Progress: j.progress(), Problem: problem, Short: shortID(amber.SnapshotID(j.Subject))}
	s := screen{Title: j.Title, Nav: "snapshots", Command: v.jobCommand(j, d.Progress)}
	if d.Progress.Ended.IsZero() {
		s.Refresh = 2
		return v.render("job", s, d)
	}
	d.Hidden = j.Wide && v.grant.Tenant != ""
	if err := d.fill(v.visit); err != nil {
		return err
	}
	return v.render("job", s, d)
}

// jobCommand is the line that does what a job does.
func (v jobScreen) jobCommand(j *job, p progress) string {
	switch j.Kind {
	case jobVerify:
		if r, ok := p.Result.(verifyResult); ok && !r.Deep {
			return v.command("snapshot", "verify", j.Subject)
		}
		return v.command("snapshot", "verify", j.Subject, "--read-data")
	case jobPlan:
		if r, ok := p.Result.(planResult); ok {
			return snapshotScreens(v).restoreCommand(amber.SnapshotID(j.Subject), r.Choice, "--dry-run")
		}
	case jobRestore:
		return v.command("snapshot", "restore", j.Subject)
	case jobTake:
		return v.command("snapshot", "create")
	}
	return ""
}

// fill makes what the page shows of what a job has found.
func (d *jobData) fill(v *visit) error {
	if err := d.Progress.Err; err != nil {
		d.Failure = &failure{Kind: string(amber.KindOf(err)), Text: err.Error()}
		if e := (*amber.Error)(nil); errors.As(err, &e) {
			d.Failure.Hint = e.Hint
		}
		if d.Hidden {
			d.Failure.Text, d.Failure.Hint = "the reason is told to those who may see every tenant", ""
		}
		if d.Kind == jobRestore {
			return d.judge(v)
		}
		return nil
	}
	switch r := d.Progress.Result.(type) {
	case verifyResult:
		d.Verify = newVerifyData(r)
	case wire.SnapshotMeta:
		d.Taken = &r
	case planResult:
		d.Plan = newPlanData(r)
	case wire.RestoreReport:
		r.Warnings, _ = firstLines(r.Warnings)
		d.Report = &r
	}
	return nil
}

// judge asks the records of the agent what became of a restore that failed.
func (d *jobData) judge(v *visit) error {
	g, err := v.remote.Generation(v.r.Context())
	judged := judgeRestore(g, err, amber.SnapshotID(d.Subject), d.Before)
	d.Verdict = &judged
	return nil
}

func newVerifyData(r verifyResult) *verifyData {
	d := &verifyData{verifyResult: r, OK: r.Report.OK(), Signature: signatureWords(r.Report.Signature)}
	d.Checked, d.MoreChecked = firstLines(r.Report.Checked)
	d.NotChecked, d.MoreNot = firstLines(r.Report.NotChecked)
	d.Damaged, d.MoreDm = firstLines(r.Report.Damaged)
	return d
}

// firstLines are the first lines of a report, and how many more there are.
func firstLines[T any](all []T) (first []T, more int) {
	first = all[:min(len(all), shownLines)]
	return first, len(all) - len(first)
}

func signatureWords(s sign.SignatureReport) string {
	switch s.Status {
	case sign.SignatureValid:
		return fmt.Sprintf("valid, made by the key %s, which is: %s", s.KeyID, s.Standing)
	case sign.SignatureMissing:
		return "the snapshot is not signed"
	case sign.SignatureStripped:
		return "REMOVED: the snapshot must have had one"
	case sign.SignatureBad:
		return "BAD: it does not match the snapshot"
	}
	return "not checked"
}

// newPlanData chooses what a page shows of a plan.
func newPlanData(r planResult) *planData {
	d := &planData{planResult: r, Word: confirmWord(r.Meta), Parts: restoreParts}
	plan := r.Report.Plan
	var all int64
	for _, t := range plan.Store.Tables {
		if n := t.Added + t.Changed + t.Removed; n > 0 {
			d.Tables, all = append(d.Tables, t), all+n
		}
	}
	for _, r := range plan.Store.Rows {
		if r.Table == "memories" && len(d.Rows) < pageSize {
			d.Rows = append(d.Rows, r)
		}
	}
	d.Notes, d.State = plan.Notes.Files[:min(len(plan.Notes.Files), pageSize)], plan.State.Files[:min(len(plan.State.Files), pageSize)]
	files := plan.Notes.Added + plan.Notes.Changed + plan.Notes.Removed + plan.State.Added + plan.State.Changed + plan.State.Removed
	d.Nothing = all+files == 0
	m := plan.Store.Table("memories")
	d.More = m.Added + m.Changed + m.Removed - int64(len(d.Rows)) + files - int64(len(d.Notes)+len(d.State))
	d.Report.Warnings, _ = firstLines(d.Report.Warnings)
	return d
}
