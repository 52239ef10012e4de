package web

import (
	"fmt"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// verdict is what the records of an agent say about a restore.
type verdict struct {
	Done   bool // a restore from the same snapshot has replaced the same generation
	Same   bool // nothing was changed
	Runs   bool // it may go on, in another process
	Text   string
	Safety amber.SnapshotID // holds the agent as it was; "" where none was taken
}

// judgeRestore finds out from the records of an agent what became of a restore from a snapshot that began when the
// generation before was live. It guesses nothing that the records do not say.
func judgeRestore(g wire.Generation, err error, from amber.SnapshotID, before string) verdict {
	n, perr := strconv.ParseInt(before, 10, 64)
	switch {
	case n == 0 && perr == nil && amber.KindOf(err) == amber.KindNotFound:
		return verdict{Same: true, Text: "Nothing was changed: the agent did not exist before the restore, and does not exist now."}
	case err != nil:
		return verdict{Text: "The records of the agent cannot be read, so nothing is known about the restore: " + err.Error()}
	case perr != nil || n < 0:
		return verdict{Text: fmt.Sprintf("The agent is on generation %d. Which generation was live before the restore is not known.", g.Generation)}
	case g.Restoring != nil && g.Restoring.Running && g.Restoring.From == from && g.Generation == n:
		return verdict{Runs: true, Text: fmt.Sprintf("The restore has not come to its end, and a process is at work on the agent. So far the agent is as before, on generation %d.", n)}
	case g.Generation == n:
		return verdict{Same: true, Text: fmt.Sprintf("Nothing was changed: the agent is as before the restore, on generation %d.", n)}
	case n == 0:
		return verdict{Text: fmt.Sprintf("The agent did not exist before the restore. It exists now, on generation %d.", g.Generation)}
	case g.Generation < n:
		return verdict{Text: fmt.Sprintf("The agent is on generation %d, and was on generation %d before the restore: the agent was deleted and made again since, or its folder was put back from elsewhere.", g.Generation, n)}
	case g.Restored != nil && g.Restored.From == from && g.Restored.Replaces == n:
		return sameRestore(g)
	}
	return verdict{Text: otherRestore(g, n)}
}

// sameRestore is what is known when a restore from the same snapshot has replaced the same generation. The records
// name no job: a person may have restored the snapshot by other means after this job had ended.
func sameRestore(g wire.Generation) verdict {
	v := verdict{Done: true, Safety: g.Restored.SafetySnapshot}
	v.Text = fmt.Sprintf("A restore from snapshot %s in the place of generation %d was completed: the agent is on generation %d. Whether that restore was begun on this page, the agent's records do not say.",
		shortID(g.Restored.From), g.Restored.Replaces, g.Generation)
	if v.Safety == "" {
		v.Text += " No safety snapshot was taken."
	}
	return v
}

// otherRestore is what is known when another restore has made the live generation.
func otherRestore(g wire.Generation, before int64) string {
	if g.Restored == nil {
		return fmt.Sprintf("The agent is on generation %d, and was on generation %d before. Which restore made the live generation was not written down.", g.Generation, before)
	}
	return fmt.Sprintf("The agent is on generation %d, which a restore from snapshot %s has put in the place of generation %d. Whether the restore that this page is about came before that one, the agent's records do not say.",
		g.Generation, shortID(g.Restored.From), g.Restored.Replaces)
}

// lostData is what is shown of a job that the server does not know.
type lostData struct {
	Kind     string
	Subject  amber.SnapshotID
	Short    string
	Stopped  bool // the server was started after the job began
	Restored *verdict
}

// showLostJob shows what can be known of a job that the server does not know.
func (v jobScreen) showLostJob() error {
	d := lostData{}
	for _, kind := range []string{jobRestore, jobVerify, jobPlan} {
		if id, err := amber.ParseSnapshotID(v.query(kind)); err == nil {
			d.Kind, d.Subject, d.Short = kind, id, shortID(id)
			break
		}
	}
	if d.Kind == "" {
		return amber.Errorf(amber.KindNotFound, "find work", "", "this server knows no such work: work is remembered until the server stops")
	}
	at, err := amber.ParseTime(v.query("at"))
	d.Stopped = err == nil && at.Time().Before(v.p.jobs.begun.Time())
	s := screen{Title: "Work of before", Nav: "snapshots"}
	if d.Kind != jobRestore {
		return v.render("job_lost", s, d)
	}
	g, err := v.remote.Generation(v.r.Context())
	if amber.KindOf(err) == amber.KindRefused {
		return err
	}
	judged := judgeRestore(g, err, d.Subject, v.query("generation"))
	d.Restored, s.Title = &judged, "Restore from snapshot "+d.Short
	if judged.Runs {
		s.Refresh = 2
	}
	return v.render("job_lost", s, d)
}
