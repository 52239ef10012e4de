package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/recall/block"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// engramTools have the names and the arguments of Engram 1.20.0, so that agents
// and prompts made for it find their memory here. Ids are Amber's.
func engramTools() []*tool {
	return slices.Concat(firstEngramTools(), curateTools(), verdictTools(), projectTools())
}

// firstEngramTools are those that Engram has had since 1.7.0.
func firstEngramTools() []*tool {
	typeArg := str("type", "decision, architecture, bugfix, pattern, config, discovery, learning, preference, policy")
	scopeOfEngram := str("scope", "project (default) or personal")
	return []*tool{
		define("mem_save", "Save memory", "Save a decision, bugfix, pattern or discovery right after it happens. Saving the same topic_key again revises the memory.",
			writing, hints{again: true},
			object(must(str("title")), must(str("content")), typeArg, str("session_id"), projectArg(), scopeOfEngram, str("topic_key")),
			object(str("id"), num("revision")), memSave),
		define("mem_search", "Search memory", "Search memories of earlier sessions.",
			reading, hints{},
			object(must(str("query")), typeArg, projectArg(), scopeOfEngram,
				word("match_mode", []string{matchAny, matchAll}, "all: every word; any: one of them"), flag("all_projects"), num("limit", "default 10, at most 20")),
			object(list("hits", briefSchema())), memSearch),
		define("mem_context", "Recent context", "Returns what earlier sessions left behind. Call when a session begins.",
			reading, hints{}, object(projectArg(), scopeOfEngram, num("limit")),
			object(str("text"), list("ids", nil), num("omitted"), list("cut", nil)), memContext),
		define("mem_session_summary", "Save session summary", "Save what a session was about before it ends.",
			writing, hints{again: true}, object(must(str("content")), must(str("project")), str("session_id")),
			object(str("id"), num("revision")), memSummary),
		define("mem_session_start", "Start session", "Register a session.",
			writing, hints{again: true}, object(must(str("id")), must(str("project")), str("directory")), sessionSchema(), memStart),
		define("mem_session_end", "End session", "End a session.",
			writing, hints{again: true}, object(must(str("id")), str("summary")), sessionSchema(), endSession),
		define("mem_get_observation", "Read memory", "Read one memory whole. For long ones call again with offset = next_offset.",
			reading, hints{}, object(must(str("id")), num("offset")),
			object(str("id"), str("title"), str("content"), flag("truncated"), num("next_offset")), getMemory),
		define("mem_suggest_topic_key", "Suggest topic key", "A stable topic_key for something that will change, before mem_save.",
			reading, hints{}, object(typeArg, str("title"), str("content")), object(str("topic_key")), memTopic),
		define("mem_capture_passive", "Capture learnings", "Save the items under a heading Key Learnings of a text.",
			writing, hints{again: true}, object(must(str("content")), str("session_id"), projectArg(), str("source")),
			object(num("extracted"), num("saved"), num("duplicates"), num("blocked"), str("blocked_reason"), list("ids", nil)), memCapture),
		define("mem_save_prompt", "Save prompt", "Keep what the user asked for.",
			writing, hints{}, object(must(str("content")), str("session_id"), projectArg()), object(str("id"), str("session_id")), memPrompt),
		define("mem_update", "Update memory", "Change a memory by id; give only what changes.",
			writing, hints{destroys: true, again: true},
			object(must(str("id")), str("title"), str("content"), typeArg, str("project"), scopeOfEngram, str("topic_key")),
			object(str("id"), num("revision")), memUpdate),
		define("mem_delete", "Delete memory", "Hide a memory; with hard_delete remove its text for good.",
			writing, hints{destroys: true, again: true}, object(must(str("id")), flag("hard_delete")), object(str("id"), flag("erased")), memDelete),
		define("mem_stats", "Memory statistics", "How much is remembered.",
			reading, hints{}, object(), object(num("memories"), num("sessions"), num("turns")), memStats),
		define("mem_timeline", "Timeline", "What was saved just before and after a memory.",
			reading, hints{}, object(must(str("observation_id")), num("before", "default 5"), num("after", "default 5")),
			object(list("memories", briefSchema())), memTimeline),
	}
}

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
func (b *bound) engramPlace(scope, project, session string) (amber.Scope, amber.Identities) {
	ids := b.Identities(project, session)
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
	Title, Content, Type, Project, Scope string
	SessionID                            string `json:"session_id"`
	TopicKey                             string `json:"topic_key"`
}

func memSave(ctx context.Context, b *bound, a *op.Call, in memSaveArgs) (answer, error) {
	r := amber.WriteRequest{Kind: engramKind(in.Type), Title: in.Title, Content: in.Content, Topic: in.TopicKey}
	if in.Type != "" && string(r.Kind) != in.Type {
		r.Metadata = map[string]string{"type": in.Type}
	}
	r.Scope, r.Identities = b.engramPlace(in.Scope, in.Project, in.SessionID)
	out, err := b.write(ctx, a, r)
	if err != nil {
		return out, err
	}
	return withCandidates(ctx, a, r, out), nil
}

// How words of a question have to be in what is found.
const (
	matchAny = "any"
	matchAll = "all"
)

type memSearchArgs struct {
	Query, Type, Project, Scope string
	Limit                       integer
	MatchMode                   string `json:"match_mode"`
	AllProjects                 bool   `json:"all_projects"`
}

func memSearch(ctx context.Context, b *bound, a *op.Call, in memSearchArgs) (answer, error) {
	limit, err := in.Limit.within("limit", 10, 1, 20)
	if err != nil {
		return answer{}, err
	}
	scope, ids := b.engramPlace(in.Scope, in.Project, "")
	q := amber.Query{Text: in.Query, Filter: amber.Filter{Identities: ids}, Limit: limit, Layers: []amber.RecallLayer{amber.LayerMemory}}
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
		if projects, err = projectsOf(ctx, a); err != nil {
			return answer{}, err
		}
	}
	found, err := recallEach(ctx, a, searches(q, projects, in.MatchMode == matchAny))
	if err != nil {
		return answer{}, err
	}
	if in.MatchMode == matchAll {
		found = slices.DeleteFunc(found, func(h amber.Hit) bool { return !hasEveryWord(in.Query, h) })
	}
	hits := briefsOfHits(found[:min(limit, len(found))])
	return answer{text: printBriefs(hits, "No memories found."), data: fields{"hits": hits}}, nil
}

type memContextArgs struct {
	Project, Scope string
	Limit          integer // Engram takes it and looks elsewhere
}

func memContext(ctx context.Context, b *bound, a *op.Call, in memContextArgs) (answer, error) {
	return buildContext(ctx, b, a, contextArgs{namedArgs: namedArgs{Project: in.Project}})
}

type memSummaryArgs struct {
	Content, Project string
	SessionID        string `json:"session_id"`
}

func memSummary(ctx context.Context, b *bound, a *op.Call, in memSummaryArgs) (answer, error) {
	return b.summarize(ctx, a, in.Content, in.Project, in.SessionID)
}

type memStartArgs struct{ ID, Project, Directory string }

func memStart(ctx context.Context, b *bound, a *op.Call, in memStartArgs) (answer, error) {
	return startSession(ctx, b, a, startArgs{ID: in.ID, Project: in.Project, Directory: in.Directory})
}

type memPromptArgs struct {
	Content, Project string
	SessionID        string `json:"session_id"`
}

// manualSession is the session of prompts that belong to none, as in Engram.
const manualSession = "manual-save"

func memPrompt(ctx context.Context, b *bound, a *op.Call, in memPromptArgs) (answer, error) {
	ids := b.Identities(in.Project, in.SessionID)
	ids.SessionID = cmp.Or(ids.SessionID, b.manual())
	t, err := a.Store.Turns.AppendTurn(ctx, amber.Turn{SessionID: ids.SessionID, Role: amber.RoleUser, Content: block.Cut(in.Content), ProjectID: ids.ProjectID})
	return answer{
		text: fmt.Sprintf("Prompt saved: %s.", t.ID), subject: string(t.ID),
		data: fields{"id": t.ID, "session_id": t.SessionID},
	}, err
}

// manual is manualSession of the caller: what is bound to other identities is not of one session.
func (b *bound) manual() amber.SessionID {
	if to := b.who.Grant.Bound; !to.None() {
		return amber.SessionID(manualSession + "-" + to.Key(manualSession)[:16])
	}
	return manualSession
}

type memUpdateArgs struct {
	ID             string
	Title, Content *string
	Type           string
	Project, Scope string
	TopicKey       string `json:"topic_key"`
}

// memUpdate changes what is in a memory. Where it belongs is part of what it is:
// another project, scope or topic is another memory.
func memUpdate(ctx context.Context, b *bound, a *op.Call, in memUpdateArgs) (answer, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return answer{}, err
	}
	was, err := a.Store.Memories.Get(ctx, id)
	if err != nil {
		return answer{subject: in.ID}, err
	}
	if in.Project != "" && in.Project != was.ProjectID || in.TopicKey != "" && topicKey(in.TopicKey) != was.Topic || in.Scope != "" && !b.sameScope(in.Scope, was) {
		return answer{subject: in.ID}, amber.Errorf(amber.KindUnsupported, "update memory", in.ID, "project, scope and topic_key of a memory stay what they are").
			WithHint("save a new memory with mem_save and delete this one")
	}
	r := amber.EditRequest{ID: id, Title: in.Title, Content: in.Content}
	if in.Type != "" {
		r.Kind = new(engramKind(in.Type))
	}
	return editMemory(ctx, a, r)
}

// topicKey is a topic as it is stored.
func topicKey(s string) string {
	r, err := amber.WriteRequest{Content: "x", Topic: s}.Normalize()
	if err != nil {
		return s // no memory has it
	}
	return r.Topic
}

func (b *bound) sameScope(scope string, m amber.Memory) bool {
	s, _ := b.engramPlace(scope, m.ProjectID, "")
	return s == m.Scope
}

type memDeleteArgs struct {
	ID         string
	HardDelete bool `json:"hard_delete"`
}

// need says that removing for good takes a scope of its own.
func (in memDeleteArgs) need() need {
	if in.HardDelete {
		return need{wire.TokenErase, op.Changes | op.Bound}
	}
	return writing
}

func memDelete(ctx context.Context, _ *bound, a *op.Call, in memDeleteArgs) (answer, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return answer{}, err
	}
	data := fields{"id": id, "erased": in.HardDelete}
	if !in.HardDelete {
		return answer{text: fmt.Sprintf("%s is deleted.", id), data: data, subject: in.ID}, a.Store.LongTerm.Delete(ctx, id)
	}
	r, err := a.Store.Eraser.Erase(ctx, id)
	if len(r.Remaining) > 0 { // copies elsewhere
		data["remaining"] = op.ScrubAll(r.Remaining)
	}
	return answer{text: fmt.Sprintf("The text of %s is gone for good.", id), data: data, subject: in.ID}, err
}

func memStats(ctx context.Context, _ *bound, a *op.Call, _ struct{}) (answer, error) {
	s, err := a.Store.Stats.Stats(ctx)
	return answer{text: fmt.Sprintf("%s, %s, %s.", words.Count(s.Memories, "memory", "memories"), words.Count(s.Sessions, "session", "sessions"), words.Count(s.Turns, "turn", "turns")), data: s}, err
}

type memTimelineArgs struct {
	ObservationID string `json:"observation_id"`
	Before, After *integer
}

func memTimeline(ctx context.Context, b *bound, a *op.Call, in memTimelineArgs) (answer, error) {
	_, ids := b.engramPlace("", "", "")
	return timelineFor(ctx, ids, a, timelineArgs{ID: in.ObservationID, Before: in.Before, After: in.After}, 5)
}
