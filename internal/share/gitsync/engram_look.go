package gitsync

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/wire"
)

// maxSamples bounds the titles that a look returns.
const maxSamples = 5

// Look is what an import of Engram's rows would store.
type Look struct {
	Memories, Sessions, Prompts, Relations wire.ImportCounts

	Bad     []amber.QuarantinedChunk // chunks and rows that would not be imported, and why
	Samples []string                 // titles of memories
	Secrets map[string]int           // secrets in what is new or changed, by rule: an import does not take them out
}

// Look returns what importing a folder or a backup of Engram would store, and writes nothing. A row that was deleted
// and is not here counts as known. Errors: unsupported for another format; those of the disk and the store.
func (s *Sync) Look(ctx context.Context) (Look, error) {
	l := &engramLook{
		s: s, Look: Look{Bad: []amber.QuarantinedChunk{}, Samples: []string{}, Secrets: map[string]int{}},
		fates: map[amber.SyncRef]fate{}, secrets: map[amber.SyncRef]*cleaner{},
	}
	if s.o.Format != wire.SyncEngram {
		return l.Look, amber.Errorf(amber.KindUnsupported, "look at folder", s.dir, "the format is %s, want engram", string(s.o.Format))
	}
	err := l.all(ctx)
	l.sum()
	return l.Look, err
}

// fate is what an import would do with a record.
type fate int

const (
	isKnown fate = iota
	isChanged
	isNew
)

// engramLook is a look on its way.
type engramLook struct {
	Look
	s       *Sync
	fates   map[amber.SyncRef]fate
	secrets map[amber.SyncRef]*cleaner
}

func (l *engramLook) all(ctx context.Context) error {
	if l.s.isBackup() {
		c, key, err := l.s.engramBackup()
		if err != nil {
			return err
		}
		return l.chunk(ctx, c, key, l.s.engramRead("", nil))
	}
	f, err := l.s.readEngram()
	if err != nil {
		return err
	}
	l.Bad = append(l.Bad, f.faults()...)
	names := &engramNames{s: l.s, entries: f.entries()}
	return l.s.eachEngram(ctx, names.entries, &l.Bad, func(p engramPart) (bad, err error) {
		c, err := engram.DecodeChunk(p.entry.ID, p.bytes)
		if err != nil {
			return verdict(err)
		}
		return nil, l.chunk(ctx, c, p.key, l.s.engramRead(p.entry.CreatedBy, names.named))
	})
}

// chunk looks at the rows of a chunk. All rows of a chunk that was applied are known.
func (l *engramLook) chunk(ctx context.Context, c engram.Chunk, key string, o engram.ReadOptions) error {
	applied, err := l.s.appliedEngram(ctx, key)
	if err != nil {
		return err
	}
	rows, dropped := engram.ToRecords(c, o)
	for _, why := range dropped {
		l.Bad = append(l.Bad, amber.QuarantinedChunk{ID: cmp.Or(c.ID, "backup"), Reason: why, Kind: amber.KindUnsupported})
	}
	rows = slices.DeleteFunc(rows, func(r engram.Row) bool { return !l.s.wants(r.Record.Ref().Scope) })
	for len(rows) > 0 {
		some := rows[:min(len(rows), lookups)]
		rows = rows[len(some):]
		if err := l.rows(ctx, some, applied); err != nil {
			return err
		}
	}
	return nil
}

func (l *engramLook) rows(ctx context.Context, rows []engram.Row, applied bool) error {
	kept := make([]bool, len(rows))
	refs := make([]amber.SyncRef, len(rows))
	for i := range rows {
		var err error
		if !applied {
			if kept[i], err = l.s.settle(ctx, &rows[i]); err != nil {
				return err
			}
		}
		refs[i] = rows[i].Record.Ref()
	}
	now, err := l.s.store.SyncRecords(ctx, refs)
	if err != nil {
		return err
	}
	for i, row := range rows {
		l.sample(row.Record)
		l.row(row.Record, now[i], kept[i])
		if kept[i] {
			l.count(row.Record)
		}
	}
	return nil
}

// row decides about a row: what is here is now, and keep tells that the row is not known by its link. A memory that is deleted
// behind its last text brings nothing where it is not here.
func (l *engramLook) row(r, now amber.SyncRecord, keep bool) {
	ref := r.Ref()
	here := now.Ref() != amber.SyncRef{}
	switch {
	case isGone(r) && (!here || isGone(now)):
		l.fates[ref] = isKnown
	case !keep:
		l.fates[ref] = max(l.fates[ref], isKnown)
	case !here:
		l.fates[ref] = isNew
	case isLater(r, now):
		l.fates[ref] = max(l.fates[ref], isChanged)
	default:
		l.fates[ref] = max(l.fates[ref], isKnown)
	}
}

func isGone(r amber.SyncRecord) bool {
	return r.Erased != nil || r.Gone != nil || r.Memory != nil && !r.Memory.DeletedAt.IsZero() || r.Relation != nil && !r.Relation.DeletedAt.IsZero()
}

// isLater reports whether a record wins over what is here.
func isLater(r, now amber.SyncRecord) bool {
	if r.Relation != nil && now.Relation != nil {
		one := *r.Relation
		outlast(&one, now.Relation)
		return one.Origin.After(now.Relation.Origin)
	}
	return r.Prompt == nil && r.Origin().After(now.Origin())
}

func (l *engramLook) sample(r amber.SyncRecord) {
	if r.Memory == nil || len(l.Samples) == maxSamples || !r.Memory.DeletedAt.IsZero() {
		return
	}
	line, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(r.Memory.Title, r.Memory.Content)), "\n")
	if text := "memory: " + clip.Name(line); !slices.Contains(l.Samples, text) {
		l.Samples = append(l.Samples, text)
	}
}

func (l *engramLook) sum() {
	for ref, fate := range l.fates {
		c := &l.Memories
		switch ref.Scope {
		case amber.ChangeSession:
			c = &l.Sessions
		case amber.ChangeTurn:
			c = &l.Prompts
		case amber.SyncRelation:
			c = &l.Relations
		}
		c.Read++
		if found := l.secrets[ref]; found != nil && fate != isKnown {
			found.addTo(l.Secrets)
		}
		switch fate {
		case isNew:
			c.New++
		case isChanged:
			c.Changed++
		default:
			c.Known++
		}
	}
}

// wants reports whether records of a scope are to be imported.
func (s *Sync) wants(scope amber.ChangeScope) bool {
	return len(s.o.Only) == 0 || slices.Contains(s.o.Only, scope)
}

// partKey names a part of a chunk, where a part is all that is imported.
func (s *Sync) partKey(key string) string {
	for _, scope := range slices.Sorted(slices.Values(s.o.Only)) {
		key += ":" + string(scope)
	}
	return key
}

// appliedEngram reports whether a chunk was applied, or the part of it that is imported.
func (s *Sync) appliedEngram(ctx context.Context, key string) (bool, error) {
	keys := []string{key, s.partKey(key)}
	applied, err := s.store.AppliedChunks(ctx, s.dir, keys)
	return applied[keys[0]] || applied[keys[1]], err
}
