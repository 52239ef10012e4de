package mcpapi_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/bounds"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// wholeTools are the tools that a bound caller is not offered.
var wholeTools = []string{
	"snapshot_create", "snapshot_diff", "snapshot_verify", "snapshot_restore", "consolidation_begin", "consolidation_end",
	"queue_publish", "queue_claim", "queue_ack", "queue_nack", "queue_renew", "queue_status", "state_list", "state_get", "state_set", "state_delete",
	"mem_merge_projects", "mem_doctor",
}

// twoPeople is a rig in which alice, bound to the bank, has records, and the caller for bob, bound to the shop.
func twoPeople(t testing.TB) (r *rig, bob op.Caller, hers map[string]string) {
	t.Helper()
	r, ctx := newRig(t), context.Background()
	alice := bounds.New(r.store(), wire.Bound{User: "alice", Project: "bank"}).Store()
	write := func(w amber.WriteRequest) amber.WriteAck { return must.Get(alice.LongTerm.Write(ctx, w))(t) }
	must.Get(alice.Sessions.StartSession(ctx, amber.SessionStart{ID: "s-alice", Name: canary}))(t)
	must.Get(alice.Turns.AppendTurn(ctx, amber.Turn{SessionID: "s-alice", Role: amber.RoleUser, Content: canary}))(t)
	must.Get(alice.States.SaveState(ctx, "s-alice", []byte(`{"x":"`+canary+`"}`), 0))(t)
	must.Get(alice.Tasks.SaveTask(ctx, amber.Task{ID: "t-alice", SessionID: "s-alice", Goal: canary}, 0))(t)
	must.Get(alice.Results.SaveResult(ctx, amber.Result{TaskID: "t-alice", NodeID: "n", Producer: "p", Status: amber.ResultOK, Payload: canary}))(t)
	must.Get(alice.Approvals.RequestApproval(ctx, amber.ApprovalRequest{ID: "a-alice", TaskID: "t-alice", NodeID: "n", Summary: canary, Payload: []byte(`{}`)}))(t)
	m, topic := write(amber.WriteRequest{Content: "one " + canary}), write(amber.WriteRequest{Content: "two " + canary, Topic: "topic", Scope: amber.ScopeProject})
	must.Get(alice.Relations.Relate(ctx, amber.Relation{From: m.ID, To: topic.ID, Type: "related"}))(t)
	bob = op.Caller{Grant: wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}, Bound: wire.Bound{User: "bob", Project: "shop"}}, RequestID: "req"}
	return r, bob, map[string]string{"memory": string(m.ID), "topic": string(amber.TopicID("bank", amber.ScopeProject, "bank", "topic", 0))}
}

// TestBoundHostsReachTheirOwnAlone calls every tool, reads every resource and asks every prompt as bob, with ids of
// alice where the tool takes one. He gets the answer that he would get for an id that no record has, and nothing of
// hers changes.
func TestBoundHostsReachTheirOwnAlone(t *testing.T) {
	t.Parallel()
	r, who, hers := twoPeople(t)
	ctx := context.Background()
	topic := must.Get(r.store().Memories.Get(ctx, amber.MemoryID(hers["topic"])))(t)
	must.Equal(t, "the computed id is that of her topic", topic.Topic, "topic")
	before := r.hers(hers)
	bob := r.session(r.options("all"), who, "default", "default")
	names := bob.tools()
	for _, tool := range names {
		for _, id := range []string{hers["memory"], hers["topic"]} {
			mine, nobodys := maps.Clone(plausible[tool]), maps.Clone(plausible[tool])
			for k, v := range mine {
				switch v {
				case someID:
					mine[k] = id
				case "s":
					mine[k], nobodys[k] = "s-alice", "s-nobody"
				case "t":
					mine[k], nobodys[k] = "t-alice", "t-nobody"
				case "a":
					mine[k], nobodys[k] = "a-alice", "a-nobody"
				case "x":
					if k == "query" || k == "goal" {
						mine[k], nobodys[k] = canary, canary
					}
				}
			}
			if slices.Contains([]string{"mem_session_summary", "mem_session_start"}, tool) {
				mine["project"], nobodys["project"] = "shop", "shop"
			}
			got := bob.try(tool, mine)
			must.Hides(t, tool, textOf(got), canary)
			if !strings.Contains(strings.Join(texts(mine), " "), id) {
				continue
			}
			want := bob.try(tool, nobodys)
			must.Equal(t, tool, strings.ReplaceAll(textOf(got), id, "ID"), strings.ReplaceAll(textOf(want), someID, "ID"))
		}
	}
	var want []string
	for name := range plausible {
		if !slices.Contains(wholeTools, name) {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	slices.Sort(names)
	must.Equal(t, "tools that are offered", names, want)
	for _, tool := range wholeTools {
		kind, _ := bob.fails(tool, plausible[tool])
		must.Equal(t, tool, kind, amber.KindRefused)
	}
	for _, uri := range []string{"amber://context", "amber://memory/" + hers["memory"], "amber://memory/" + hers["topic"], "amber://session/s-alice"} {
		res, err := bob.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err == nil {
			must.Hides(t, uri, res.Contents[0].Text, canary)
		}
		must.Hold(t, (err == nil) == (uri == "amber://context"), "%s: %v", uri, err)
	}
	p := must.Get(bob.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "recall", Arguments: map[string]string{"topic": canary}}))(t)
	must.Hides(t, "prompt", p.Messages[0].Content.(*mcp.TextContent).Text, "one "+canary, "two "+canary)
	must.Equal(t, "what alice has", r.hers(hers), before)
}

// texts are the arguments that are texts.
func texts(args object) (values []string) {
	for _, v := range args {
		if s, ok := v.(string); ok {
			values = append(values, s)
		}
	}
	return values
}

// hers is what alice has, as text.
func (r *rig) hers(ids map[string]string) string {
	ctx := context.Background()
	s := r.store()
	var b strings.Builder
	for _, v := range []any{
		must.Get(s.Memories.History(ctx, amber.MemoryID(ids["memory"]), amber.Paging{}))(r.t), must.Get(s.Memories.History(ctx, amber.MemoryID(ids["topic"]), amber.Paging{}))(r.t),
		must.Get(s.Relations.Related(ctx, amber.MemoryID(ids["memory"])))(r.t), must.Get(s.Sessions.Session(ctx, "s-alice"))(r.t), must.Get(amber.LastTurns(ctx, s.Turns, "s-alice", 9))(r.t),
		must.Get(s.States.LoadState(ctx, "s-alice"))(r.t), must.Get(s.Tasks.Task(ctx, "t-alice"))(r.t), must.Get(s.Events.ListEvents(ctx, "t-alice", amber.Paging{}))(r.t),
		must.Get(s.Approvals.Approval(ctx, "a-alice"))(r.t), must.Get(s.Results.ListResults(ctx, "t-alice", amber.Paging{}))(r.t),
	} {
		b.Write(must.Get(json.Marshal(v))(r.t))
	}
	return b.String()
}

// TestBoundHostsNameNobodyElse: a call that names another identity is refused, and what is saved belongs to the caller.
func TestBoundHostsNameNobodyElse(t *testing.T) {
	t.Parallel()
	r, who, _ := twoPeople(t)
	bob := r.session(r.options("all"), who, "default", "default")
	for _, args := range []object{{"user": "alice"}, {"project": "bank"}, {"project": "acme/shop"}} {
		for tool, more := range map[string]object{"memory_save": {"content": "x"}, "memory_recall": {"query": "x"}, "memory_context": {"goal": "x"}} {
			more = maps.Clone(more)
			maps.Copy(more, args)
			bob.failsAs(tool, amber.KindRefused, tool, more, "bound to")
		}
	}
	for tool, scope := range map[string]string{"memory_save": "user", "mem_save": "project"} {
		args := object{"content": "of " + tool}
		if tool == "mem_save" {
			args["title"] = "x"
		}
		out := bob.out(tool, args)
		m := must.Get(r.store().Memories.Get(context.Background(), amber.MemoryID(out["id"].(string))))(t)
		must.Equal(t, tool, []string{string(m.Scope), m.UserID, m.ProjectID}, []string{scope, "bob", "shop"})
	}
	bob.call("mem_save_prompt", object{"content": "mine"})
	carol := who
	carol.Grant.Bound = wire.Bound{User: "carol", Project: "shop"}
	out := r.session(r.options("all"), carol, "default", "default").out("mem_save_prompt", object{"content": "hers"})
	must.Hold(t, out["session_id"] != "manual-save", "prompts of two people are in one session")
}
