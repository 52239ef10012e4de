package drain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/digest"
)

// kinds says what kind of memory an item becomes. Task and outcome are part of the
// whole digest only.
var kinds = map[digest.Kind]amber.MemoryKind{
	digest.Constraint: amber.Constraint, digest.Preference: amber.UserPreference, digest.Decision: amber.ProjectFact,
	digest.Cause: amber.HistoricalCase, digest.Command: amber.WorkflowInsight, digest.Unfinished: amber.SessionSummary,
}

// wholeDigest is a digest as one memory, the newest of its session.
func wholeDigest(d digest.Digest, label string) amber.WriteRequest {
	sum := sha256.Sum256([]byte(d.Host + "\x00" + string(d.Session)))
	r := amber.WriteRequest{
		Kind: amber.SessionSummary, Scope: scopeOf(d.Project), Identities: amber.Identities{SessionID: d.Session, ProjectID: d.Project},
		Title: clip.Bytes(clip.Printed(d.Title()), amber.MaxTitleBytes), Content: plain(d.Content()), Summary: plain(d.Summary()),
		Topic: "session " + hex.EncodeToString(sum[:16]), Tags: []string{"session"}, Metadata: map[string]string{"digest": label},
		SourceRefs: []amber.SourceRef{{Kind: "session", Value: string(d.Session)}},
		Trust:      amber.TrustDerived, Reason: amber.WriteCompactSummary,
	}
	r.IdempotencyKey = keyOf(r)
	return r
}

// itemMemory is an item as a memory.
func itemMemory(d digest.Digest, it digest.Item, label string) amber.WriteRequest {
	refs := []amber.SourceRef{{Kind: "session", Value: string(d.Session)}}
	for _, t := range it.Turns {
		refs = append(refs, amber.SourceRef{Kind: "turn", Value: string(t)})
	}
	return amber.WriteRequest{
		Kind: kinds[it.Kind], Scope: scopeOf(d.Project), Identities: amber.Identities{SessionID: d.Session, ProjectID: d.Project},
		Title: clip.Bytes(clip.Printed(it.Title()), amber.MaxTitleBytes), Content: plain(it.Text),
		Tags: []string{"digest", string(it.Kind)}, Metadata: map[string]string{"digest": label, "item": string(it.Kind)},
		SourceRefs: refs, Trust: amber.TrustDerived, Reason: amber.WriteObservation,
	}
}

// keyOf names a write: the same write of the same session is done once, whatever is
// repeated, and stays undone when the memory was deleted since.
func keyOf(r amber.WriteRequest) string {
	sum := sha256.Sum256([]byte("amber digest 1\x00" + string(r.SessionID) + "\x00" + r.Digest()))
	return hex.EncodeToString(sum[:])
}

// keepItems adds the items of a digest to a step. An item that is known from another
// session confirms that memory; one of this session that is stored already is left out.
func (w *Worker) keepItems(ctx context.Context, sub subject, d digest.Digest, label string, step *amber.IngestStep, report *Report) error {
	items := slices.DeleteFunc(slices.Clone(d.Items), func(it digest.Item) bool { return kinds[it.Kind] == "" })
	if len(items) == 0 {
		return nil // to look for known ones reads many memories
	}
	known, err := w.known(ctx, d)
	if err != nil {
		return err
	}
	for _, it := range items {
		req, old, keep := known.place(it, itemMemory(d, it, label))
		if !keep {
			continue
		}
		req.IdempotencyKey = keyOf(req)
		for _, r := range w.learns(amber.LessonDigest, sub.id, sub.event, []amber.WriteRequest{req}, report) {
			for _, id := range old {
				step.Links = append(step.Links, amber.IngestLink{Memory: len(step.Memories), To: id, Type: amber.Supersedes, Strength: 1})
			}
			step.Memories = append(step.Memories, r)
		}
	}
	return nil
}

// knownItem is a stored memory that an item may repeat or contradict.
type knownItem struct {
	amber.Memory
	text digest.Text
}

// knownItems are those of a project.
type knownItems []knownItem

// known returns the newest memories that items of a digest are compared with.
func (w *Worker) known(ctx context.Context, d digest.Digest) (knownItems, error) {
	if w.o.Memories == nil {
		return nil, nil
	}
	q := amber.ListQuery{Limit: amber.MaxPageSize, Filter: amber.Filter{
		Scope: scopeOf(d.Project), Identities: amber.Identities{SessionID: d.Session, ProjectID: d.Project},
	}}
	for _, k := range kinds {
		q.Kinds = append(q.Kinds, k)
	}
	slices.Sort(q.Kinds)
	var out knownItems
	for q.Limit > 0 {
		page, err := w.o.Memories.List(ctx, q)
		switch amber.KindOf(err) {
		case amber.KindUnsupported, amber.KindRefused:
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, m := range page.Items {
			if m.Topic == "" && len(m.Content) <= 4*digest.MaxItemBytes && m.Trust != amber.TrustImported {
				out = append(out, knownItem{m, digest.Parse(m.Content)})
			}
		}
		q.Limit -= len(page.Items)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return out, nil
}

// place says what becomes of an item: the write, and the memories whose place it
// takes; or nothing where this session has said it before.
func (k knownItems) place(it digest.Item, req amber.WriteRequest) (_ amber.WriteRequest, old []amber.MemoryID, keep bool) {
	text := digest.Parse(it.Text)
	var same *knownItem
	for i, m := range k {
		if !text.Same(m.text) {
			continue
		}
		if m.SessionID == req.SessionID || sameTurn(m.SourceRefs, req.SourceRefs) {
			return req, nil, false
		}
		if m.Kind == req.Kind && (same == nil || m.Origin.Clock > same.Origin.Clock) {
			same = &k[i]
		}
	}
	for _, m := range k {
		newer := same == nil || m.Origin.Clock > same.Origin.Clock
		if newer && digest.Revisable(it.Kind) && m.Kind == req.Kind && m.Trust == amber.TrustDerived && text.Contradicts(m.text) {
			old = append(old, m.ID)
		}
	}
	switch {
	case same == nil:
	case len(old) == 0:
		// The store counts it up: it has the same text, kind, scope and title.
		req.Title, req.Content, req.Tags, req.Metadata = same.Title, same.Content, nil, nil
	default:
		// It held once, something else held since, and now it holds again: a memory
		// of its own, since the old one is superseded.
		req.Title = clip.Bytes("Again: "+req.Title, amber.MaxTitleBytes)
	}
	return req, old, true
}

// sameTurn reports whether two memories come from one turn.
func sameTurn(a, b []amber.SourceRef) bool {
	return slices.ContainsFunc(a, func(r amber.SourceRef) bool { return r.Kind == "turn" && slices.Contains(b, r) })
}
