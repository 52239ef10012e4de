package intake

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

func (c *cleaner) write(r amber.WriteRequest) amber.WriteRequest {
	c.identities(r.Identities)
	c.ids("idempotency key", r.IdempotencyKey)
	c.recorded(&r)
	r.Title, r.Summary, r.Topic = c.text(r.Title), c.text(r.Summary), c.text(r.Topic)
	r.Tags, r.Metadata, r.Author = c.texts(r.Tags), c.pairs(r.Metadata), c.author(r.Author)
	r.SourceRefs = slices.Clone(r.SourceRefs)
	for i, ref := range r.SourceRefs {
		r.SourceRefs[i].Kind, r.SourceRefs[i].Value = c.text(ref.Kind), c.text(ref.Value)
	}
	return r
}

// author cleans what a program says about itself.
func (c *cleaner) author(a amber.Author) amber.Author {
	return amber.Author{Host: c.text(a.Host), Agent: c.text(a.Agent), Session: amber.SessionID(c.text(string(a.Session))), Token: c.text(a.Token)}
}

// recorded cleans the content and what belongs to a memory that was stored before.
// Its digest stays the digest of the content; one that never was is left, so that
// the store refuses it.
func (c *cleaner) recorded(r *amber.WriteRequest) {
	clean := c.text(r.Content)
	if r.ContentDigest != "" && clean != r.Content && r.ContentDigest == amber.ContentDigest(r.Content) {
		r.ContentDigest = amber.ContentDigest(clean)
	}
	r.Content = clean
	if r.Origin.Device != "" {
		c.ids("device", r.Origin.Device)
	}
	r.Foreign = c.fields(r.Foreign)
}

type longTerm struct {
	amber.LongTerm
	inlet
}

// Write implements [amber.LongTerm].
func (l longTerm) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	c := l.cleaner()
	r = c.write(r)
	if err := c.done(ctx); err != nil {
		return amber.WriteAck{}, err
	}
	ack, err := l.LongTerm.Write(ctx, r)
	told(&ack, c)
	return ack, err
}

// told adds the secrets that were taken out to an answer, which a server may have added already.
func told(ack *amber.WriteAck, c *cleaner) {
	for rule, n := range c.report.Counts {
		if ack.Redacted == nil {
			ack.Redacted = map[string]int{}
		}
		ack.Redacted[rule] += n
	}
}

type batch struct {
	amber.BatchWriter
	inlet
}

// WriteBatch implements [amber.BatchWriter].
func (b batch) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	cleaners := make([]*cleaner, len(rs))
	clean := make([]amber.WriteRequest, len(rs))
	for i, r := range rs {
		cleaners[i] = b.cleaner()
		clean[i] = cleaners[i].write(r)
		if cleaners[i].err != nil {
			return nil, cleaners[i].err
		}
	}
	for _, c := range cleaners {
		_ = c.done(ctx) // it has no error
	}
	acks, err := b.BatchWriter.WriteBatch(ctx, clean)
	for i := range acks {
		told(&acks[i], cleaners[i])
	}
	return acks, err
}

type editor struct {
	amber.Editor
	inlet
}

// Edit implements [amber.Editor].
func (e editor) Edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	c := e.cleaner()
	r.Title, r.Content, r.Summary = c.change(r.Title), c.change(r.Content), c.change(r.Summary)
	r.Author = c.author(r.Author)
	if r.Tags != nil {
		r.Tags = new(c.texts(*r.Tags))
	}
	if r.Metadata != nil {
		r.Metadata = new(c.pairs(*r.Metadata))
	}
	return pass(ctx, c, r, e.Editor.Edit)
}

type relations struct {
	amber.Relations
	inlet
}

// Relate implements [amber.Relations].
func (r relations) Relate(ctx context.Context, rel amber.Relation) (amber.Relation, error) {
	c := r.cleaner()
	c.ids("relation type", rel.Type)
	rel.Author = c.author(rel.Author)
	return pass(ctx, c, rel, r.Relations.Relate)
}

// A contract that has a method of its own name is embedded under another.
type (
	conceptKeeper    = amber.Concepts
	compactionKeeper = amber.Compactions
)

type concepts struct {
	conceptKeeper
	inlet
}

// SetConcepts implements [amber.Concepts].
func (s concepts) SetConcepts(ctx context.Context, id amber.MemoryID, tags []string) error {
	c := s.cleaner()
	tags = c.texts(tags)
	if err := c.done(ctx); err != nil {
		return err
	}
	return s.conceptKeeper.SetConcepts(ctx, id, tags)
}

type compactions struct {
	compactionKeeper
	inlet
}

func (c *cleaner) compaction(in amber.Compaction) amber.Compaction {
	c.ids("compaction id", in.ID, "session id", string(in.SessionID))
	in.Summary = c.text(in.Summary)
	return in
}

// AddCompaction implements [amber.Compactions].
func (s compactions) AddCompaction(ctx context.Context, in amber.Compaction) (amber.Compaction, error) {
	c := s.cleaner()
	in = c.compaction(in)
	return pass(ctx, c, in, s.compactionKeeper.AddCompaction)
}
