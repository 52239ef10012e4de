package op

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// RequestApproval asks for an approval and keeps with it which token asked,
// whatever the request says of that. A caller who needs no token is the owner,
// whose word counts. Errors: those of [amber.Approvals].
func RequestApproval(ctx context.Context, c Caller, s amber.Approvals, r amber.ApprovalRequest) (amber.Approval, error) {
	if g := c.Grant; g.Token != "" {
		r.RequestedBy = string(g.Token)
	}
	return s.RequestApproval(ctx, r)
}

// DecideApproval decides an approval as the caller. A token decides under its
// own name, and who the decision says has decided is kept beside it as a claim.
// A caller who needs no token is the owner, whose word counts. Errors: refused
// for the token that asked; those of [amber.Approvals].
func DecideApproval(ctx context.Context, c Caller, s amber.Approvals, d amber.ApprovalDecision) (amber.Approval, error) {
	g := c.Grant
	if g.Token == "" {
		return s.DecideApproval(ctx, d)
	}
	d.ClaimedBy = cmp.Or(d.ClaimedBy, d.Actor)
	d.Actor = actorOf(g)
	if d.ClaimedBy == d.Actor {
		d.ClaimedBy = ""
	}
	d, err := d.Normalize()
	if err != nil {
		return amber.Approval{}, err
	}
	asked, err := s.Approval(ctx, d.ID) // who asked never changes
	if err != nil {
		return amber.Approval{}, err
	}
	if asked.RequestedBy == string(g.Token) {
		return amber.Approval{}, amber.Errorf(amber.KindRefused, "decide approval", d.ID, "the token that asked for the approval cannot decide it").
			WithHint("amber token create NAME --scope read,approve")
	}
	return s.DecideApproval(ctx, d)
}

// actorOf is the name of a token, or its id where the name is no identifier.
func actorOf(g wire.Grant) string {
	if amber.CheckID("actor", g.Name) != nil {
		return string(g.Token)
	}
	return g.Name
}
