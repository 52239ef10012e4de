package compat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// Tools of Engram 1.20.0 that say what two memories are to each other. A verdict is a relation.

// notConflict is the verdict that two memories have nothing to do with each other.
const notConflict = "not_conflict"

// verdicts are what one memory can be to another one, as Engram has it.
func verdicts() []string {
	return []string{"related", "compatible", "scoped", "conflicts_with", amber.Supersedes, notConflict}
}

// pendingVerdict is the type of a relation from Engram that was not judged.
const pendingVerdict = "pending"

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
	op.Saved
	Required   *bool       `json:"judgment_required,omitempty"`
	Candidates []candidate `json:"candidates,omitempty"`
}

// withCandidates adds the memories that may contradict one that was saved, and how to judge them. Without an answer of recall there are
// none: the memory is saved.
func withCandidates(ctx context.Context, c *op.Call, r amber.WriteRequest, was op.Saved) (out judgedSave, text string) {
	out.Saved = was
	if was.Deduplicated || !c.Caller.MayRead() {
		return out, ""
	}
	found, err := c.Store.LongTerm.Recall(ctx, amber.Query{
		Text: cmp.Or(r.Title, shown.OneLine(r.Content, op.TitleBytes)), Filter: amber.Filter{Scope: r.Scope, Identities: r.Identities},
		Reason: amber.RecallRequest, MinScore: amber.AnswerScore, Limit: maxCandidates + 1, Layers: []amber.RecallLayer{amber.LayerMemory},
	})
	if err != nil {
		return out, ""
	}
	for _, h := range found.Hits {
		if h.ID != was.ID && len(out.Candidates) < maxCandidates {
			one := candidate{h.ID, shown.OneLine(h.Title, op.TitleBytes), h.Score, string(was.ID) + ":" + string(h.ID)}
			out.Candidates = append(out.Candidates, one)
			text += fmt.Sprintf("\nmem_judge %s: what is it to %q?", one.Judgment, one.Title)
		}
	}
	out.Required = new(len(out.Candidates) > 0)
	return out, text
}

// verdict is the answer to what one memory is to another one.
type verdict struct {
	From     amber.MemoryID `json:"from"`
	ID       string         `json:"id"`
	Relation string         `json:"relation"`
	To       amber.MemoryID `json:"to"`
}

type judgeArgs struct {
	JudgmentID string   `json:"judgment_id" need:"yes"`
	Relation   string   `json:"relation" need:"yes" enum:"related compatible scoped conflicts_with supersedes not_conflict"`
	Reason     string   `json:"reason" doc:"not kept"`
	Evidence   string   `json:"evidence" doc:"not kept"`
	Confidence *float64 `json:"confidence" doc:"0 to 1"`
	SessionID  string   `json:"session_id" doc:"not kept"`
}

// memJudge stores a verdict about a pair that mem_save named, or another one in the place of a relation.
var memJudge = op.NewTool(op.Tool{
	Op: op.RelationRelate.Row, Name: "mem_judge", Title: "Judge memory conflict", Hints: op.Again, Shows: "id from to relation",
	Use: "Say what a memory just saved is to one of the candidates that mem_save named. Ask the user before supersedes and conflicts_with.",
}, func(ctx context.Context, c *op.Call, in judgeArgs) (verdict, string, error) {
	from, to, isPair := strings.Cut(in.JudgmentID, ":")
	if !isPair {
		r, err := c.Store.Relations.Relation(ctx, in.JudgmentID)
		if err != nil {
			return verdict{}, "", err
		}
		from, to = string(r.From), string(r.To)
	}
	strength := 1.0
	if in.Confidence != nil {
		strength = *in.Confidence
	}
	return relate(ctx, c, from, to, in.Relation, strength)
})

type compareArgs struct {
	A          string  `json:"memory_id_a" need:"yes"`
	B          string  `json:"memory_id_b" need:"yes"`
	Relation   string  `json:"relation" need:"yes" enum:"related compatible scoped conflicts_with supersedes not_conflict"`
	Confidence float64 `json:"confidence" doc:"0 to 1" need:"yes"`
	Reasoning  string  `json:"reasoning" doc:"not kept" need:"yes"`
	Model      string  `json:"model" doc:"not kept"`
}

var memCompare = op.NewTool(op.Tool{
	Op: op.RelationRelate.Row, Name: "mem_compare", Title: "Compare memories", Hints: op.Again, Shows: "id from to relation",
	Use: "Store what memory a is to memory b; not_conflict stores nothing.",
}, func(ctx context.Context, c *op.Call, in compareArgs) (verdict, string, error) {
	if in.Relation != notConflict {
		return relate(ctx, c, in.A, in.B, in.Relation, in.Confidence)
	}
	_, _, err := pairOf(ctx, c, in.A, in.B)
	return verdict{From: amber.MemoryID(in.A), To: amber.MemoryID(in.B), Relation: notConflict}, "Nothing is stored: the memories have nothing to do with each other.", err
})

// pairOf reads two memories, which are not of two projects.
func pairOf(ctx context.Context, c *op.Call, one, other string) (from, to amber.Memory, err error) {
	if from, err = memoryOf(ctx, c, one); err != nil {
		return from, to, err
	}
	if to, err = memoryOf(ctx, c, other); err != nil {
		return from, to, err
	}
	if from.Scope == amber.ScopeProject && to.Scope == amber.ScopeProject && from.ProjectID != to.ProjectID {
		return from, to, op.BadArgs("the memories belong to two projects, want two of one project")
	}
	return from, to, nil
}

// relate stores what one memory is to another one, in the place of what was said about the two before.
func relate(ctx context.Context, c *op.Call, one, other, is string, strength float64) (verdict, string, error) {
	r, err := amber.Relation{From: amber.MemoryID(one), To: amber.MemoryID(other), Type: is, Strength: strength}.Normalize()
	if err == nil && !slices.Contains(verdicts(), is) {
		err = op.BadArgs("relation is %q, want one of %s", clip.Marked(is, 40), strings.Join(verdicts(), ", "))
	}
	if err != nil {
		return verdict{}, "", err
	}
	from, to, err := pairOf(ctx, c, one, other)
	if err != nil {
		return verdict{}, "", err
	}
	before, err := c.Store.Relations.Related(ctx, from.ID)
	if err != nil {
		return verdict{}, "", err
	}
	ctx, cancel := c.Host.Begun(ctx)
	defer cancel()
	for _, old := range before {
		if old.From != from.ID || old.To != to.ID || old.Type == is || old.Type != pendingVerdict && !slices.Contains(verdicts(), old.Type) {
			continue
		}
		if err := c.Store.Relations.Unrelate(ctx, old.ID); err != nil {
			return verdict{}, "", err
		}
		c.Did = append(c.Did, old.ID)
	}
	r.From, r.To = from.ID, to.ID
	r, err = c.Store.Relations.Relate(ctx, r)
	c.Subject = r.ID
	return verdict{from.ID, r.ID, is, to.ID}, fmt.Sprintf("%s %s %s.", from.ID, is, to.ID), err
}
