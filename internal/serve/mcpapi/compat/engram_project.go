package compat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// Tools of Engram 1.20.0 about projects, and the one that asks whether all is well.

type mergeArgs struct {
	From string `json:"from" doc:"names, joined by commas" need:"yes"`
	To   string `json:"to" need:"yes"`
}

type merged struct {
	Memories int      `json:"memories"`
	Merged   []string `json:"merged"`
	Sessions int      `json:"sessions"`
	To       string   `json:"to"`
}

// The needs of what no operation does: to join projects, and to show the checks of the doctor to readers.
var (
	joining  = &op.Row{Scope: wire.TokenAdmin, Kind: op.Changes | op.Shows}
	checking = &op.Row{Scope: wire.TokenRead}
)

var memMergeProjects = op.NewTool(op.Tool{
	Op: joining, Name: "mem_merge_projects", Title: "Merge projects", Hints: op.Destroys | op.Again, Shows: "to merged memories sessions",
	Use: "Give the memories, sessions and prompts of projects to one. Refused where one holds what the owner wrote.",
}, func(ctx context.Context, c *op.Call, in mergeArgs) (out merged, text string, err error) {
	if c.Join == nil {
		return out, "", amber.Errorf(amber.KindUnsupported, "merge projects", "", "this server does not join projects of the agent")
	}
	out.To = in.To
	for name := range strings.SplitSeq(in.From, ",") {
		if name = strings.TrimSpace(name); name != "" && name != in.To && !slices.Contains(out.Merged, name) {
			out.Merged = append(out.Merged, name)
		}
	}
	if n := len(out.Merged); n == 0 || n > amber.MaxBatchSize {
		return out, "", op.BadArgs("from names %d projects beside to, want 1 to %d", n, amber.MaxBatchSize)
	}
	ctx, cancel := c.Host.Begun(ctx)
	defer cancel()
	for _, name := range out.Merged {
		m, s, err := c.Join(ctx, name, in.To)
		if err != nil {
			return out, "", err
		}
		c.Did, out.Memories, out.Sessions = append(c.Did, name), out.Memories+m, out.Sessions+s
	}
	return out, fmt.Sprintf("Moved to %s: memories %d, sessions %d. Folders keep their projects: amber project set.", in.To, out.Memories, out.Sessions), nil
})

type projects struct {
	Available []string `json:"available_projects"`
	Project   string   `json:"project"`
	Source    string   `json:"project_source"`
}

var memCurrentProject = op.NewTool(op.Tool{
	Op: op.MemoryList.Row, Name: "mem_current_project", Title: "Current project", Shows: "project project_source available_projects",
	Use: "The project that calls are about which name none, and others there are.",
}, func(ctx context.Context, c *op.Call, _ op.None) (projects, string, error) {
	names, err := projectsOf(ctx, c)
	is, source := c.Host.About().ProjectID, "started with"
	switch {
	case c.Host.Bound.Project != "":
		source = "bound to"
	case is == "":
		source = "none"
	}
	return projects{names, is, source}, fmt.Sprintf("Project: %s.", cmp.Or(is, "none; name one in each call")), err
})

// Bounds of the search for projects, and of the projects in an answer.
const (
	projectPages = 10
	maxProjects  = 32
)

// projectsOf returns the projects that were written to last, those of memories first.
func projectsOf(ctx context.Context, c *op.Call) ([]string, error) {
	names := []string{}
	add := func(name string) {
		if name != "" && len(names) < maxProjects && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	q := amber.ListQuery{Filter: amber.Filter{Scope: amber.ScopeProject}, All: true, Limit: amber.MaxPageSize}
	for range projectPages {
		page, err := c.Store.Memories.List(ctx, q)
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
	sessions, err := c.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: amber.MaxPageSize})
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
func recallEach(ctx context.Context, c *op.Call, queries []amber.Query) ([]amber.Hit, error) {
	var hits []amber.Hit
	for _, q := range queries {
		found, err := c.Store.LongTerm.Recall(ctx, q)
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

type doctorArgs struct {
	Project string `json:"project" doc:"not used: the checks are about all"`
	Check   string `json:"check" doc:"one code"`
}

// checkup is [wire.Checkup] as schemas show it.
type checkup struct {
	OK     bool           `json:"ok"`
	Checks []wire.Finding `json:"checks" shows:"-"`
}

var memDoctor = op.NewTool(op.Tool{
	Op: checking, Name: "mem_doctor", Title: "Run doctor", Use: "Whether memory works: the checks of amber doctor. Nothing is changed.",
	Shows: "ok checks",
}, func(ctx context.Context, c *op.Call, in doctorArgs) (out checkup, text string, err error) {
	if c.Doctor == nil {
		return out, "", amber.Errorf(amber.KindUnsupported, "run doctor", "", "this server does not check the agent")
	}
	found, err := c.Doctor(ctx, false)
	if err != nil {
		return out, "", err
	}
	if in.Check != "" {
		found.Checks = slices.DeleteFunc(found.Checks, func(f wire.Finding) bool { return f.Code != in.Check })
		if len(found.Checks) == 0 {
			return out, "", op.BadArgs("no check has the code %q", clip.Marked(in.Check, 40))
		}
		found.OK = !slices.ContainsFunc(found.Checks, func(f wire.Finding) bool { return f.Status == wire.FindingFailed })
	}
	var lines []string
	for _, f := range found.Checks {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s: %s %s", f.Status, f.Code, shown.OneLine(f.Detail, op.SnippetBytes), shown.OneLine(f.Hint, op.SnippetBytes))))
	}
	return checkup(found), op.Lines(lines, "Nothing was checked."), nil
})
