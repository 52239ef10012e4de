package drain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/journal"
)

// Bounds of a digest.
const (
	digestTurns  = 200 // that are looked at
	digestItems  = 12  // of each kind
	digestLine   = 200 // bytes
	digestAnswer = 1500
)

// close adds the digest of its session to the event that ends it.
func (s *session) close(ctx context.Context, it *item) error {
	d, err := s.digest(ctx, it.event.SessionID, it.event.Host, it.event.Project)
	if err != nil {
		return err
	}
	it.step.End.Summary = d.summary()
	kept := s.learns(amber.LessonDigest, it.event.SessionID, it.event.EventID, d.memory(), s.report)
	it.step.Memories = append(it.step.Memories, kept...)
	return nil
}

// digest is what a session amounts to.
type digest struct {
	session amber.SessionID
	host    string
	project string
	prompts []string
	answer  string // the last
	done    map[amber.ActivityKind][]amber.Activity
}

func (w *Worker) digest(ctx context.Context, id amber.SessionID, host, project string) (digest, error) {
	d := digest{session: id, host: host, project: project, done: map[amber.ActivityKind][]amber.Activity{}}
	turns, err := w.o.Store.LoadTurns(ctx, id, digestTurns)
	if err != nil {
		return d, err
	}
	for _, t := range turns {
		if t.Trust == amber.TrustImported {
			continue // somebody else said it
		}
		if t.ProjectID != "" && d.project == "" {
			d.project = t.ProjectID
		}
		switch t.Role {
		case amber.RoleUser:
			d.prompts = append(d.prompts, t.Content)
		case amber.RoleAssistant:
			d.answer = t.Content
		}
	}
	all, err := w.o.Store.ListActivity(ctx, id, "")
	if err != nil {
		return d, err
	}
	for _, a := range all {
		d.done[a.Kind] = append(d.done[a.Kind], a)
	}
	return d, nil
}

// summary counts. It goes before agents unasked, so it holds no word of what
// was said.
func (d digest) summary() string {
	var parts []string
	count := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	uses := 0
	for _, a := range d.done[amber.ActivityTool] {
		uses += int(a.Count)
	}
	count(len(d.prompts), "prompt", "prompts")
	count(uses, "tool use", "tool uses")
	count(len(d.changed()), "file changed", "files changed")
	count(len(d.done[amber.ActivityCommand]), "command", "commands")
	count(len(d.done[amber.ActivityError]), "error", "errors")
	return strings.Join(parts, ", ")
}

// changed are the files that were not only read.
func (d digest) changed() []amber.Activity {
	var out []amber.Activity
	for _, a := range d.done[amber.ActivityFile] {
		if a.Status != string(journal.FileRead) {
			out = append(out, a)
		}
	}
	return out
}

// memory is the digest as a memory; none where nothing was said or done.
func (d digest) memory() []amber.WriteRequest {
	if len(d.prompts) == 0 && len(d.done) == 0 {
		return nil
	}
	title := "Session " + string(d.session)
	if len(d.prompts) > 0 {
		title = "Session: " + clip(name(d.prompts[0], "work"), digestLine)
	}
	sum := sha256.Sum256([]byte(d.host + "\x00" + string(d.session)))
	return []amber.WriteRequest{{
		Kind: amber.SessionSummary, Scope: scopeOf(d.project), Identities: amber.Identities{SessionID: d.session, ProjectID: d.project},
		Title: clip(title, amber.MaxTitleBytes), Content: plain(d.content()), Summary: d.summary(),
		Topic: "session " + hex.EncodeToString(sum[:16]), Tags: []string{"session"},
		SourceRefs: []amber.SourceRef{{Kind: "session", Value: string(d.session)}},
		Trust:      amber.TrustDerived, Reason: amber.WriteCompactSummary,
	}}
}

func (d digest) content() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s with %s", d.session, d.host)
	if d.project != "" {
		fmt.Fprintf(&b, " in %s", d.project)
	}
	b.WriteString(".\n")
	d.asked(&b)
	if d.answer != "" {
		fmt.Fprintf(&b, "\nLast answer:\n%s\n", clip(strings.TrimSpace(d.answer), digestAnswer))
	}
	for _, part := range []struct {
		title string
		list  []amber.Activity
	}{
		{"Files changed", d.changed()},
		{"Commands", d.done[amber.ActivityCommand]},
		{"Tasks", d.done[amber.ActivityTask]},
		{"Errors", d.done[amber.ActivityError]},
		{"Subagents", d.done[amber.ActivitySubagent]},
		{"Tools", d.done[amber.ActivityTool]},
		{"Lost", d.done[amber.ActivityGap]},
	} {
		listed(&b, part.title, part.list)
	}
	return b.String()
}

// asked lists the first prompt and the last ones.
func (d digest) asked(b *strings.Builder) {
	shown := d.prompts
	skipped := max(0, len(shown)-digestItems)
	if len(shown) > 0 {
		b.WriteString("\nAsked:\n")
	}
	for i, p := range shown {
		switch {
		case i == 1 && skipped > 0:
			fmt.Fprintf(b, "- and %d more\n", skipped)
		case i == 0 || i > skipped:
			fmt.Fprintf(b, "- %s\n", clip(name(p, "something"), digestLine))
		}
	}
}

// listed lists what was done last.
func listed(b *strings.Builder, title string, list []amber.Activity) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	skipped := max(0, len(list)-digestItems)
	if skipped > 0 {
		fmt.Fprintf(b, "- and %d more before\n", skipped)
	}
	for _, a := range list[skipped:] {
		fmt.Fprintf(b, "- %s", clip(a.Name, digestLine))
		if a.Status != "" && a.Status != "completed" || a.Kind == amber.ActivityTask {
			fmt.Fprintf(b, " (%s)", a.Status)
		}
		if a.Count > 1 {
			fmt.Fprintf(b, " ×%d", a.Count)
		}
		if a.Failed > 0 && a.Count > 1 {
			fmt.Fprintf(b, ", %d failed", a.Failed)
		}
		b.WriteString("\n")
	}
}
