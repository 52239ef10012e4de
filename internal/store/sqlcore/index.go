package sqlcore

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// COMMIT ends the savepoint: a statement of its own would be one more round trip.
const (
	beginIndex = "SAVEPOINT words"
	undoIndex  = "ROLLBACK TO words"
)

// Indexer brings the index in line with what transactions have written.
type Indexer struct {
	brought atomic.Int64 // owners that came into the index
}

// Finish is called once in every write transaction, right before it commits, on
// behalf of all callers together: what they have written comes into the index.
// Where that fails, nothing of it stays, and what was written waits for the next write or
// for SyncIndex: an index stops no write. The error is an error of all, and means that the
// transaction is lost or that the one caller there is has given up. A nil Indexer does
// nothing: there is no index.
func (x *Indexer) Finish(t *Tx) error {
	if x == nil || t.Late {
		return nil
	}
	if t.together {
		return x.finishTogether(t)
	}
	if err := t.Do(beginIndex); err != nil {
		return err
	}
	done, cause := t.IndexDirty(sqlrows.Indexing{Most: indexMost})
	if cause == nil {
		cause = t.Conn.Flush(t.Ctx)
	}
	x.brought.Add(int64(done))
	if cause != nil {
		if err := t.Ctx.Err(); err != nil {
			return err
		}
		if _, err := t.Exec(undoIndex); err != nil {
			return whyLost(cause, err)
		}
	}
	return nil
}

// finishTogether is Finish without a savepoint: callers that find the index in the way do their work again, alone.
func (x *Indexer) finishTogether(t *Tx) error {
	done, cause := t.IndexDirty(sqlrows.Indexing{Most: indexMost})
	x.brought.Add(int64(done))
	if cause == nil {
		return nil
	}
	if err := t.Ctx.Err(); err != nil {
		return err
	}
	return ErrSpoiled
}

// indexMost bounds what one write brings into the index, where an older file or a restore has
// left a lot.
const indexMost = 20_000

// indexBatch is how many records one transaction brings into the index of an older file.
const indexBatch = 512

// CatchUp brings everything into the index that a migration or a restore has left to do.
func (s *Contracts) CatchUp(ctx context.Context) error {
	waiting, err := view(ctx, s.memory, "read index", "", func(t *Tx) (n int64, err error) {
		n, _, err = t.Waiting(nil, 1)
		return n, err
	})
	if err != nil || waiting == 0 {
		return err
	}
	return s.indexRest(ctx)
}

// indexRest brings everything into the index that is not in it yet, a batch at a time: what
// is killed goes on where it was.
func (s *Contracts) indexRest(ctx context.Context) error {
	for {
		n, err := s.IndexSome(ctx, indexBatch)
		if err != nil || n == 0 {
			return err
		}
	}
}

// IndexSome brings at most n records into the index.
func (s *Contracts) IndexSome(ctx context.Context, n int) (done int, err error) {
	err = s.memory.UpdateAlone(ctx, "index", s.memory.Name(), func(t *Tx) (err error) {
		t.Late, t.Unasked = true, true
		done, err = t.IndexDirty(sqlrows.Indexing{Most: n})
		return err
	})
	return done, err
}

// IndexStatus says how far the index is.
type IndexStatus struct {
	Passages int64  `json:"passages"`
	Segments int64  `json:"segments"`
	Tail     int64  `json:"tail"` // passages that are in no segment yet
	Waiting  int64  `json:"waiting"`
	Model    string `json:"model,omitempty"`
	Vectors  int64  `json:"vectors"`
	Pending  int64  `json:"pending"` // passages whose vector is not made yet
}

// modelNames names each model that makes vectors.
func (s *Contracts) modelNames() (names []string) {
	for _, m := range search.Each(s.o.Model) {
		names = append(names, m.Name())
	}
	return names
}

// nameOf names what makes vectors; "" where nothing does.
func nameOf(m search.Model) string {
	if m == nil {
		return ""
	}
	return m.Name()
}

// IndexStatus says how far the index is.
func (s *Contracts) IndexStatus(ctx context.Context) (IndexStatus, error) {
	return view(ctx, s.memory, "read index", "", func(t *Tx) (IndexStatus, error) {
		c, err := t.CountIndex(s.modelNames())
		return IndexStatus{
			Passages: c.Passages, Segments: c.Segments, Tail: c.Tail, Waiting: c.Waiting, Model: nameOf(s.o.Model), Vectors: c.Vectors, Pending: c.Pending,
		}, err
	})
}

// IndexBacklog is IndexStatus without what only reading all of the index tells: segments,
// tail and vectors are 0.
func (s *Contracts) IndexBacklog(ctx context.Context) (IndexStatus, error) {
	return view(ctx, s.memory, "read index", "", func(t *Tx) (IndexStatus, error) {
		c, err := t.CountBacklog(s.modelNames())
		return IndexStatus{Passages: c.Passages, Waiting: c.Waiting, Model: nameOf(s.o.Model), Pending: c.Pending}, err
	})
}

// syncBatch is how many vectors one transaction stores at most. The first stores one, and
// each twice as many as the one before: little time is enough to get something done.
const syncBatch = 64

// SyncIndex brings everything into the index that is not in it yet, merges where merging has fallen
// behind, and makes vectors until ctx ends or all are there. Progress, if it is not nil, receives
// how many were made. Pause, if it is not nil, is called before each vector that is made in this
// process, and they are made one by one then, so that others can go first. If SyncIndex is killed,
// the vectors made so far stay. Vectors of another model are removed when the new ones are whole.
func (s *Contracts) SyncIndex(ctx context.Context, progress func(made int), pause func()) error {
	if progress == nil {
		progress = func(int) {}
	}
	if err := s.indexRest(ctx); err != nil {
		return err
	}
	if err := s.tidyIndex(ctx); err != nil || s.o.Model == nil {
		return err
	}
	for _, m := range search.Each(s.o.Model) {
		n := 1
		for done := false; !done; n = min(2*n, syncBatch) {
			var made int
			var err error
			if made, done, err = s.syncVectors(ctx, m, n, pause); err != nil {
				return err
			}
			if made > 0 {
				progress(made)
			}
		}
	}
	return s.memory.UpdateAlone(ctx, "index", "", func(t *Tx) error {
		t.Unasked = true
		_, err := t.DropOtherModels(s.modelNames())
		return err
	})
}

// tidyStep is how many rows of merging one transaction does.
const tidyStep = 4096

// tidyIndex merges segments where there are too many, and makes one of what waits for that, a
// step at a time. A damaged index is left as it is.
func (s *Contracts) tidyIndex(ctx context.Context) error {
	for {
		untidy, err := view(ctx, s.memory, "read index", "", func(t *Tx) (bool, error) { return t.IsUntidy() })
		if err != nil || !untidy {
			return err
		}
		left := false
		err = s.memory.UpdateAlone(ctx, "index", "", func(t *Tx) (err error) {
			t.Late, t.Unasked = true, true
			left, err = t.Tidy(tidyStep)
			return err
		})
		if err != nil || !left {
			return undamaged(err)
		}
	}
}

// closeTime is how long Settle may wait for its turn to write.
const closeTime = 5 * time.Second

// Settle makes a segment of the documents that wait for one, where this process may have left a
// lot. Otherwise the next question would read them document by document. If Settle fails, the next
// writer does this work.
func (s *Contracts) Settle() {
	if s.index == nil || s.index.brought.Swap(0) < search.FewWait {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = s.memory.UpdateAlone(ctx, "index", "", func(t *Tx) error {
		t.Late, t.Unasked = true, true
		return t.EndTail()
	})
}

// undamaged is an error, nil where it says that the index is damaged.
func undamaged(err error) error {
	if search.IsDamaged(err) {
		return nil
	}
	return err
}

// syncVectors looks at up to n passages, makes the vectors of those that the model knows, outside of any transaction, and
// stores them.
func (s *Contracts) syncVectors(ctx context.Context, model search.Model, n int, pause func()) (made int, done bool, err error) {
	name := model.Name()
	var pending []sqlrows.Pending
	var before, through int64
	err = s.memory.View(ctx, "index", "", func(t *Tx) (err error) {
		pending, before, through, err = t.Pending(name, n)
		return err
	})
	if err != nil || through == before {
		return 0, err == nil, err
	}
	pending = slices.DeleteFunc(pending, func(p sqlrows.Pending) bool { return !search.Knows(model, p.Text, false) })
	texts := make([]string, len(pending))
	for i, p := range pending {
		texts[i] = p.Text
	}
	vectors, err := vectorsOf(ctx, model, texts, pause)
	if err != nil {
		return 0, false, amber.Errorf(amber.KindOf(err), "make vectors", name, "%s", err.Error())
	}
	byRow := make(map[int64]search.Vector, len(pending))
	for i, p := range pending {
		byRow[p.Row] = vectors[i]
	}
	err = s.memory.Update(ctx, "index", "", func(t *Tx) error {
		t.Unasked = true
		return t.PutPending(name, byRow, through)
	})
	return len(pending), false, err
}

// vectorsOf makes vectors. It calls pause before each one if the caller gave a pause and the model
// runs in this process.
func vectorsOf(ctx context.Context, model search.Model, texts []string, pause func()) (vectors []search.Vector, err error) {
	if _, here := model.(search.Local); !here || pause == nil {
		return search.Embed(ctx, model, texts, false)
	}
	for i := range texts {
		pause()
		v, err := search.Embed(ctx, model, texts[i:i+1], false)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v...)
	}
	return vectors, nil
}

// RebuildIndex makes the index anew of the records. Questions find what is in it so far
// meanwhile; SyncIndex makes the vectors.
func (s *Contracts) RebuildIndex(ctx context.Context) error {
	err := s.memory.UpdateAlone(ctx, "rebuild index", "", func(t *Tx) error {
		t.Late = true
		return t.EmptyIndex()
	})
	if err != nil {
		return err
	}
	return s.indexRest(ctx)
}

// VerifyIndex compares all of the index with the records. The error is of kind damaged.
func (s *Contracts) VerifyIndex(ctx context.Context) error {
	return s.memory.View(ctx, "check index", s.memory.Name(), func(t *Tx) error {
		if err := t.CheckIndex(true); err != nil {
			return fmt.Errorf("compare index: %w", err)
		}
		return nil
	})
}
