package gitsync

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/wire"
)

// importEngram imports the chunks that the manifest lists, then those that lie
// beside it; or a backup, where the folder is a file.
func (s *Sync) importEngram(ctx context.Context, only func(string) bool, report *wire.SyncImport) error {
	if s.isBackup() {
		c, key, err := s.engramBackup()
		if err != nil {
			return err
		}
		_, bad, err := s.applyEngram(ctx, c, key, engram.Entry{}, nil, report)
		return cmp.Or(bad, err)
	}
	f, err := s.readEngram()
	if err != nil {
		return err
	}
	report.Quarantined = append(report.Quarantined, f.faults()...)
	entries := f.entries()
	if only != nil {
		entries = filter(entries, func(e engram.Entry) bool { return only(path.Join(chunksDir, engram.FileName(e.ID))) })
	}
	names := &engramNames{s: s, entries: entries}
	// Chunks that were applied before may have more to bring now.
	for again, tries := true, 0; again && tries < maxTries; tries++ {
		skipped, bad := report.Skipped, report.Quarantined
		again = false
		err := s.eachEngram(ctx, entries, &report.Quarantined, func(p engramPart) (bad, err error) {
			reopened, bad, err := s.importPart(ctx, p, names, report)
			again = again || reopened
			return bad, err
		})
		if err != nil {
			return err
		}
		if tries > 0 {
			report.Skipped, report.Quarantined = skipped, bad // they were counted
		}
	}
	if only != nil || len(s.o.Only) > 0 {
		return nil
	}
	return s.setQuarantine(ctx, report.Quarantined)
}

// engramPart is a chunk of a folder of Engram before it is decoded.
type engramPart struct {
	entry engram.Entry
	bytes []byte
	key   string // see engramKey
}

// eachEngram calls fn with every chunk, and adds to bad what is wrong with one: that it cannot be read, or what fn says of
// it. The error is about anything else.
func (s *Sync) eachEngram(
	ctx context.Context, entries []engram.Entry, bad *[]amber.QuarantinedChunk, fn func(engramPart) (bad, err error),
) error {
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, key, err := s.engramBytes(e.ID)
		wrong, err := verdict(err)
		if wrong == nil && err == nil {
			wrong, err = fn(engramPart{e, b, key})
		}
		if err != nil {
			return err
		}
		if wrong != nil {
			*bad = append(*bad, quarantined(clip.Name(e.ID), wrong))
		}
	}
	return nil
}

// importPart imports one chunk unless these bytes were applied before. Bad says
// what is wrong with the chunk; err is about anything else.
func (s *Sync) importPart(ctx context.Context, p engramPart, names *engramNames, report *wire.SyncImport) (again bool, bad, err error) {
	applied, err := s.appliedEngram(ctx, p.key)
	if applied {
		report.Skipped++
	}
	if applied || err != nil {
		return false, nil, err
	}
	c, err := engram.DecodeChunk(p.entry.ID, p.bytes)
	if err != nil {
		bad, err = verdict(err)
		return false, bad, err
	}
	return s.applyEngram(ctx, c, p.key, p.entry, names.named, report)
}

// verdict tells an error about a chunk from any other.
func verdict(err error) (bad, other error) {
	if isVerdict(err) {
		return err, nil
	}
	return nil, err
}

// isBackup reports whether the folder is a file, which is one of engram export.
func (s *Sync) isBackup() bool {
	info, err := s.fs.Lstat(s.dir)
	return err == nil && info.Mode().IsRegular()
}

// engramBackup reads the file of engram export.
func (s *Sync) engramBackup() (c engram.Chunk, key string, err error) {
	b, err := fsx.ReadFile(s.fs, s.dir, engram.MaxTextBytes)
	if err != nil {
		return c, "", fail("read backup", s.dir, err)
	}
	if c, err = engram.DecodeBackup(b); err != nil {
		return c, "", &amber.Error{Op: "read backup", Kind: amber.KindOf(err), ID: s.dir, Err: err}
	}
	return c, engramKey("backup", b), nil
}

// applyEngram applies the rows of a chunk. It names rows that Amber has no room for in the report, and applies the
// others. An error of the store is about the chunk only when its kind is invalid.
func (s *Sync) applyEngram(
	ctx context.Context, c engram.Chunk, key string, e engram.Entry, named func(string) (amber.Memory, bool), report *wire.SyncImport,
) (again bool, bad, err error) {
	trust, _, err := s.trust(ctx, nil) // Engram signs nothing
	if err != nil {
		bad, err = verdict(err)
		return false, bad, err
	}
	rows, dropped := engram.ToRecords(c, s.engramRead(e.CreatedBy, named))
	in := amber.Incoming{Place: s.dir, Chunk: s.partKey(key), Device: engramTool, CreatedBy: createdBy(e), Trust: trust}
	in.At, _ = amber.ParseTime(e.CreatedAt) // what cannot be read is not known
	var exact []bool                        // of the records
	observations := 0
	moved := map[amber.MemoryID]amber.MemoryID{} // memories that are known under another name
	for _, row := range rows {
		was := row.Record.Ref()
		if !s.wants(was.Scope) {
			continue
		}
		keep, err := s.settle(ctx, &row)
		if err != nil {
			return false, nil, err
		}
		if is := row.Link.Ref; row.Record.Memory != nil && is.Scope == was.Scope && is.ID != was.ID {
			moved[amber.MemoryID(was.ID)] = amber.MemoryID(is.ID)
		}
		if row.Record.Relation != nil {
			if err := relate(row.Record.Relation, moved); err != nil {
				dropped = append(dropped, "relation: "+reasonOf(err))
				continue
			}
		}
		if keep {
			in.Records, exact = append(in.Records, row.Record), append(exact, row.Exact)
		}
		if row.Link.Tool != "" {
			if row.Link.Ref.Scope == amber.ChangeMemory {
				observations++
			}
			row.Link.Chunk = cmp.Or(row.Link.Chunk, key)
			in.Links = append(in.Links, row.Link)
		}
	}
	if err := s.follow(ctx, in.Records, exact); err != nil {
		return false, nil, err
	}
	done, err := s.store.Apply(ctx, in)
	if amber.KindOf(err) == amber.KindInvalid {
		return false, err, nil
	}
	if err != nil {
		return false, nil, err
	}
	// A row that was deleted is two versions, and one row.
	done.Memories = min(done.Memories, observations)
	add(report, done)
	for _, why := range dropped {
		report.Quarantined = append(report.Quarantined, amber.QuarantinedChunk{ID: cmp.Or(c.ID, "backup"), Reason: why, Kind: amber.KindUnsupported})
	}
	return done.Again, nil, nil
}

// engramRead says how rows of the folder are read.
func (s *Sync) engramRead(user string, named func(string) (amber.Memory, bool)) engram.ReadOptions {
	return engram.ReadOptions{User: user, Project: engram.Project(s.o.Project), Named: named}
}

// follow lets rows that came later have seen what came before, as far as the
// folder has it: Engram edits and deletes a row in place, and says nothing about
// it. Otherwise every edit would be a conflict. What Amber wrote says what it has
// seen.
func (s *Sync) follow(ctx context.Context, all []amber.SyncRecord, exact []bool) error {
	var records []amber.SyncRecord
	for i, r := range all {
		if !exact[i] && (r.Memory != nil || r.Relation != nil) {
			records = append(records, r)
		}
	}
	for len(records) > 0 {
		some := records[:min(len(records), lookups)]
		records = records[len(some):]
		refs := make([]amber.SyncRef, len(some))
		for i, r := range some {
			refs[i] = r.Ref()
		}
		now, err := s.store.SyncRecords(ctx, refs)
		if err != nil {
			return err
		}
		marks := make([]amber.SyncMark, len(some))
		for i := range some {
			marks[i] = now[i].Mark()
		}
		held, err := s.store.Held(ctx, s.dir, marks)
		if err != nil {
			return err
		}
		for i, r := range some {
			if r.Relation != nil {
				outlast(r.Relation, now[i].Relation)
			}
			before := now[i].Memory
			if r.Memory != nil && len(r.Memory.Saw) == 0 && before != nil && held[i] && r.Origin().After(before.Origin) {
				r.Memory.Saw = []amber.Origin{before.Origin}
			}
		}
	}
	return nil
}

// relate points a relation to the memories that its ends are known as here.
func relate(r *amber.Relation, moved map[amber.MemoryID]amber.MemoryID) error {
	if to, ok := moved[r.From]; ok {
		r.From = to
	}
	if to, ok := moved[r.To]; ok {
		r.To = to
	}
	return amber.SyncRecord{Relation: r}.Check()
}

// outlast lets a verdict that Engram reached later win over what was said here
// before: Engram counts no verdicts.
func outlast(r, before *amber.Relation) {
	if before == nil || r.Origin.After(before.Origin) || !before.Origin.Clock.Time().Before(r.Origin.Clock.Time()) || r.Type == pendingType {
		return
	}
	r.Origin.Counter = before.Origin.Counter + 1
}

// pendingType is a relation that no person or agent has judged yet; it never wins over a verdict.
const pendingType = "pending"

func createdBy(e engram.Entry) string {
	if amber.CheckID("created-by", e.CreatedBy) != nil {
		return "unknown"
	}
	return e.CreatedBy
}

// settle looks whether the row is one that is known under another name: a
// memory of ours that Engram took in, numbered anew and gave back. Such a row
// brings nothing but that it was deleted.
func (s *Sync) settle(ctx context.Context, row *engram.Row) (keep bool, err error) {
	if row.Link.Fingerprint == "" || row.Exact {
		return true, nil
	}
	links, err := s.store.Links(ctx, amber.LinkQuery{Tool: engramTool, Fingerprint: row.Link.Fingerprint})
	if err != nil || len(links) == 0 {
		return true, err
	}
	known := links[len(links)-1]
	if known.Ref.Scope != row.Link.Ref.Scope {
		return true, nil
	}
	same := known.Ref == row.Link.Ref
	row.Link.Ref, row.Link.Version = known.Ref, known.Version
	m := row.Record.Memory
	if m == nil || m.DeletedAt.IsZero() {
		return false, nil
	}
	if same {
		return true, nil
	}
	gone := *m
	gone.ID, gone.Saw = amber.MemoryID(known.Ref.ID), []amber.Origin{known.Version}
	gone.Origin.Counter = known.Version.Counter + 1
	gone.Origin.Clock = max(gone.Origin.Clock, known.Version.Clock+1)
	row.Record = amber.SyncRecord{Memory: &gone}
	return true, nil
}

// engramBytes reads a chunk file. Key names these very bytes: ids of 32 bits
// are not names.
func (s *Sync) engramBytes(id string) (b []byte, key string, err error) {
	if !engram.ValidID(id) {
		return nil, "", amber.Errorf(amber.KindInvalid, "read chunk", clip.Name(id), "want the id of a chunk")
	}
	b, err = fsx.ReadFile(s.fs, filepath.Join(s.chunks(), engram.FileName(id)), engram.MaxFileBytes)
	if err != nil {
		return nil, "", fail("read chunk", id, err)
	}
	return b, engramKey(id, b), nil
}

// engramStatus tells how the store and a folder of Engram stand to each other.
func (s *Sync) engramStatus(ctx context.Context, st *wire.SyncStatus) error {
	v := &wire.SyncVerify{Damaged: []amber.QuarantinedChunk{}}
	err := s.lookEngram(ctx, v, func(_ engram.Chunk, key string) error {
		applied, err := s.store.AppliedChunks(ctx, s.dir, []string{key})
		if applied[key] {
			st.Local++
		} else {
			st.PendingImport++
		}
		return err
	})
	st.Summary, st.Quarantined, st.Remote = v.Summary, v.Damaged, v.Summary.Chunks
	for _, q := range v.Damaged {
		if q.Kind == amber.KindDamaged {
			st.Damaged++
		}
		if q.Kind == amber.KindNotFound {
			st.Missing = append(st.Missing, q.ID)
		}
	}
	return err
}

// verifyEngram reads every chunk and imports nothing.
func (s *Sync) verifyEngram(ctx context.Context, v *wire.SyncVerify) error {
	rows := 0
	err := s.lookEngram(ctx, v, func(c engram.Chunk, _ string) error {
		some, dropped := engram.ToRecords(c, s.engramRead("", nil))
		rows += len(some)
		for _, why := range dropped {
			v.Damaged = append(v.Damaged, amber.QuarantinedChunk{ID: c.ID, Reason: why, Kind: amber.KindUnsupported})
		}
		v.Unsigned++
		return nil
	})
	for _, q := range v.Damaged {
		if q.Kind == amber.KindNotFound {
			v.Missing = append(v.Missing, q.ID)
		}
	}
	v.Checked = append(v.Checked,
		fmt.Sprintf("%d chunks: checksum and length of gzip, the first 32 bits of the SHA-256 of the text", v.Summary.Chunks),
		fmt.Sprintf("%d rows: that they fit the limits of Amber", rows), "that every chunk in the manifest is there, and every chunk is in the manifest")
	v.NotChecked = append(v.NotChecked, "who wrote what: the format has no signatures",
		"that a chunk is the one that was exported: two different ones may have the same id")
	return err
}

// lookEngram calls fn with every whole chunk, and gathers what is wrong with
// the others.
func (s *Sync) lookEngram(ctx context.Context, v *wire.SyncVerify, fn func(c engram.Chunk, key string) error) error {
	f, err := s.readEngram()
	if err != nil {
		return err
	}
	if f.broken != nil {
		v.Damaged = append(v.Damaged, quarantined(manifestFile, f.broken))
	}
	v.Damaged = append(v.Damaged, f.faults()...)
	for _, id := range f.strays {
		v.Damaged = append(v.Damaged, amber.QuarantinedChunk{ID: id, Reason: "the chunk is not in the manifest", Kind: amber.KindInvalid})
	}
	var who authors
	err = s.eachEngram(ctx, f.manifest.Chunks, &v.Damaged, func(p engramPart) (bad, err error) {
		v.Summary.Bytes += int64(len(p.bytes))
		c, err := engram.DecodeChunk(p.entry.ID, p.bytes)
		if err != nil {
			return verdict(err)
		}
		at, _ := amber.ParseTime(p.entry.CreatedAt)
		who.add(createdBy(p.entry), len(c.Sessions)+len(c.Observations)+len(c.Prompts)+len(c.Mutations), at)
		count(&v.Summary, c)
		return nil, fn(c, p.key)
	})
	v.Summary.Files = v.Summary.Chunks
	v.Summary.Authors, v.Summary.First, v.Summary.Last = who.list()
	return err
}

func count(sum *wire.SyncSummary, c engram.Chunk) {
	sum.Chunks++
	sum.Sessions += int64(len(c.Sessions))
	sum.Memories += int64(len(c.Observations))
	sum.Prompts += int64(len(c.Prompts))
	relations, gone := engram.CountMutations(c)
	sum.Relations += int64(relations)
	sum.Deleted += int64(gone)
}
