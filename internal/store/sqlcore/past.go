package sqlcore

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// IndexedSince is the first schema of memory.db with the index in rows.
const IndexedSince = 5

const pastMemories = `SELECT ` + sqlrows.MemoryColumns + ` FROM memories WHERE deleted_at IS NULL ORDER BY rowid`

// pastIndex is the index of a file of an older schema, which is only read: it is made in
// memory when the first question comes, of the memories alone.
type pastIndex struct {
	mu    sync.Mutex
	index *search.Memory
	cache search.Cache
}

func (p *pastIndex) recall(t *Tx, q search.Request) (search.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.index == nil {
		index, err := readPast(t)
		if err != nil {
			return search.Answer{}, err
		}
		p.index = index
	}
	q.Meanings = nil
	return search.Recall(p.index, &p.cache, q)
}

// readPast makes the index. Memories that cannot be read are not found.
func readPast(t *Tx) (*search.Memory, error) {
	memories, err := sqlrows.ReadRows(t.Tx, "memories", sqlrows.ScanMemory, pastMemories)
	if err != nil {
		return nil, err
	}
	index, row := search.NewMemory(), int64(0)
	for _, m := range memories {
		concepts, err := sqlrows.All(t.Tx, sqlrows.ScanText, selectConcepts, m.ID)
		if err != nil {
			return nil, err
		}
		for _, text := range search.OfMemory(m, concepts) {
			row++
			index.Add(text.Document(row), text.Passage, nil)
		}
	}
	return index, nil
}

// countTo is how far an answer counts what it could not take into account: a question must
// not wait for a count of everything after a large import.
const countTo = 1000

// degraded says what an answer could not take into account.
func (r *recaller) degraded() (string, error) {
	if r.past != nil {
		return "the snapshot is of an older version: the answer is from its memories, by words alone", nil
	}
	if !r.notes && slices.Contains(r.ask.Layers, amber.LayerNote) {
		return "the file is of an older version, which has no notes", nil
	}
	for _, m := range r.meanings {
		if failed := m.failed(); failed != "" {
			return failed, nil
		}
	}
	models := make([]string, len(r.of))
	for i, m := range r.of {
		models[i] = m.Name()
	}
	waiting, pending, err := r.tx.Waiting(models, countTo+1)
	if err != nil {
		return "", err
	}
	switch {
	case waiting > 0:
		return counted(waiting) + " records are not in the index yet", nil
	case pending > 0:
		return "the meaning of " + counted(pending) + " passages is not known yet: they are found by words alone", nil
	}
	return r.lacks, nil
}

func counted(n int64) string {
	if n > countTo {
		return fmt.Sprintf("more than %d", countTo)
	}
	return strconv.FormatInt(n, 10)
}
