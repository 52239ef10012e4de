package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// TestTheTokenThatAsksDoesNotDecide: to decide takes a scope of its own, and
// another token than the one that asked, whatever scopes that has.
func TestTheTokenThatAsksDoesNotDecide(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	token := func(scopes ...wire.TokenScope) (secret string, id wire.TokenID) {
		return d.token(r.clock.Read(), "acme", "ada", 0, scopes...)
	}
	writer, asker := token(wire.TokenRead, wire.TokenWrite)
	both, _ := token(wire.TokenRead, wire.TokenWrite, wire.TokenApprove)
	admin, _ := token(wire.TokenAdmin)
	approver, _ := token(wire.TokenApprove)
	request := func(secret, id, more string) reply {
		return r.ask(call{method: "POST", path: "approvals", token: secret, body: `{"id":"` + id + `","task_id":"t","node_id":"n","summary":"may I","payload":{}` + more + `}`})
	}
	decide := func(secret, id, actor string) reply {
		return r.ask(call{method: "POST", path: "approvals/" + id + "/decision", token: secret, body: `{"outcome":"approved"` + actor + `}`})
	}
	if got := request(writer, "a", `,"requested_by":"somebody"`).want(http.StatusCreated).text("requested_by"); got != string(asker) {
		t.Errorf("it was asked by %q, want %q", got, asker)
	}
	decide(writer, "a", `,"actor":"the-boss"`).failed(amber.KindRefused)
	request(both, "b", "").want(http.StatusCreated)
	for _, actor := range []string{"", `,"actor":"the-boss"`, `,"actor":"x","claimed_by":"the-boss"`} {
		decide(both, "b", actor).failed(amber.KindRefused)
	}
	request(admin, "c", "").want(http.StatusCreated)
	decide(admin, "c", `,"actor":"the-boss"`).failed(amber.KindRefused)
	request(both, "a", "").want(http.StatusCreated) // asking again makes nobody the asker
	for _, id := range []string{"a", "b", "c"} {
		a, err := r.store("acme/ada").Approvals.Approval(context.Background(), id)
		if err != nil || a.Status != amber.ApprovalPending {
			t.Errorf("%s is %s, %v", id, a.Status, err)
		}
	}
	decide(both, "a", `,"actor":"the-boss"`).want(http.StatusOK)
	decide(approver, "b", "").want(http.StatusOK)
	for id, want := range map[string][2]string{"a": {"test", "the-boss"}, "b": {"test", ""}} {
		a, err := r.store("acme/ada").Approvals.Approval(context.Background(), id)
		if err != nil || a.Status != amber.ApprovalApproved || a.DecidedBy != want[0] || a.ClaimedBy != want[1] {
			t.Errorf("%s is %s by %q, claimed by %q, %v, want %q", id, a.Status, a.DecidedBy, a.ClaimedBy, err, want)
		}
	}
}
