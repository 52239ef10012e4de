package contextblock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Limits for the account of earlier sessions. The last session has more room.
const (
	usualSessions = 3
	lookSessions  = 12 // are looked at for those that say something
	lastBytes     = 2400
	olderBytes    = 700
	clauseBytes   = 420
	maxFiles      = 8
	maxItems      = 5 // of a kind
)

// leftOff adds accounts of the last sessions of the project.
func (b *builder) leftOff(ctx context.Context) error {
	sessions, err := b.recentSessions(ctx)
	if err != nil || len(sessions) == 0 {
		return err
	}
	items, err := b.digests(ctx)
	if err != nil {
		return err
	}
	want := cmp.Or(b.r.Sessions, usualSessions)
	for n, s := range sessions {
		if want == 0 {
			break
		}
		account, err := b.account(ctx, s, items[s.ID])
		if err != nil {
			return err
		}
		body := account.String()
		if body == "" {
			continue
		}
		want--
		e := entry{
			heading: headingLeftOff, label: fmt.Sprintf("- %s, session", day(s.StartedAt)), body: body, most: olderBytes, tail: " [cut]", session: &sessions[n],
			item: itemOf(amber.LayerSession, string(s.ID), body, "one of the last sessions of the project"),
		}
		if want == cmp.Or(b.r.Sessions, usualSessions)-1 {
			e.most = lastBytes
		}
		if !b.isKnown(e.item) {
			b.page.add(e)
		}
	}
	return nil
}

// recentSessions returns the last sessions that a request sees: those of its project,
// without the session itself. A session of no project is seen by itself alone.
func (b *builder) recentSessions(ctx context.Context) ([]amber.Session, error) {
	if b.r.Sessions < 0 || b.r.ProjectID == "" {
		return nil, nil
	}
	limit := min(max(lookSessions, 2*b.r.Sessions), amber.MaxPageSize)
	page, err := b.Sessions.ListSessions(ctx, amber.SessionQuery{Project: b.r.ProjectID, Limit: limit, Trusted: true})
	if isAbsent(err) {
		return nil, nil
	}
	// A backend that does not know the filter must not make the context leak.
	return slices.DeleteFunc(page.Items, func(s amber.Session) bool {
		return s.Project != b.r.ProjectID || s.Trust == amber.TrustImported || s.ID == b.r.SessionID
	}), err
}

// digests returns what rules found in sessions of the project, by session, newest first.
func (b *builder) digests(ctx context.Context) (map[amber.SessionID][]amber.Memory, error) {
	if !b.ofSessions() {
		return nil, nil
	}
	all, err := b.list(ctx, []amber.MemoryKind{amber.SessionSummary, amber.HistoricalCase, amber.WorkflowInsight, amber.ProjectFact}, "", func(m amber.Memory) bool {
		return m.Trust == amber.TrustDerived && m.SessionID != ""
	})
	out := map[amber.SessionID][]amber.Memory{}
	for _, m := range all {
		out[m.SessionID] = append(out[m.SessionID], m)
	}
	return out, err
}

// account is the text about one session: named clauses, each on a line.
type account struct {
	name    string
	clauses []string
}

func (a *account) say(what string, texts ...string) {
	most := clauseBytes
	if what == "summary" { // a person or an agent wrote it to be read
		most = lastBytes
	}
	var said []string
	for _, t := range texts {
		if t = beginning(t, most); t != "" && !slices.Contains(said, t) {
			said = append(said, t)
		}
	}
	if len(said) > 0 {
		a.clauses = append(a.clauses, what+": "+strings.Join(said, " / "))
	}
}

// String is empty where nothing is known of the session, not even a name that a person or an agent
// gave it.
func (a *account) String() string {
	name := ""
	if a.name != "" {
		name = ", " + a.name
	}
	if len(a.clauses) == 0 {
		return name
	}
	return name + ": " + strings.Join(a.clauses, "\n")
}

// account makes the account of a session: from its digest where there is one, else from the first
// and last words in it.
func (b *builder) account(ctx context.Context, s amber.Session, found []amber.Memory) (*account, error) {
	a := &account{}
	if s.Name != string(s.ID) {
		a.name = beginning(s.Name, clauseBytes)
	}
	if !b.ofSessions() {
		if c := summaryClauses(s.Summary); len(c["task"]) == 0 { // a digest is derived
			a.say("summary", c[""]...)
		}
		return a, nil
	}
	d := digestOf(found)
	for _, c := range d.clauses(summaryClauses(s.Summary)) {
		a.say(c.name, c.texts...)
	}
	return a, b.tellDone(ctx, a, s.ID, len(d) == 0)
}

// tellDone adds what the turns and the activity of a session say: the files that were
// changed, commands that failed and passed later; without a digest what was asked and
// answered.
func (b *builder) tellDone(ctx context.Context, a *account, id amber.SessionID, quote bool) error {
	if quote && len(a.clauses) == 0 {
		asked, answer, err := b.firstAndLast(ctx, id)
		if err != nil {
			return err
		}
		a.say("asked", asked)
		a.say("last answer", answer)
	}
	did, err := b.did(ctx, id)
	if err != nil || len(a.clauses) == 0 && len(did.changed) == 0 {
		return err
	}
	a.say("changed", strings.Join(did.changed, ", "))
	a.say("failed and then passed", did.mended...)
	if !slices.ContainsFunc(a.clauses, func(c string) bool { return strings.HasPrefix(c, itemUnfinished+": ") }) {
		a.say("open tasks", did.open...)
	}
	return nil
}

// firstAndLast returns what the user asked first and what was answered last, of the
// turns that are read.
func (b *builder) firstAndLast(ctx context.Context, id amber.SessionID) (asked, answer string, err error) {
	turns, err := b.turns(ctx, id, 50)
	for _, t := range turns {
		switch {
		case t.Role == amber.RoleUser && asked == "":
			asked = t.Content
		case t.Role == amber.RoleAssistant:
			answer = t.Content
		}
	}
	return asked, answer, err
}

// turns returns the last turns of a session that were said by the user or the agent.
func (b *builder) turns(ctx context.Context, id amber.SessionID, limit int) ([]amber.Turn, error) {
	turns, err := amber.LastTurns(ctx, b.Turns, id, limit)
	if isAbsent(err) {
		return nil, nil
	}
	return slices.DeleteFunc(turns, func(t amber.Turn) bool {
		return t.Trust == amber.TrustImported || t.SessionID != id || t.Role != amber.RoleUser && t.Role != amber.RoleAssistant ||
			t.ProjectID != "" && t.ProjectID != b.r.ProjectID
	}), err
}

// doings are names of what an agent did in a session; what tools printed is not among them.
type doings struct{ changed, mended, open []string }

func (b *builder) did(ctx context.Context, id amber.SessionID) (d doings, err error) {
	for kind, take := range map[amber.ActivityKind]func(amber.Activity){
		amber.ActivityFile: func(a amber.Activity) {
			if a.Status != "read" && a.Status != "" {
				d.changed = append(d.changed, a.Name)
			}
		},
		amber.ActivityCommand: func(a amber.Activity) {
			if a.Failed > 0 && a.Status == "completed" {
				d.mended = append(d.mended, a.Name)
			}
		},
		amber.ActivityTask: func(a amber.Activity) {
			if a.Status == "pending" || a.Status == "in_progress" {
				d.open = append(d.open, a.Name)
			}
		},
	} {
		list, err := b.Activities.ListActivity(ctx, id, kind)
		if isAbsent(err) {
			return doings{}, nil
		}
		if err != nil {
			return d, err
		}
		for _, a := range list {
			take(a)
		}
	}
	for _, l := range []*[]string{&d.changed, &d.mended, &d.open} {
		*l = (*l)[max(0, len(*l)-maxFiles):]
	}
	return d, nil
}
