package contextblock

import (
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Limits for the account of a session after a compaction.
const (
	soFarTurns  = 200
	soFarAsked  = 4
	soFarBytes  = 4000
	soFarAnswer = 900
)

// soFar adds what a session has established, for an agent whose host has dropped it.
func (b *builder) soFar(ctx context.Context) error {
	if b.r.SessionID == "" || !b.ofSessions() {
		return nil
	}
	turns, err := b.turns(ctx, b.r.SessionID, soFarTurns)
	if err != nil {
		return err
	}
	found, err := b.list(ctx, amber.MemoryKinds(), "", func(m amber.Memory) bool {
		return m.Trust == amber.TrustDerived && m.SessionID == b.r.SessionID
	})
	if err != nil {
		return err
	}
	a := &account{}
	asked, answer := askedAndAnswered(turns)
	a.say("asked", asked...)
	d := digestOf(found)
	for _, name := range []string{itemConstraint, itemPreference, itemDecision, itemCause, itemCommand, itemUnfinished} {
		a.say(name, d[name]...)
	}
	if err := b.tellDone(ctx, a, b.r.SessionID, false); err != nil {
		return err
	}
	if answer != "" {
		a.clauses = append(a.clauses, "last answer: "+beginning(answer, soFarAnswer))
	}
	if body := a.String(); body != "" {
		began, err := b.began(ctx, turns, found)
		if err != nil {
			return err
		}
		b.page.add(entry{
			heading: headingSoFar, label: "- " + day(began) + ", session", body: body, most: soFarBytes, tail: " [cut]",
			item: itemOf(amber.LayerSession, string(b.r.SessionID), body, "the session before its compaction"),
		})
	}
	return nil
}

// askedAndAnswered returns the first prompt and the last ones, and the last answer.
func askedAndAnswered(turns []amber.Turn) (asked []string, answer string) {
	for _, t := range turns {
		if t.Role != amber.RoleUser {
			answer = t.Content
		} else if specific(t.Content) > 0 {
			asked = append(asked, t.Content)
		}
	}
	if len(asked) > soFarAsked {
		asked = append(asked[:1:1], asked[len(asked)-soFarAsked+1:]...)
	}
	return slices.DeleteFunc(asked, func(s string) bool { return strings.TrimSpace(s) == "" }), answer
}

// began returns when the account of the session begins: with the first turn, else with the first
// memory that rules found, else with the start of the session.
func (b *builder) began(ctx context.Context, turns []amber.Turn, found []amber.Memory) (amber.Time, error) {
	switch {
	case len(turns) > 0:
		return turns[0].CreatedAt, nil
	case len(found) > 0:
		return found[len(found)-1].CreatedAt, nil
	}
	s, err := b.Sessions.Session(ctx, b.r.SessionID)
	if isAbsent(err) || amber.KindOf(err) == amber.KindNotFound {
		err = nil
	}
	return s.StartedAt, err
}
