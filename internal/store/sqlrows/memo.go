package sqlrows

import "github.com/amber-memory/amber"

// FindDuplicate finds a live memory that says the same as another one. It must use memories_dedupe: it runs at every
// write. Without the signs SQLite plans it anew for every value, because of ORDER BY. PostgreSQL, which takes no
// hint, would go through all memories in the order of their dates, or through all of a scope.
const FindDuplicate = `SELECT id FROM memories INDEXED BY memories_dedupe
WHERE content_digest = +? AND deleted_at IS NULL AND kind = +? AND scope || '' = +? AND identity = +? AND title = +? AND id <> ?
ORDER BY created_at + 0, id LIMIT 1`

const lastMemory = `SELECT coalesce(max(rowid), 0) FROM memories`

// Twin is what duplicates have in common, and the id of the one that has them.
type Twin struct {
	Digest   string
	Kind     amber.MemoryKind
	Scope    amber.Scope
	Identity string
	Title    string
	ID       amber.MemoryID
}

// TwinOf is what a memory has in common with its duplicates.
func TwinOf(m amber.Memory) Twin {
	return Twin{m.ContentDigest, m.Kind, m.Scope, m.Identity(), m.Title, m.ID}
}

func (w Twin) args() []any { return []any{w.Digest, w.Kind, w.Scope, w.Identity, w.Title, w.ID} }

// memo is what was asked for several callers of a transaction at once. An answer is only given as long as nothing was written
// that may have changed it.
type memo struct {
	twins   map[Twin]amber.MemoryID // "" for none
	written map[string]bool         // digests of memories that are new since
	row     int64                   // of the last memory; -1: not known
	wrote   int                     // statements that write since
	asked   int                     // questions to the database since
}

// AskTwins asks for the duplicates of several memories in one go, for DuplicateOf. It forgets what was asked before.
func (t *Tx) AskTwins(twins []Twin) error {
	m := &memo{twins: map[Twin]amber.MemoryID{}, written: map[string]bool{}}
	queries, args := make([]string, len(twins), len(twins)+1), make([][]any, len(twins)+1)
	for i, w := range twins {
		m.twins[w] = ""
		queries[i], args[i] = FindDuplicate, w.args()
	}
	queries = append(queries, lastMemory)
	t.memo = m
	return t.Conn.Several(t.Ctx, queries, args, func(n int, r Row) error {
		if n == len(twins) {
			return strictRow{r}.Scan(&m.row)
		}
		id, err := ScanText(strictRow{r})
		m.twins[twins[n]] = amber.MemoryID(id)
		return err
	})
}

// Used counts what a transaction has asked and written since AskTwins.
func (t *Tx) Used() (asked, wrote int) { return t.memo.asked, t.memo.wrote }

// EndAsking forgets what was asked ahead.
func (t *Tx) EndAsking() { t.memo = nil }

// DuplicateOf finds another live memory that says the same as m.
func (t *Tx) DuplicateOf(m amber.Memory) (id amber.MemoryID, found bool, err error) {
	w := TwinOf(m)
	if t.memo != nil && !t.memo.written[w.Digest] {
		if id, known := t.memo.twins[w]; known {
			return id, id != "", nil
		}
	}
	err = t.Row(FindDuplicate, w.args()...).Scan(&id)
	if Absent(err) {
		return "", false, nil
	}
	return id, err == nil, err
}

// nextRow returns the number of the row of a new memory, where it is known.
func (m *memo) nextRow() (int64, bool) {
	if m == nil || m.row < 0 {
		return 0, false
	}
	m.row++
	return m.row, true
}

// ask notes that the database is asked.
func (m *memo) ask() {
	if m != nil {
		m.asked++
	}
}

// digestAt is where insertMemoryAt has the digest of the content.
const digestAt = 19

// write notes what is written. For a statement that may change or remove a memory it does not find
// out which memory that is.
func (m *memo) write(query string, args []any) {
	if m == nil {
		return
	}
	m.wrote++
	switch query {
	case insertMemoryAt:
		digest, _ := args[digestAt].(string)
		m.written[digest] = true
	case insertChange, insertChangeAt:
	default:
		clear(m.twins)
		m.row = -1
	}
}
