package drain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Bounds of what is read for a digest.
const (
	digestTurns      = 1000
	digestTurnsFirst = 50       // that are read at first
	digestBytes      = 16 << 20 // of turns; when they have as many, no more turns are read
)

// subject is the session that a digest is about.
type subject struct {
	id            amber.SessionID
	host, project string
	directory     string
	event         string // the event that is the occasion; "" for an end that was noticed
}

// compacts reports whether an event is about a compaction.
func compacts(ev journal.HostEvent) bool {
	return ev.Kind == journal.HostCompactBefore || ev.Kind == journal.HostCompactAfter
}

// digested adds the digest of a session to a step, as far as the policy allows, and
// returns its summary for the catalogue. Where the policy does not want digests
// the summary holds no word of what was said.
func (w *Worker) digested(ctx context.Context, sub subject, step *amber.IngestStep, report *Report) (string, error) {
	lived, err := w.lived(ctx, sub)
	if err != nil {
		return "", err
	}
	own, others := apart(lived)
	for _, other := range others {
		if err := w.alsoDigested(ctx, sub, other, step, report); err != nil {
			return "", err
		}
	}
	lived = own
	d, label := w.makeDigest(ctx, lived, report)
	if d.Empty() && d.Prompts == 0 && !slices.ContainsFunc(lived.Activity, isDone) {
		return "", nil
	}
	whole := w.learns(amber.LessonDigest, sub.id, sub.event, []amber.WriteRequest{wholeDigest(d, label)}, report)
	if len(whole) == 0 {
		return counted(d, lived.Activity), nil
	}
	step.Memories = append(step.Memories, whole...)
	if err := w.keepItems(ctx, sub, d, label, step, report); err != nil {
		return "", err
	}
	if summary := d.Summary(); summary != "" {
		return plain(summary), nil
	}
	return counted(d, lived.Activity), nil
}

// maxProjects bounds the projects of one session beside its own.
const maxProjects = 8

// isDone reports whether an activity is of the agent: what Amber put before it is not.
func isDone(a amber.Activity) bool { return a.Kind != amber.ActivityContext }

// apart takes what was said in other projects out of a session, a session for each: an agent
// may go from one folder to another, and what was said in one project is not for the others.
func apart(l digest.Session) (own digest.Session, others []digest.Session) {
	own = l
	own.Turns = nil
	for _, t := range l.Turns {
		if t.ProjectID == "" || t.ProjectID == l.Project {
			own.Turns = append(own.Turns, t)
			continue
		}
		i := slices.IndexFunc(others, func(o digest.Session) bool { return o.Project == t.ProjectID })
		if i < 0 && len(others) < maxProjects {
			i, others = len(others), append(others, digest.Session{ID: l.ID, Host: l.Host, Project: t.ProjectID})
		}
		if i >= 0 {
			others[i].Turns = append(others[i].Turns, t)
		}
	}
	return own, others
}

// alsoDigested adds the digest of what was said in another project of a session.
func (w *Worker) alsoDigested(ctx context.Context, sub subject, lived digest.Session, step *amber.IngestStep, report *Report) error {
	d, label := w.makeDigest(ctx, lived, report)
	whole := w.learns(amber.LessonDigest, sub.id, sub.event, []amber.WriteRequest{wholeDigest(d, label)}, report)
	if d.Empty() || len(whole) == 0 {
		return nil
	}
	step.Memories = append(step.Memories, whole...)
	return w.keepItems(ctx, sub, d, label, step, report)
}

// lived reads what was said and done in a session.
func (w *Worker) lived(ctx context.Context, sub subject) (digest.Session, error) {
	l := digest.Session{ID: sub.id, Host: sub.host, Project: sub.project, Directory: sub.directory}
	if w.o.Sessions != nil && (l.Project == "" || l.Directory == "") {
		known, err := w.o.Sessions.Session(ctx, sub.id)
		if kind := amber.KindOf(err); err != nil && kind != amber.KindNotFound && kind != amber.KindUnsupported {
			return l, err
		}
		l.Project, l.Directory = cmp.Or(l.Project, known.Project), cmp.Or(l.Directory, known.Directory)
	}
	var err error
	if l.Turns, err = w.turnsOf(ctx, sub.id); err != nil {
		return l, err
	}
	for _, t := range l.Turns {
		if l.Project == "" && t.Trust != amber.TrustImported {
			l.Project = t.ProjectID
		}
	}
	l.Activity, err = w.o.Store.ListActivity(ctx, sub.id, "")
	return l, err
}

// turnsOf returns the last turns of a session. More are read as long as those
// read are small.
func (w *Worker) turnsOf(ctx context.Context, id amber.SessionID) ([]amber.Turn, error) {
	for limit := digestTurnsFirst; ; limit *= 2 {
		turns, err := amber.LastTurns(ctx, w.o.Store, id, min(limit, digestTurns))
		if err != nil || len(turns) < limit || limit >= digestTurns {
			return turns, err
		}
		size := 0
		for _, t := range turns {
			size += len(t.Content)
		}
		if size >= digestBytes {
			return turns, nil
		}
	}
}

// byRules labels what the rules of package digest wrote.
const byRules = "rules"

// makeDigest has the digest written, by the writer if there is one. A
// writer that fails, or invents, is told in the report, and the rules write. A bug in a rule
// or in the writer costs the digest, not the drain.
func (w *Worker) makeDigest(ctx context.Context, lived digest.Session, report *Report) (d digest.Digest, label string) {
	d = digest.Digest{Session: lived.ID, Host: lived.Host, Project: lived.Project}
	defer func() {
		if r := recover(); r != nil {
			report.noDigest(lived.ID, amber.Errorf(amber.KindInternal, "make digest", string(lived.ID), "panic: %v", r))
			label = byRules
		}
	}()
	d = digest.Make(lived)
	if w.o.Writer == nil || d.Prompts == 0 {
		return d, byRules
	}
	items, err := w.o.Writer.Write(ctx, lived)
	if err == nil {
		items, err = digest.Check(lived, items)
	}
	if err != nil {
		report.noDigest(lived.ID, err)
		return d, byRules
	}
	return d.With(items), w.o.Writer.Label()
}

// counted says how much was done, in numbers. It holds no word of what was said.
func counted(d digest.Digest, all []amber.Activity) string {
	var parts []string
	count := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	uses, commands, errors := 0, 0, 0
	for _, a := range all {
		switch a.Kind {
		case amber.ActivityTool:
			uses += int(min(a.Count, 1<<20))
		case amber.ActivityCommand:
			commands++
		case amber.ActivityError:
			errors++
		}
	}
	count(d.Prompts, "prompt", "prompts")
	count(uses, "tool use", "tool uses")
	count(len(d.Files), "file changed", "files changed")
	count(commands, "command", "commands")
	count(errors, "error", "errors")
	return strings.Join(parts, ", ")
}
