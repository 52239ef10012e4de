package contextblock

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// How much of what stands is told.
const (
	maxStanding    = 10 // decisions and constraints
	maxPreferences = 6
	maxMore        = 8
	itemBytes      = 420 // of one that rules found
	listPage       = 100
	listPages      = 3
)

// section is a part of what stands.
type section struct {
	heading string
	why     string
	kinds   []amber.MemoryKind
	most    int                     // under the heading
	least   amber.Trust             // of a memory in it
	derived func(amber.Memory) bool // which of those that rules found; nil for none
}

// takes reports whether a memory belongs to the section. A backend may not know how to list
// trusted memories alone.
func (s section) takes(m amber.Memory) bool {
	return !s.least.Outranks(m.Trust) && (m.Trust != amber.TrustDerived || s.derived != nil && s.derived(m))
}

// sections lists the standing memories in the order in which the block shows them. The owner's
// words come first and are listed alone: no amount of text from agents, or of what rules find in
// it, takes room from them.
var sections = []section{
	{headingStanding, whyConstraint, constraints, maxStanding, amber.TrustSigned, nil},
	{headingStanding, whyDecision, decisions, maxStanding, amber.TrustSigned, nil},
	{headingStanding, whyConstraint, constraints, maxStanding, amber.TrustDerived, every},
	{headingStanding, whyDecision, decisions, maxStanding, amber.TrustDerived, func(m amber.Memory) bool { return isItem(m, itemDecision) }},
	{headingPreferences, whyPreference, preferences, maxPreferences, amber.TrustSigned, nil},
	{headingPreferences, whyPreference, preferences, maxPreferences, amber.TrustDerived, every},
	{headingMore, "one of the newest memories", otherKinds(), maxMore, amber.TrustAgent, nil},
}

// Why a memory is told.
const (
	whyConstraint = "a standing constraint"
	whyDecision   = "a standing decision"
	whyPreference = "a preference of the user"
)

// The kinds of which something stands.
var (
	constraints = []amber.MemoryKind{amber.Constraint}
	decisions   = []amber.MemoryKind{amber.ProjectFact}
	preferences = []amber.MemoryKind{amber.UserPreference, amber.UserFact}
)

func every(amber.Memory) bool { return true }

// otherKinds are those of which nothing stands.
func otherKinds() []amber.MemoryKind {
	return slices.DeleteFunc(amber.MemoryKinds(), func(k amber.MemoryKind) bool {
		return k == amber.Constraint || k == amber.ProjectFact || k == amber.UserPreference || k == amber.UserFact
	})
}

func isItem(m amber.Memory, name string) bool {
	got, ok := itemName(amber.Hit{Layer: amber.LayerMemory, Title: m.Title})
	return ok && got == name
}

// standing adds what holds in the project, what the user prefers, the newest other memories, and
// the number of open conflicts.
func (b *builder) standing(ctx context.Context) error {
	told := map[string]int{}
	for _, s := range sections {
		if told[s.heading] >= s.most {
			continue
		}
		list, err := b.list(ctx, s.kinds, s.least, s.takes)
		if err != nil {
			return err
		}
		for _, m := range list {
			if told[s.heading] >= s.most {
				break
			}
			added, err := b.stand(ctx, s, m)
			if err != nil {
				return err
			}
			if added {
				told[s.heading]++
			}
		}
	}
	return b.conflicts(ctx)
}

// stand adds a memory unless it is known or another one has taken its place.
func (b *builder) stand(ctx context.Context, s section, m amber.Memory) (added bool, err error) {
	e := memoryEntry(s.heading, hitOf(m), s.why)
	if m.Trust == amber.TrustDerived {
		e.most = itemBytes
	}
	if b.isKnown(e.item) {
		return false, nil
	}
	if old, err := b.isSuperseded(ctx, m); err != nil || old {
		return false, err
	}
	b.page.add(e)
	return true, nil
}

// isSuperseded reports whether a memory was replaced by another one that is there and may replace it.
func (b *builder) isSuperseded(ctx context.Context, m amber.Memory) (bool, error) {
	relations, err := b.Relations.Related(ctx, m.ID)
	if isAbsent(err) || amber.KindOf(err) == amber.KindNotFound {
		return false, nil
	}
	for _, r := range relations {
		if r.To != m.ID || r.Type != amber.Supersedes {
			continue
		}
		from, err := b.Memories.Get(ctx, r.From)
		switch kind := amber.KindOf(err); {
		case isAbsent(err) || kind == amber.KindNotFound || kind == amber.KindDamaged:
			continue
		case err != nil:
			return false, err
		}
		if r.Silences(from, m) && !b.query.Review.Waits(from.Trust, from.Scope, from.Kind) {
			return true, nil
		}
	}
	return false, err
}

// list returns memories of some kinds, trusted so or more, that may be in the block and that takes wants, newest
// first.
func (b *builder) list(ctx context.Context, kinds []amber.MemoryKind, least amber.Trust, takes func(amber.Memory) bool) ([]amber.Memory, error) {
	q := amber.ListQuery{Filter: b.query.Filter, Trust: least, Limit: listPage}
	if q.Kinds = common(kinds, b.query.Kinds); len(q.Kinds) == 0 {
		return nil, nil
	}
	var out []amber.Memory
	for range listPages {
		page, err := b.Memories.List(ctx, q)
		if isAbsent(err) {
			return b.newest(ctx, q.Kinds, takes)
		}
		if err != nil {
			return nil, err
		}
		for _, m := range page.Items {
			if b.sees(m) && takes(m) {
				out = append(out, m)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return pinnedFirst(out), nil
}

// PinnedKey names the metadata of a pinned memory. Engram's are imported with it.
const PinnedKey = "pinned"

// Pinned reports whether a memory is to come before newer ones.
func Pinned(m amber.Memory) bool { return m.Metadata[PinnedKey] == "true" }

// maxPinned is how many pinned memories of a kind come before newer ones: an agent that pins everything hides nothing.
const maxPinned = 3

// pinnedFirst puts the first pinned memories before the others, which stay in order.
func pinnedFirst(list []amber.Memory) []amber.Memory {
	var first, rest []amber.Memory
	for _, m := range list {
		if Pinned(m) && len(first) < maxPinned {
			first = append(first, m)
			continue
		}
		rest = append(rest, m)
	}
	return append(first, rest...)
}

// newest is list for a store that does not list.
func (b *builder) newest(ctx context.Context, kinds []amber.MemoryKind, takes func(amber.Memory) bool) (out []amber.Memory, err error) {
	q := b.query
	q.Text, q.Kinds, q.Trusted, q.MinScore = "", kinds, true, 0
	found, err := b.LongTerm.Recall(ctx, q)
	for _, h := range found.Hits {
		m := amber.Memory{ID: h.ID, Title: h.Title, Content: h.Content, Kind: h.Kind, Scope: h.Scope, Trust: h.Trust, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt}
		if b.mayQuote(h) && takes(m) {
			out = append(out, m)
		}
	}
	return out, err
}

// common returns the kinds that are in both lists; without any wanted, all.
func common(kinds, wanted []amber.MemoryKind) (out []amber.MemoryKind) {
	if len(wanted) == 0 {
		return kinds
	}
	for _, k := range kinds {
		for _, w := range wanted {
			if k == w {
				out = append(out, k)
			}
		}
	}
	return out
}

func hitOf(m amber.Memory) amber.Hit {
	return amber.Hit{
		ID: m.ID, Layer: amber.LayerMemory, Owner: string(m.ID), SessionID: m.SessionID, ProjectID: m.ProjectID, Score: 1, Title: m.Title, Kind: m.Kind, Scope: m.Scope,
		Snippet: beginning(m.Content, 240), Content: m.Content, Trust: m.Trust, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}

// conflicts says in one line how many memories were changed at two places.
func (b *builder) conflicts(ctx context.Context) error {
	report, err := b.Sync.SyncReport(ctx, "")
	if isAbsent(err) || err == nil && report.ConflictCount == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	said := "1 memory has versions"
	if report.ConflictCount > 1 {
		said = fmt.Sprintf("%d memories have versions", report.ConflictCount)
	}
	said += " that contradict each other; amber sync status shows them"
	e := entry{heading: headingConflicts, label: "- ", body: said, item: itemOf(amber.LayerMemory, "conflicts", said, "conflicts of a sync are open")}
	if !b.isKnown(e.item) {
		b.page.add(e)
	}
	return nil
}
