package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/internal/recall/block"
	"github.com/amber-memory/amber/op"
)

// curateTools are those of Engram 1.20.0 that say which memories come first and which still hold.
func curateTools() []*tool {
	pinned := object(str("id"), flag("pinned"), num("revision"))
	return []*tool{
		define("mem_pin", "Pin memory", "Put a memory before newer ones in mem_context.",
			writing, hints{again: true}, object(must(str("id"))), pinned, pinMemory(true)),
		define("mem_unpin", "Unpin memory", "Let a memory take its turn by age again.",
			writing, hints{again: true}, object(must(str("id"))), pinned, pinMemory(false)),
		define("mem_review", "Review memories", "action=list: memories that nothing has confirmed for months, and those that wait for their owner. action=mark_reviewed: one still holds.",
			writing, hints{}, object(must(word("action", []string{reviewList, reviewDone})), projectArg(), num("limit", "default 10, at most 50"), str("observation_id"), str("id", "same")),
			object(list("observations", object(str("id"), str("title"), str("state"))), str("id"), str("state"), num("revision")), reviewMemories),
	}
}

// pinMemory pins or unpins. That is metadata of the memory and a revision, so it travels with the memory.
func pinMemory(pin bool) func(context.Context, *bound, *op.Call, idArgs) (answer, error) {
	return func(ctx context.Context, _ *bound, a *op.Call, in idArgs) (answer, error) {
		m, err := memoryOf(ctx, a, in.ID)
		if err != nil {
			return answer{}, err
		}
		if block.Pinned(m) != pin {
			m, err = a.Store.Editor.Edit(ctx, withMetadata(m, block.PinnedKey, map[bool]string{true: "true"}[pin]))
		}
		return answer{
			text: fmt.Sprintf("%s is %s.", m.ID, map[bool]string{true: "pinned", false: "not pinned"}[pin]), subject: in.ID,
			data: fields{"id": m.ID, "pinned": pin, "revision": m.Revision},
		}, err
	}
}

// memoryOf reads a memory that a call names.
func memoryOf(ctx context.Context, a *op.Call, named string) (amber.Memory, error) {
	id, err := amber.ParseMemoryID(named)
	if err != nil {
		return amber.Memory{}, err
	}
	return a.Store.Memories.Get(ctx, id)
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
	Action, Project, ID string
	Limit               integer
	ObservationID       string `json:"observation_id"`
}

// need says that a list changes nothing.
func (in reviewArgs) need() need {
	if in.Action == reviewList {
		return reading
	}
	return writing
}

// reviewed is a memory that waits for a review.
type reviewed struct {
	brief
	State string `json:"state"`
}

func reviewMemories(ctx context.Context, b *bound, a *op.Call, in reviewArgs) (answer, error) {
	switch in.Action {
	case reviewList:
		return listReview(ctx, b, a, in)
	case reviewDone:
		return markReviewed(ctx, b, a, in)
	}
	return answer{}, badArgs(fmt.Sprintf("action is %q, want %s or %s", shown.Clip(in.Action, 40), reviewList, reviewDone))
}

func listReview(ctx context.Context, b *bound, a *op.Call, in reviewArgs) (answer, error) {
	limit, err := in.Limit.within("limit", 10, 1, 50)
	if err != nil {
		return answer{}, err
	}
	_, ids := b.engramPlace("", in.Project, "")
	filter := amber.Filter{Identities: ids}
	out, lines := []reviewed{}, []string{}
	list := func(q amber.ListQuery, state string) error {
		q.Limit = limit
		page, err := a.Store.Memories.List(ctx, q)
		for _, one := range briefsOf(page.Items) {
			known := slices.ContainsFunc(out, func(r reviewed) bool { return r.ID == one.ID })
			if len(out) < limit && !known {
				out, lines = append(out, reviewed{one, state}), append(lines, fmt.Sprintf("%s %s: %s", state, one.ID, one.Title))
			}
		}
		return err
	}
	rule, _ := a.Policy.Recall(amber.RecallInput{})
	if len(rule.Review.Trusts()) > 0 {
		if err := list(amber.ListQuery{Filter: filter, Waiting: cmp.Or(rule.Review, amber.ReviewAgents)}, stateWaits); err != nil {
			return answer{}, err
		}
	}
	for _, due := range reviewMonths {
		filter.Kinds, filter.Until = []amber.MemoryKind{due.kind}, amber.At(b.shared.Clock().AddDate(0, -due.months, 0))
		if err := list(amber.ListQuery{Filter: filter}, stateReview); err != nil {
			return answer{}, err
		}
	}
	return answer{text: listed(lines, "No memories need review."), data: fields{"observations": out}}, nil
}

// markReviewed says that a memory still holds: it stores a revision, so the age of the memory begins anew. A memory
// that waits for its owner goes on waiting.
func markReviewed(ctx context.Context, b *bound, a *op.Call, in reviewArgs) (answer, error) {
	m, err := memoryOf(ctx, a, strings.TrimSpace(in.ObservationID+in.ID))
	if err != nil {
		return answer{}, err
	}
	id := string(m.ID)
	rule, _ := a.Policy.Recall(amber.RecallInput{})
	if rule.Review.Waits(m.Trust, m.Scope, m.Kind) {
		return answer{subject: id}, amber.Errorf(amber.KindRefused, "mark reviewed", id, "the memory waits for its owner").
			WithHint("ask the owner: amber review keep " + id)
	}
	m, err = a.Store.Editor.Edit(ctx, withMetadata(m, reviewedKey, amber.At(b.shared.Clock()).String()))
	return answer{
		text: fmt.Sprintf("%s still holds.", id), subject: id,
		data: fields{"id": id, "state": stateActive, "revision": m.Revision},
	}, err
}
