package compat

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/op"
)

// Tools of Engram 1.20.0 that say which memories come first and which still hold.

type pinned struct {
	ID       amber.MemoryID `json:"id"`
	Pinned   bool           `json:"pinned"`
	Revision int64          `json:"revision"`
}

var (
	memPin = op.NewTool(op.Tool{
		Op: op.MemoryEdit.Row, Name: "mem_pin", Title: "Pin memory", Use: "Put a memory before newer ones in mem_context.", Hints: op.Again,
	}, pinMemory(true))
	memUnpin = op.NewTool(op.Tool{
		Op: op.MemoryEdit.Row, Name: "mem_unpin", Title: "Unpin memory", Use: "Let a memory take its turn by age again.", Hints: op.Again,
	}, pinMemory(false))
)

// pinMemory pins or unpins. That is metadata of the memory and a revision, so it travels with the memory.
func pinMemory(pin bool) func(context.Context, *op.Call, op.IDArgs) (pinned, string, error) {
	return func(ctx context.Context, c *op.Call, in op.IDArgs) (pinned, string, error) {
		m, err := memoryOf(ctx, c, in.ID)
		if err != nil {
			return pinned{}, "", err
		}
		c.Subject = in.ID
		if contextblock.Pinned(m) != pin {
			m, err = c.Store.Editor.Edit(ctx, withMetadata(m, contextblock.PinnedKey, map[bool]string{true: "true"}[pin]))
		}
		return pinned{m.ID, pin, m.Revision}, fmt.Sprintf("%s is %s.", m.ID, map[bool]string{true: "pinned", false: "not pinned"}[pin]), err
	}
}

// withMetadata is the edit that gives a memory a value, "" for none.
func withMetadata(m amber.Memory, key, value string) amber.EditRequest {
	next := maps.Clone(m.Metadata)
	if next == nil {
		next = map[string]string{}
	}
	delete(next, key)
	if value != "" {
		next[key] = value
	}
	return amber.EditRequest{ID: m.ID, IfRevision: m.Revision, Metadata: &next}
}

const (
	reviewList  = "list"
	reviewDone  = "mark_reviewed"
	reviewedKey = "reviewed" // metadata: when an agent said that the memory still holds

	stateWaits  = "waits_for_owner"
	stateReview = "needs_review"
	stateActive = "active"
)

// reviewMonths says how long memories of a kind hold unless something confirms them, as Engram has it for decisions, policies
// and preferences. Others hold.
var reviewMonths = []struct {
	kind   amber.MemoryKind
	months int
}{{amber.ProjectFact, 6}, {amber.Constraint, 12}, {amber.UserPreference, 3}}

type reviewArgs struct {
	Action        string `json:"action" need:"yes" enum:"list mark_reviewed"`
	Project       string `json:"project" doc:"default: current"`
	Limit         int    `json:"limit" doc:"default 10, at most 50" range:"1 50" default:"10"`
	ObservationID string `json:"observation_id"`
	ID            string `json:"id" doc:"same"`
}

// Needs says that a list changes nothing.
func (in reviewArgs) Needs() *op.Row {
	if in.Action == reviewList {
		return op.MemoryList.Row
	}
	return op.MemoryEdit.Row
}

// reviewed is a memory that waits for a review.
type reviewed struct {
	op.Brief
	State string `json:"state"`
}

// review is the answer to a list, or to a memory that was reviewed.
type review struct {
	ID           string     `json:"id,omitempty"`
	Observations []reviewed `json:"observations,omitzero" shows:"id title state"`
	Revision     int64      `json:"revision,omitempty"`
	State        string     `json:"state,omitempty"`
}

var memReview = op.NewTool(op.Tool{
	Op: op.MemoryEdit.Row, Name: "mem_review", Title: "Review memories", Shows: "observations id state revision",
	Use: "action=list: memories that nothing has confirmed for months, and those that wait for their owner. action=mark_reviewed: one still holds.",
}, func(ctx context.Context, c *op.Call, in reviewArgs) (review, string, error) {
	switch in.Action {
	case reviewList:
		return listReview(ctx, c, in)
	case reviewDone:
		return markReviewed(ctx, c, in)
	}
	return review{}, "", op.BadArgs("action is %q, want %s or %s", clip.Marked(in.Action, 40), reviewList, reviewDone)
})

func listReview(ctx context.Context, c *op.Call, in reviewArgs) (review, string, error) {
	_, ids := engramPlace(c.Host, "", in.Project, "")
	filter := amber.Filter{Identities: ids}
	out, lines := []reviewed{}, []string{}
	list := func(q amber.ListQuery, state string) error {
		q.Limit = in.Limit
		page, err := c.Store.Memories.List(ctx, q)
		for _, one := range op.BriefsOf(page.Items) {
			known := slices.ContainsFunc(out, func(r reviewed) bool { return r.ID == one.ID })
			if len(out) < in.Limit && !known {
				out, lines = append(out, reviewed{one, state}), append(lines, fmt.Sprintf("%s %s: %s", state, one.ID, one.Title))
			}
		}
		return err
	}
	rule, _ := c.Policy.Recall(amber.RecallInput{})
	if len(rule.Review.Trusts()) > 0 {
		if err := list(amber.ListQuery{Filter: filter, Waiting: cmp.Or(rule.Review, amber.ReviewAgents)}, stateWaits); err != nil {
			return review{}, "", err
		}
	}
	for _, due := range reviewMonths {
		filter.Kinds, filter.Until = []amber.MemoryKind{due.kind}, amber.At(c.House.Clock().AddDate(0, -due.months, 0))
		if err := list(amber.ListQuery{Filter: filter}, stateReview); err != nil {
			return review{}, "", err
		}
	}
	return review{Observations: out}, op.Lines(lines, "No memories need review."), nil
}

// markReviewed says that a memory still holds: it stores a revision, so the age of the memory begins anew. A memory
// that waits for its owner goes on waiting.
func markReviewed(ctx context.Context, c *op.Call, in reviewArgs) (review, string, error) {
	m, err := memoryOf(ctx, c, strings.TrimSpace(in.ObservationID+in.ID))
	if err != nil {
		return review{}, "", err
	}
	id := string(m.ID)
	c.Subject = id
	rule, _ := c.Policy.Recall(amber.RecallInput{})
	if rule.Review.Waits(m.Trust, m.Scope, m.Kind) {
		return review{}, "", amber.Errorf(amber.KindRefused, "mark reviewed", id, "the memory waits for its owner").
			WithHint("ask the owner: amber review keep " + id)
	}
	m, err = c.Store.Editor.Edit(ctx, withMetadata(m, reviewedKey, amber.At(c.House.Clock()).String()))
	return review{ID: id, Revision: m.Revision, State: stateActive}, fmt.Sprintf("%s still holds.", id), err
}
