package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// projectTools are those of Engram 1.20.0 about projects, and the one that looks whether all is well.
func projectTools() []*tool {
	return []*tool{
		define("mem_merge_projects", "Merge projects", "Give the memories, sessions and prompts of projects to one. Refused where one holds what the owner wrote.",
			need{wire.TokenAdmin, op.Changes | op.Shows}, hints{destroys: true, again: true},
			object(must(str("from", "names, joined by commas")), must(str("to"))),
			object(str("to"), list("merged", nil), num("memories"), num("sessions")), mergeProjects),
		define("mem_current_project", "Current project", "The project that calls are about which name none, and others there are.",
			reading, hints{}, object(), object(str("project"), str("project_source"), list("available_projects", nil)), currentProject),
		define("mem_doctor", "Run doctor", "Whether memory works: the checks of amber doctor. Nothing is changed.",
			reading.whole(), hints{}, object(str("project", "not used: the checks are about all"), str("check", "one code")),
			object(flag("ok"), list("checks", object())), doctorChecks),
	}
}

type mergeArgs struct{ From, To string }

func mergeProjects(ctx context.Context, b *bound, a *op.Call, in mergeArgs) (answer, error) {
	if a.Join == nil {
		return answer{}, amber.Errorf(amber.KindUnsupported, "merge projects", "", "this server does not join projects of the agent")
	}
	var from []string
	for name := range strings.SplitSeq(in.From, ",") {
		if name = strings.TrimSpace(name); name != "" && name != in.To && !slices.Contains(from, name) {
			from = append(from, name)
		}
	}
	if len(from) == 0 || len(from) > amber.MaxBatchSize {
		return answer{}, badArgs(fmt.Sprintf("from names %d projects beside to, want 1 to %d", len(from), amber.MaxBatchSize))
	}
	ctx, cancel := b.Begun(ctx)
	defer cancel()
	out := answer{}
	memories, sessions := 0, 0
	for _, name := range from {
		m, s, err := a.Join(ctx, name, in.To)
		if err != nil {
			return out, err
		}
		out.done, memories, sessions = append(out.done, name), memories+m, sessions+s
	}
	out.text = fmt.Sprintf("Moved to %s: memories %d, sessions %d. Folders keep their projects: amber project set.", in.To, memories, sessions)
	out.data = fields{"to": in.To, "merged": from, "memories": memories, "sessions": sessions}
	return out, nil
}

func currentProject(ctx context.Context, b *bound, a *op.Call, _ struct{}) (answer, error) {
	names, err := projectsOf(ctx, a)
	if err != nil {
		return answer{}, err
	}
	is, source := b.About().ProjectID, "started with"
	switch {
	case b.who.Grant.Bound.Project != "":
		source = "bound to"
	case is == "":
		source = "none"
	}
	return answer{
		text: fmt.Sprintf("Project: %s.", cmp.Or(is, "none; name one in each call")),
		data: fields{"project": is, "project_source": source, "available_projects": names},
	}, nil
}

// Bounds of the search for projects, and of the projects in an answer.
const (
	projectPages = 10
	maxProjects  = 32
)

// projectsOf returns the projects that were written to last, those of memories first.
func projectsOf(ctx context.Context, a *op.Call) ([]string, error) {
	names := []string{}
	add := func(name string) {
		if name != "" && len(names) < maxProjects && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	q := amber.ListQuery{Filter: amber.Filter{Scope: amber.ScopeProject}, All: true, Limit: amber.MaxPageSize}
	for range projectPages {
		page, err := a.Store.Memories.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, m := range page.Items {
			add(m.ProjectID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	sessions, err := a.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: amber.MaxPageSize})
	for _, s := range sessions.Items {
		add(s.Project)
	}
	return names, err
}

// maxWords is how many words of a question are asked for one by one.
const maxWords = 8

// searches are the queries that make up one search: one in each project of names, and one for each word where any
// word will do.
func searches(q amber.Query, names []string, anyWord bool) (out []amber.Query) {
	texts := []string{q.Text}
	if words := strings.Fields(q.Text); anyWord && len(words) > 1 {
		texts = append(texts, words[:min(len(words), maxWords)]...)
	}
	for _, text := range texts {
		q.Text = text
		if len(names) == 0 {
			out = append(out, q)
		}
		for _, name := range names {
			q.ProjectID = name
			out = append(out, q)
		}
	}
	return out
}

// recallEach returns the hits of all queries, each once, the best first.
func recallEach(ctx context.Context, a *op.Call, queries []amber.Query) ([]amber.Hit, error) {
	var hits []amber.Hit
	for _, q := range queries {
		found, err := a.Store.LongTerm.Recall(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, h := range found.Hits {
			if !slices.ContainsFunc(hits, func(k amber.Hit) bool { return k.ID == h.ID }) {
				hits = append(hits, h)
			}
		}
	}
	slices.SortStableFunc(hits, func(x, y amber.Hit) int { return cmp.Compare(y.Score, x.Score) })
	return hits, nil
}

// hasEveryWord reports whether each word of a question is in the title or the text of a hit, in some form.
func hasEveryWord(question string, h amber.Hit) bool {
	has := analyze.Terms(h.Title + "\n" + h.Content)
	return !slices.ContainsFunc(analyze.Terms(question), func(word string) bool { return !slices.Contains(has, word) })
}

type doctorArgs struct{ Project, Check string }

func doctorChecks(ctx context.Context, _ *bound, a *op.Call, in doctorArgs) (answer, error) {
	if a.Doctor == nil {
		return answer{}, amber.Errorf(amber.KindUnsupported, "run doctor", "", "this server does not check the agent")
	}
	found, err := a.Doctor(ctx, false)
	if err != nil {
		return answer{}, err
	}
	if in.Check != "" {
		found.Checks = slices.DeleteFunc(found.Checks, func(f wire.Finding) bool { return f.Code != in.Check })
		if len(found.Checks) == 0 {
			return answer{}, badArgs(fmt.Sprintf("no check has the code %q", shown.Clip(in.Check, 40)))
		}
		found.OK = !slices.ContainsFunc(found.Checks, func(f wire.Finding) bool { return f.Status == wire.FindingFailed })
	}
	var lines []string
	for _, f := range found.Checks {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s: %s %s", f.Status, f.Code, shown.OneLine(f.Detail, snippetBytes), shown.OneLine(f.Hint, snippetBytes))))
	}
	return answer{text: listed(lines, "Nothing was checked."), data: found}, nil
}
