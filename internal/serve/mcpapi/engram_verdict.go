package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// notConflict is the verdict that two memories have nothing to do with each other.
const notConflict = "not_conflict"

// verdicts are what one memory can be to another one, as Engram has it.
func verdicts() []string {
	return []string{"related", "compatible", "scoped", "conflicts_with", amber.Supersedes, notConflict}
}

// pendingVerdict is the type of a relation from Engram that was not judged.
const pendingVerdict = "pending"

// verdictTools are those of Engram 1.20.0 that say what two memories are to each other. A verdict is a relation.
func verdictTools() []*tool {
	relation := must(word("relation", verdicts()))
	confidence := of("number", "confidence", "0 to 1")
	judged := object(str("id"), str("from"), str("to"), str("relation"))
	return []*tool{
		define("mem_judge", "Judge memory conflict", "Say what a memory just saved is to one of the candidates that mem_save named. Ask the user before supersedes and conflicts_with.",
			writing, hints{again: true},
			object(must(str("judgment_id")), relation, str("reason", "not kept"), str("evidence", "not kept"), confidence, str("session_id", "not kept")),
			judged, judge),
		define("mem_compare", "Compare memories", "Store what memory a is to memory b; not_conflict stores nothing.",
			writing, hints{again: true},
			object(must(str("memory_id_a")), must(str("memory_id_b")), relation, must(confidence), must(str("reasoning", "not kept")), str("model", "not kept")),
			judged, compare),
	}
}

// maxCandidates is how many memories a save names that may contradict it.
const maxCandidates = 3

// candidate is a memory that may contradict the one that was saved.
type candidate struct {
	ID       amber.MemoryID `json:"id"`
	Title    string         `json:"title"`
	Score    float64        `json:"score"`
	Judgment string         `json:"judgment_id"`
}

// judgedSave is the answer to a save that names what it may contradict.
type judgedSave struct {
	saved
	Required   bool        `json:"judgment_required"`
	Candidates []candidate `json:"candidates,omitempty"`
}

// withCandidates adds the memories that may contradict one that was saved. Without an answer of recall there are none: the
// memory is saved.
func withCandidates(ctx context.Context, a *op.Call, r amber.WriteRequest, out answer) answer {
	was, ok := out.data.(saved)
	if !ok || was.Deduplicated || !a.Caller.MayRead() {
		return out
	}
	found, err := a.Store.LongTerm.Recall(ctx, amber.Query{
		Text: cmp.Or(r.Title, shown.OneLine(r.Content, titleBytes)), Filter: amber.Filter{Scope: r.Scope, Identities: r.Identities},
		MinScore: amber.AnswerScore, Limit: maxCandidates + 1, Layers: []amber.RecallLayer{amber.LayerMemory},
	})
	if err != nil {
		return out
	}
	next := judgedSave{saved: was}
	for _, h := range found.Hits {
		if h.ID != was.ID && len(next.Candidates) < maxCandidates {
			next.Candidates = append(next.Candidates, candidate{h.ID, shown.OneLine(h.Title, titleBytes), h.Score, string(was.ID) + ":" + string(h.ID)})
		}
	}
	next.Required = len(next.Candidates) > 0
	for _, c := range next.Candidates {
		out.text += fmt.Sprintf("\nmem_judge %s: what is it to %q?", c.Judgment, c.Title)
	}
	out.data = next
	return out
}

type judgeArgs struct {
	JudgmentID       string `json:"judgment_id"`
	Relation         string
	Confidence       *float64
	Reason, Evidence string
	SessionID        string `json:"session_id"`
}

// judge stores a verdict about a pair that mem_save named, or another one in the place of a relation.
func judge(ctx context.Context, b *bound, a *op.Call, in judgeArgs) (answer, error) {
	from, to, isPair := strings.Cut(in.JudgmentID, ":")
	if !isPair {
		r, err := a.Store.Relations.Relation(ctx, in.JudgmentID)
		if err != nil {
			return answer{}, err
		}
		from, to = string(r.From), string(r.To)
	}
	strength := 1.0
	if in.Confidence != nil {
		strength = *in.Confidence
	}
	return b.relate(ctx, a, from, to, in.Relation, strength)
}

type compareArgs struct {
	A                          string `json:"memory_id_a"`
	B                          string `json:"memory_id_b"`
	Relation, Reasoning, Model string
	Confidence                 float64
}

func compare(ctx context.Context, b *bound, a *op.Call, in compareArgs) (answer, error) {
	if in.Relation != notConflict {
		return b.relate(ctx, a, in.A, in.B, in.Relation, in.Confidence)
	}
	if _, _, err := pairOf(ctx, a, in.A, in.B); err != nil {
		return answer{}, err
	}
	return answer{text: "Nothing is stored: the memories have nothing to do with each other.", data: fields{"id": "", "from": in.A, "to": in.B, "relation": notConflict}}, nil
}

// pairOf reads two memories, which are not of two projects.
func pairOf(ctx context.Context, a *op.Call, one, other string) (from, to amber.Memory, err error) {
	if from, err = memoryOf(ctx, a, one); err != nil {
		return from, to, err
	}
	if to, err = memoryOf(ctx, a, other); err != nil {
		return from, to, err
	}
	if from.Scope == amber.ScopeProject && to.Scope == amber.ScopeProject && from.ProjectID != to.ProjectID {
		return from, to, badArgs("the memories belong to two projects, want two of one project")
	}
	return from, to, nil
}

// relate stores what one memory is to another one, in the place of what was said about the two before.
func (b *bound) relate(ctx context.Context, a *op.Call, one, other, verdict string, strength float64) (answer, error) {
	r, err := amber.Relation{From: amber.MemoryID(one), To: amber.MemoryID(other), Type: verdict, Strength: strength}.Normalize()
	if err == nil && !slices.Contains(verdicts(), verdict) {
		err = badArgs(fmt.Sprintf("relation is %q, want one of %s", shown.Clip(verdict, 40), strings.Join(verdicts(), ", ")))
	}
	if err != nil {
		return answer{}, err
	}
	from, to, err := pairOf(ctx, a, one, other)
	if err != nil {
		return answer{}, err
	}
	before, err := a.Store.Relations.Related(ctx, from.ID)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := b.Begun(ctx)
	defer cancel()
	var done []string
	for _, old := range before {
		if old.From != from.ID || old.To != to.ID || old.Type == verdict || old.Type != pendingVerdict && !slices.Contains(verdicts(), old.Type) {
			continue
		}
		if err := a.Store.Relations.Unrelate(ctx, old.ID); err != nil {
			return answer{done: done}, err
		}
		done = append(done, old.ID)
	}
	r.From, r.To = from.ID, to.ID
	r, err = a.Store.Relations.Relate(ctx, r)
	return answer{
		text: fmt.Sprintf("%s %s %s.", from.ID, verdict, to.ID), subject: r.ID, done: done,
		data: fields{"id": r.ID, "from": from.ID, "to": to.ID, "relation": verdict},
	}, err
}
