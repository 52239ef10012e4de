package compat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// Tools with the names and the arguments of Engram 1.20.0. Ids are Amber's.

// engramKinds says what the types that Engram proposes are about. Types are free
// text: any other is a fact of the workspace.
var engramKinds = map[string]amber.MemoryKind{
	"architecture": amber.ProjectFact, "bugfix": amber.HistoricalCase, "config": amber.ProjectFact, "decision": amber.ProjectFact,
	"discovery": amber.ProjectFact, "learning": amber.WorkflowInsight, "manual": amber.WorkspaceFact, "passive": amber.WorkflowInsight,
	"pattern": amber.WorkflowInsight, "policy": amber.Constraint, "preference": amber.UserPreference,
}

func engramKind(typ string) amber.MemoryKind {
	if k, ok := engramKinds[strings.ToLower(strings.TrimSpace(typ))]; ok {
		return k
	}
	for _, k := range amber.MemoryKinds() {
		if string(k) == typ {
			return k
		}
	}
	return amber.WorkspaceFact
}

// personalUser is the user of personal memories where no user is named, as in an import from Engram.
const personalUser = "engram"

// engramPlace says who sees a memory: personal ones their user in every project.
func engramPlace(h *op.Host, scope, project, session string) (amber.Scope, amber.Identities) {
	ids := h.Identities(project, session)
	ids.UserID = cmp.Or(ids.UserID, personalUser)
	switch {
	case scope == "personal":
		return amber.ScopeUser, ids
	case scope == "global", ids.ProjectID == "":
		return amber.ScopeGlobal, ids
	}
	return amber.ScopeProject, ids
}

type memSaveArgs struct {
	Title     string `json:"title" need:"yes"`
	Content   string `json:"content" need:"yes"`
	Type      string `json:"type" doc:"decision, architecture, bugfix, pattern, config, discovery, learning, preference, policy"`
	SessionID string `json:"session_id"`
	Project   string `json:"project" doc:"default: current"`
	Scope     string `json:"scope" doc:"project (default) or personal"`
	TopicKey  string `json:"topic_key"`
}

var memSave = op.NewTool(op.Tool{
	Op: op.MemoryWrite.Row, Name: "mem_save", Title: "Save memory", Hints: op.Again, Shows: "id revision",
	Use: "Save a decision, bugfix, pattern or discovery right after it happens. Saving the same topic_key again revises the memory.",
}, func(ctx context.Context, c *op.Call, in memSaveArgs) (judgedSave, string, error) {
	r := amber.WriteRequest{Kind: engramKind(in.Type), Title: in.Title, Content: in.Content, Topic: in.TopicKey}
	if in.Type != "" && string(r.Kind) != in.Type {
		r.Metadata = map[string]string{"type": in.Type}
	}
	r.Scope, r.Identities = engramPlace(c.Host, in.Scope, in.Project, in.SessionID)
	saved, text, err := c.Save(ctx, r)
	if err != nil {
		return judgedSave{}, "", err
	}
	out, more := withCandidates(ctx, c, r, saved)
	return out, text + more, nil
})

// How words of a question have to be in what is found.
const (
	matchAny = "any"
	matchAll = "all"
)

type memSearchArgs struct {
	Query       string `json:"query" need:"yes"`
	Type        string `json:"type" doc:"decision, architecture, bugfix, pattern, config, discovery, learning, preference, policy"`
	Project     string `json:"project" doc:"default: current"`
	Scope       string `json:"scope" doc:"project (default) or personal"`
	MatchMode   string `json:"match_mode" doc:"all: every word; any: one of them" enum:"any all"`
	AllProjects bool   `json:"all_projects"`
	Limit       int    `json:"limit" doc:"default 10, at most 20" range:"1 20" default:"10"`
}

type memFound struct {
	Hits []op.Brief `json:"hits" shows:"id title snippet trust"`
}

var memSearch = op.NewTool(op.Tool{
	Op: op.MemoryRecall.Row, Name: "mem_search", Title: "Search memory", Use: "Search memories of earlier sessions.",
}, func(ctx context.Context, c *op.Call, in memSearchArgs) (out memFound, text string, err error) {
	scope, ids := engramPlace(c.Host, in.Scope, in.Project, "")
	q := amber.Query{Text: in.Query, Filter: amber.Filter{Identities: ids}, Limit: in.Limit, Layers: []amber.RecallLayer{amber.LayerMemory}}
	if in.Scope != "" {
		q.Scope = scope
	}
	if in.Type != "" {
		q.Kinds = []amber.MemoryKind{engramKind(in.Type)}
	}
	if in.MatchMode == matchAll {
		q.Limit = amber.MaxTopK // some of them will not have every word
	}
	var projects []string
	if in.AllProjects {
		if projects, err = projectsOf(ctx, c); err != nil {
			return out, "", err
		}
	}
	found, err := recallEach(ctx, c, searches(q, projects, in.MatchMode == matchAny))
	if in.MatchMode == matchAll {
		found = slices.DeleteFunc(found, func(h amber.Hit) bool { return !hasEveryWord(in.Query, h) })
	}
	out.Hits = op.BriefsOfHits(found[:min(in.Limit, len(found))])
	return out, op.PrintBriefs(out.Hits, "No memories found."), err
})

type memContextArgs struct {
	Project string `json:"project" doc:"default: current"`
	Scope   string `json:"scope" doc:"project (default) or personal"`
	Limit   int    `json:"limit"` // Engram takes it and looks elsewhere
}

var memContext = op.NewTool(op.Tool{
	Op: op.MemoryContext.Row, Name: "mem_context", Title: "Recent context", Shows: "text ids omitted cut",
	Use: "Returns what earlier sessions left behind. Call when a session begins.",
}, func(ctx context.Context, c *op.Call, in memContextArgs) (op.Context, string, error) {
	return c.Context(ctx, "", amber.Identities{ProjectID: in.Project}, 0)
})

type memSummaryArgs struct {
	Content   string `json:"content" need:"yes"`
	Project   string `json:"project" need:"yes"`
	SessionID string `json:"session_id"`
}

var memSessionSummary = op.NewTool(op.Tool{
	Op: op.MemoryWrite.Row, Name: "mem_session_summary", Title: "Save session summary", Hints: op.Again, Shows: "id revision",
	Use: "Save what a session was about before it ends.",
}, func(ctx context.Context, c *op.Call, in memSummaryArgs) (op.Saved, string, error) {
	return c.Summarize(ctx, in.Content, in.Project, in.SessionID)
})

type memStartArgs struct {
	ID        string `json:"id" need:"yes"`
	Project   string `json:"project" need:"yes"`
	Directory string `json:"directory"`
}

var memSessionStart = op.NewTool(op.Tool{
	Op: op.SessionStart.Row, Name: "mem_session_start", Title: "Start session", Use: "Register a session.", Hints: op.Again, Shows: op.SessionShows,
}, func(ctx context.Context, c *op.Call, in memStartArgs) (op.SessionPage, string, error) {
	return c.StartSession(ctx, amber.SessionStart{ID: amber.SessionID(in.ID), Project: in.Project, Directory: in.Directory})
})

type memEndArgs struct {
	ID      string `json:"id" need:"yes"`
	Summary string `json:"summary"`
}

var memSessionEnd = op.NewTool(op.Tool{
	Op: op.SessionEnd.Row, Name: "mem_session_end", Title: "End session", Use: "End a session.", Hints: op.Again, Shows: op.SessionShows,
}, func(ctx context.Context, c *op.Call, in memEndArgs) (op.SessionPage, string, error) {
	return c.EndSession(ctx, in.ID, in.Summary)
})

var memGetObservation = op.NewTool(op.Tool{
	Op: op.MemoryGet.Row, Name: "mem_get_observation", Title: "Read memory", Shows: "id title content truncated next_offset",
	Use: "Read one memory whole. For long ones call again with offset = next_offset.",
}, op.ReadMemory)

type memPromptArgs struct {
	Content   string `json:"content" need:"yes"`
	SessionID string `json:"session_id"`
	Project   string `json:"project" doc:"default: current"`
}

type promptSaved struct {
	ID        amber.TurnID    `json:"id"`
	SessionID amber.SessionID `json:"session_id"`
}

// manualSession is the session of prompts that belong to none, as in Engram.
const manualSession = "manual-save"

var memSavePrompt = op.NewTool(op.Tool{
	Op: op.TurnAppend.Row, Name: "mem_save_prompt", Title: "Save prompt", Use: "Keep what the user asked for.",
}, func(ctx context.Context, c *op.Call, in memPromptArgs) (promptSaved, string, error) {
	ids := c.Host.Identities(in.Project, in.SessionID)
	ids.SessionID = cmp.Or(ids.SessionID, manual(c.Host.Bound))
	t, err := c.Store.Turns.AppendTurn(ctx, amber.Turn{SessionID: ids.SessionID, Role: amber.RoleUser, Content: contextblock.Cut(in.Content), ProjectID: ids.ProjectID})
	c.Subject = string(t.ID)
	return promptSaved{t.ID, t.SessionID}, fmt.Sprintf("Prompt saved: %s.", t.ID), err
})

// manual is manualSession of the caller: what is bound to other identities is not of one session.
func manual(to wire.Bound) amber.SessionID {
	if !to.None() {
		return amber.SessionID(manualSession + "-" + to.Key(manualSession)[:16])
	}
	return manualSession
}

type memUpdateArgs struct {
	ID       string  `json:"id" need:"yes"`
	Title    *string `json:"title"`
	Content  *string `json:"content"`
	Type     string  `json:"type" doc:"decision, architecture, bugfix, pattern, config, discovery, learning, preference, policy"`
	Project  string  `json:"project"`
	Scope    string  `json:"scope" doc:"project (default) or personal"`
	TopicKey string  `json:"topic_key"`
}

// memUpdate changes what is in a memory. Where it belongs is part of what it is: another project, scope or topic is another memory.
var memUpdate = op.NewTool(op.Tool{
	Op: op.MemoryEdit.Row, Name: "mem_update", Title: "Update memory", Use: "Change a memory by id; give only what changes.", Hints: op.Destroys | op.Again,
}, func(ctx context.Context, c *op.Call, in memUpdateArgs) (op.Edited, string, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return op.Edited{}, "", err
	}
	c.Subject = in.ID
	was, err := c.Store.Memories.Get(ctx, id)
	if err != nil {
		return op.Edited{}, "", err
	}
	if in.Project != "" && in.Project != was.ProjectID || in.TopicKey != "" && topicKey(in.TopicKey) != was.Topic || in.Scope != "" && !sameScope(c.Host, in.Scope, was) {
		return op.Edited{}, "", amber.Errorf(amber.KindUnsupported, "update memory", in.ID, "project, scope and topic_key of a memory stay what they are").
			WithHint("save a new memory with mem_save and delete this one")
	}
	r := amber.EditRequest{ID: was.ID, Title: in.Title, Content: in.Content}
	if in.Type != "" {
		r.Kind = new(engramKind(in.Type))
	}
	return c.Edit(ctx, r)
})

// topicKey is a topic as it is stored.
func topicKey(s string) string {
	r, err := amber.WriteRequest{Content: "x", Topic: s}.Normalize()
	if err != nil {
		return s // no memory has it
	}
	return r.Topic
}

func sameScope(h *op.Host, scope string, m amber.Memory) bool {
	s, _ := engramPlace(h, scope, m.ProjectID, "")
	return s == m.Scope
}

type memDeleteArgs struct {
	ID         string `json:"id" need:"yes"`
	HardDelete bool   `json:"hard_delete"`
}

// Needs says that removing for good takes a scope of its own.
func (in memDeleteArgs) Needs() *op.Row {
	if in.HardDelete {
		return op.MemoryErase.Row
	}
	return op.MemoryForget.Row
}

type memDeleted struct {
	Erased    bool           `json:"erased"`
	ID        amber.MemoryID `json:"id"`
	Remaining []string       `json:"remaining,omitempty"` // copies elsewhere
}

var memDelete = op.NewTool(op.Tool{
	Op: op.MemoryForget.Row, Name: "mem_delete", Title: "Delete memory", Hints: op.Destroys | op.Again, Shows: "id erased",
	Use: "Hide a memory; with hard_delete remove its text for good.",
}, func(ctx context.Context, c *op.Call, in memDeleteArgs) (memDeleted, string, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return memDeleted{}, "", err
	}
	c.Subject = in.ID
	out := memDeleted{Erased: in.HardDelete, ID: id}
	if !in.HardDelete {
		return out, fmt.Sprintf("%s is deleted.", id), c.Store.LongTerm.Delete(ctx, id)
	}
	r, err := c.Store.Eraser.Erase(ctx, id)
	out.Remaining = op.ScrubAll(r.Remaining)
	return out, fmt.Sprintf("The text of %s is gone for good.", id), err
})

var memStats = op.NewTool(op.Tool{
	Op: op.MemoryList.Row, Name: "mem_stats", Title: "Memory statistics", Use: "How much is remembered.", Shows: "memories sessions turns",
}, func(ctx context.Context, c *op.Call, _ op.None) (amber.Stats, string, error) {
	s, err := c.Store.Stats.Stats(ctx)
	return s, fmt.Sprintf("%s, %s, %s.", words.Count(s.Memories, "memory", "memories"), words.Count(s.Sessions, "session", "sessions"), words.Count(s.Turns, "turn", "turns")), err
})

type memTimelineArgs struct {
	ObservationID string `json:"observation_id" need:"yes"`
	Before        *int   `json:"before" doc:"default 5" range:"0 20" default:"5"`
	After         *int   `json:"after" doc:"default 5" range:"0 20" default:"5"`
}

var memTimeline = op.NewTool(op.Tool{
	Op: op.MemoryTimeline.Row, Name: "mem_timeline", Title: "Timeline", Use: "What was saved just before and after a memory.",
}, func(ctx context.Context, c *op.Call, in memTimelineArgs) (op.Around, string, error) {
	_, ids := engramPlace(c.Host, "", "", "")
	return c.Around(ctx, ids, in.ObservationID, *in.Before, *in.After)
})
