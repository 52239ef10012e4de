package web_test

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// sampleTexts are what a small project leaves behind, by the field that each stands in.
var sampleTexts = map[string]string{
	"session.id": "checkout-rounding", "session.name": "Round coupons the same way everywhere", "session.project": "shop", "session.directory": "/home/ada/shop",
	"turn.user": "The total of order 4711 is one cent off on the invoice. Find out why and mend it.", "turn.project": "shop",
	"turn.assistant":     "The cart rounds coupons half up, the invoice half to even. I moved both to one function, `money.Round`, and added the order as a test case.",
	"turn.system":        "Work on branch fix/rounding. Ask before touching the payment provider.",
	"turn.tool":          "$ go test ./cart ./invoice\nok  \tshop/cart\t0.31s\nok  \tshop/invoice\t0.44s",
	"compaction.summary": "Coupons were rounded in two ways. Both callers use money.Round now; order 4711 is a test case. Open: the export for the accountant.",
	"state":              "waiting for the review of the pull request", "state.key": "status",
	"loop.run": "run-17", "loop": "run the export with the new rounding", "loop.key": "next",
	"activity.host": "claude-code", "activity.name": "Bash", "activity.detail": "go test ./invoice/...\nFAIL: TestExport",
	"relation.type": "supersedes", "concept": "rounding",
	"document": "2026-10-31", "document.key": "last export",
	"note.name": "runbook", "note.before": "the deploy took two steps by hand.",
	"note.content":    "# Deploying the shop\n\n1. Run the migrations: `make migrate`.\n2. Deploy with `make deploy`; it waits for the health check.\n3. Watch the error rate for ten minutes.\n\n## When it goes wrong\n\n| Sign | Do |\n|---|---|\n| 5xx above 1 % | `make rollback` |\n| queue grows | scale the workers |\n\nSee the [dashboards](https://example.org/dashboards).",
	"snapshot.label0": "before the rounding fix", "snapshot.label1": "release 2.4",
	"conflict.title": "Support hours", "conflict.content": "Support answers from 8:00 to 18:00 on workdays.",
	"chunk.author": "bob", "chunk.id": "c0ffee", "chunk.reason": "the signature is of a key that is not trusted",
	"held.host": "codex", "held.session": "nightly-import", "held.payload": `{"event":"tool","name":"import"}`, "held.reason": "the session was erased",
	"task.id": "export-invoices", "task.node": "send", "task.request": "req-2207", "task.goal": "Send the invoices of October to the accountant",
	"task.result": "38 invoices were written", "task.extra": "october", "task.extra.key": "month",
	"event.reason": "the files are ready", "event.result": "38 files, 1.2 MB",
	"approval.summary": "Send 38 invoices to accounting@example.org", "approval": "accounting@example.org", "approval.key": "to",
	"result.producer": "exporter", "result.payload": "38 invoices, the sum is 12 904.55 EUR", "evidence.kind": "file", "evidence.value": "out/invoices-2026-10.zip",
	"queue.entry": "mail-118", "queue.node": "mail", "queue.payload": "Reminder for order 4705", "queue.consumer": "mailer-1", "queue.reason": "the mail server does not answer",
	"token.name": "ci", "audit.actor": "t-ada", "audit.target": "checkout-rounding",
}

// sampleMemories are what the project has learnt.
var sampleMemories = []amber.WriteRequest{
	{Kind: amber.ProjectFact, Title: "Database", Content: "We chose PostgreSQL for its JSONB columns: orders carry what each shop adds to them, and we query inside of it. SQLite stays for the tests.", Tags: []string{"database", "architecture"}},
	{Kind: amber.Constraint, Title: "Money", Content: "Amounts are integers in cents. Never use floating point for money; divide only in money.Split, which gives the rest to the first part.", Tags: []string{"money"}},
	{Kind: amber.UserPreference, Title: "Small commits", Content: "Ada wants one idea per commit, with a test in the same commit and the reason in the message."},
	{Kind: amber.WorkflowInsight, Title: "Migrations", Content: "A migration that takes a lock on orders has to run at night. Check with `make explain` before: on 3 May the shop stood still for four minutes.", Tags: []string{"database", "operations"}},
	{Kind: amber.ProjectFact, Title: "Support hours", Content: "Support answers from 9:00 to 17:00 on workdays."},
	{Kind: amber.HistoricalCase, Title: "The lost webhooks of March", Content: "The payment provider sent webhooks twice when we answered after 10 s. We answer first and work later since then; the queue knows each webhook by its id.", Tags: []string{"payments"}},
	{Kind: amber.ProjectFact, Title: "Rounding of coupons", Content: "Coupons are rounded half up.", Tags: []string{"money"}},
	{Kind: amber.ProjectFact, Title: "Rounding of coupons and totals", Content: "Coupons round half to even, in the cart and on the invoice, with money.Round. The cart rounded half up before, and order 4711 was a cent off.", Tags: []string{"money", "rounding"}},
}

// sample furnishes an agent with the sample.
func (r *rig) sample(tenant amber.TenantID, agent amber.AgentID) *place {
	r.t.Helper()
	p := &place{tenant: tenant, agent: agent}
	f := furnisher{r: r, t: r.t, place: p, store: r.store(tenant, agent), s: func(field string, _ alphabet, _ int) string {
		text, ok := sampleTexts[field]
		if !ok {
			r.t.Fatalf("the sample has no text for %s", field)
		}
		return text
	}}
	f.sessions()
	f.remembers()
	f.notes()
	f.snapshot(0)
	content := "Coupons round half to even, in the cart, on the invoice and in the export for the accountant, with money.Round.\nThe cart rounded half up before, and order 4711 was a cent off."
	must.Get(f.store.Editor.Edit(r.t.Context(), amber.EditRequest{ID: f.memory, Content: &content}))(r.t)
	f.conflict()
	f.quarantine()
	f.work()
	f.snapshot(1)
	f.home()
	return p
}

// remembers stores the memories, relates the last two and forgets one.
func (f *furnisher) remembers() {
	ctx, st := f.t.Context(), f.store
	var ids []amber.MemoryID
	for _, w := range sampleMemories {
		w.Scope, w.Identities = amber.ScopeProject, amber.Identities{ProjectID: "shop", SessionID: f.session}
		w.SourceRefs = []amber.SourceRef{{Kind: "file", Value: "money/round.go"}}
		w.Metadata = map[string]string{"ticket": "SHOP-118"}
		ids = append(ids, must.Get(st.LongTerm.Write(ctx, w))(f.t).ID)
	}
	f.memory, f.other = ids[7], ids[4]
	must.Get(st.Relations.Relate(ctx, amber.Relation{From: ids[7], To: ids[1], Type: "related", Strength: 0.8}))(f.t)
	must.Get(st.Relations.Relate(ctx, amber.Relation{From: ids[3], To: ids[0], Type: "related", Strength: 0.6}))(f.t)
	must.Get(st.Relations.Relate(ctx, amber.Relation{From: ids[0], To: ids[7], Type: "related", Strength: 0.3}))(f.t)
	must.Do(f.t, st.Concepts.SetConcepts(ctx, f.memory, []string{"rounding"}))
	must.Do(f.t, st.LongTerm.Delete(ctx, ids[6]))
	must.Get(st.LongTerm.Write(ctx, amber.WriteRequest{Kind: amber.UserFact, Content: "Ada speaks German and Portuguese.", Trust: amber.TrustImported}))(f.t)
}
