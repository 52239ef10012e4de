package sqlrows

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
)

// Reading is how the rows of one table are read.
type Reading struct {
	Table string
	// query gives the name of each row, then the columns that its reader asks for.
	query string
	scan  func(scanner) error
}

// as makes a reading of the function that readers use.
func as[T any](scan func(scanner) (T, error)) func(scanner) error {
	return func(s scanner) error {
		_, err := scan(s)
		return err
	}
}

// integers reads n columns of numbers, which fits judges.
func integers(n int, fits func([]int64) error) func(scanner) error {
	return func(s scanner) error {
		values, dest := make([]int64, n), make([]any, n)
		for i := range values {
			dest[i] = &values[i]
		}
		if err := s.Scan(dest...); err != nil {
			return err
		}
		return fits(values)
	}
}

// numbers reads columns of counters, times columns of times.
func numbers(n int) func(scanner) error {
	return integers(n, func(v []int64) error { return fit("", "", v, nil) })
}

func times(n int) func(scanner) error {
	return integers(n, func(v []int64) error { return fit("", "", nil, v) })
}

// jsonOf reads one column that holds a T as JSON.
func jsonOf[T any](column string) func(scanner) error {
	return func(s scanner) error {
		var text string
		if err := s.Scan(&text); err != nil {
			return err
		}
		if v := new(T); json.Unmarshal([]byte(text), v) != nil {
			return NotJSON("", "", column)
		}
		return nil
	}
}

// MemoryReadings reads every table of memory.db. The check of counters covers the numbers that new
// rows continue.
var MemoryReadings = []Reading{
	{"incarnations", `SELECT id, id FROM incarnations`, as(ScanText)},
	{"changes", `SELECT seq, key FROM changes`, as(ScanText)},
	{"memories", `SELECT id, ` + MemoryColumns + ` FROM memories`, as(ScanMemory)},
	{"revisions", `SELECT memory_id || '/' || revision, body FROM revisions`, as(ScanRevision)},
	{"erased", `SELECT id, device, counter, clock FROM erased`, as(ScanOrigin)},
	{"idempotency", `SELECT memory_id, answer FROM idempotency`, jsonOf[amber.WriteAck]("answer")},
	{"relations", `SELECT id, ` + RelationColumns + ` FROM relations`, as(ScanRelation)},
	{"embeddings", `SELECT memory_id, memory_id, model, dimension, vector FROM embeddings`, as(ScanEmbedding)},
	{"concepts", `SELECT memory_id, concept FROM concepts`, as(ScanText)},
	{"turns", `SELECT id, ` + TurnColumns + ` FROM turns`, as(ScanTurn)},
	{"sessions", `SELECT id, ` + SessionColumns + `, device, counter, clock FROM sessions`, as(ScanStampedSession)},
	{"active_sessions", `SELECT session_id, binding FROM active_sessions`, as(ScanText)},
	{"session_states", `SELECT session_id, session_id, document, version, updated_at FROM session_states`, as(ScanState)},
	{"loops", `SELECT session_id, session_id, run_id, state, revision, digest, created_at, parked FROM loops`, as(ScanLoop)},
	{"compactions", `SELECT id, ` + CompactionColumns + ` FROM compactions`, as(ScanCompaction)},
	{"journal_cursors", `SELECT c.journal, ` + CursorColumns + `, false FROM journal_cursors c`, as(ScanCursor)},
	{"journal_events", `SELECT hex(id), at FROM journal_events`, numbers(1)},
	{"activity", `SELECT session_id, ` + ActivityColumns + ` FROM activity`, as(ScanActivity)},
	{"departed", `SELECT id, scope, id, session_id, project, device, counter, clock FROM departed`, as(ScanDeparture)},
	{"versions", `SELECT memory_id, version || CASE saw WHEN '' THEN '' ELSE char(10) || saw END FROM versions`, as(scanVersions)},
	{"sync_places", `SELECT place, position FROM sync_places`, as(scanPosition)},
	{"sync_chunks", `SELECT chunk, created_at, applied_at FROM sync_chunks`, times(2)},
	{"sync_imports", `SELECT place, first_seq, last_seq FROM sync_imports`, numbers(2)},
	{"sync_quarantine", `SELECT chunk, chunk, reason, kind FROM sync_quarantine`, as(ScanQuarantined)},
	{"sync_waiting", `SELECT from_id, body, place, chunk FROM sync_waiting`, as(ScanWaiting)},
	{"sync_links", `SELECT record, tool, chunk, ordinal, scope, record, version, local_id, fingerprint, extra FROM sync_links`, as(ScanLink)},
	{"sync_held", `SELECT record, version FROM sync_held`, as(scanVersions)},
	{"sync_removed", `SELECT record, device, counter, clock FROM sync_removed`, as(ScanOrigin)},
	{"sync_spared", `SELECT record, chunk FROM sync_spared`, as(ScanText)},
	{"notes", `SELECT name, ` + NoteColumns + ` FROM notes`, as(ScanNote)},
	{"notes_head", `SELECT id, commit_id FROM notes_head`, as(ScanText)},
	{"index_dirty", `SELECT owner, source FROM index_dirty`, as(ScanText)},
	{"passages", `SELECT row, row, part, place, asks FROM passages`, numbers(4)},
	{"index_tail", `SELECT row, row, document FROM index_tail`, as(scanDocument)},
	{"index_segments", `SELECT id, edition, first_row, last_row, docs, words FROM index_segments`, numbers(5)},
	{"index_lists", `SELECT segment, term FROM index_lists`, as(ScanText)},
	{"index_dead", `SELECT row, segment FROM index_dead`, numbers(1)},
	{"index_vectors", `SELECT row, model FROM index_vectors`, as(ScanText)},
	{"index_signs", `SELECT chunk, chunk, signs FROM index_signs`, as(scanSigns)},
	{"index_state", `SELECT key, number FROM index_state`, numbers(1)},
	{"index_cursors", `SELECT place, position, fence, notes FROM index_cursors`, as(ScanIndexCursor)},
}

func scanDocument(s scanner) (d search.Document, err error) {
	var row int64
	var b []byte
	if err := s.Scan(&row, &b); err != nil {
		return d, err
	}
	if d, err = search.UnmarshalDocument(row, b); err != nil {
		err = unreadable("index_tail", "", err.Error())
	}
	return d, err
}

func scanSigns(s scanner) (signs search.Signs, err error) {
	var chunk int64
	var b []byte
	if err := s.Scan(&chunk, &b); err != nil {
		return signs, err
	}
	if signs, err = openSigns(chunk, b); err != nil {
		err = unreadable("index_signs", "", err.Error())
	}
	return signs, err
}

// ControlReadings reads every table of control.db.
var ControlReadings = []Reading{
	{"incarnations", `SELECT id, id FROM incarnations`, as(ScanText)},
	{"changes", `SELECT seq, key FROM changes`, as(ScanText)},
	{"tasks", `SELECT id, id, body, extra FROM tasks`, as(ScanTask)},
	{"events", `SELECT task_id, task_id || '/' || seq, body FROM events`, as(ScanEvent)},
	{"replays", `SELECT task_id, body FROM replays`, jsonOf[amber.ReplaySnapshot]("body")},
	{"approvals", `SELECT id, ` + ApprovalColumns + ` FROM approvals`, as(ScanApproval)},
	{"results", `SELECT task_id, task_id || '/' || node_id, body FROM results`, as(ScanResult)},
	{"fences", `SELECT task_id, node_id FROM fences`, as(ScanText)},
	{"queue", `SELECT entry_id, entry_id, task_id, node_id, attempt, payload, priority, published_not_before, reasons, coalesce(done_at, 0) FROM queue`, as(ScanDead)},
	{"queue_counts", `SELECT state, entries FROM queue_counts`, numbers(1)},
}

func scanVersions(s scanner) ([]amber.Origin, error) {
	names, err := ScanText(s)
	if err != nil {
		return nil, err
	}
	return SplitVersions(names)
}

func scanPosition(s scanner) (p amber.Position, err error) {
	if err = s.Scan(&p); err != nil {
		return p, err
	}
	if _, _, err := p.Parse(); err != nil {
		return p, unreadable("sync_places", "", "the position is not valid")
	}
	return p, nil
}

// maxNamed is how many rows one finding spells out.
const maxNamed = 5

// checkRows reads every row of every table as its reader does. The error is of
// kind damaged and names the first rows that no reader can read.
func (t *Tx) checkRows(readings []Reading) error {
	var named []string
	bad, hint := 0, ""
	for _, r := range readings {
		err := t.Each(r.query, nil, func(s scanner) error {
			var name string
			err := r.scan(FirstColumn{s, &name})
			b, ok := AsBadRow(err)
			if !ok {
				return err
			}
			if bad++; bad <= maxNamed {
				named = append(named, fmt.Sprintf("%s %s: %s", r.Table, printable(name), b.reason))
			}
			if hint == "" && r.Table == "memories" && printable(name) == name {
				hint = "amber forget " + name
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", r.Table, err)
		}
	}
	if bad == 0 {
		return nil
	}
	e := amber.Errorf(amber.KindDamaged, "read rows", "", "%d rows cannot be read and are left out: %s", bad, strings.Join(named, "; ")).WithHint(hint)
	if hint == "" {
		e.Hint = "amber snapshot list; an earlier snapshot may have the rows whole"
	}
	return e
}

// sequence is a column that a new row continues: at its end there is no next
// value.
type sequence struct {
	table, column string
	since         int64 // the schema that made the table
}

var memorySequences = []sequence{
	{"changes", "seq", 1},
	{"changes", "stamp", 1},
	{"incarnations", "ordinal", 1},
	{"incarnations", "first_seq", 1},
	{"memories", "rowid", 1},
	{"turns", "seq", 1},
	{"compactions", "seq", 1},
	{"activity", "seq", 2},
}

var controlSequences = []sequence{
	{"changes", "seq", 1},
	{"changes", "stamp", 1},
	{"incarnations", "ordinal", 1},
	{"incarnations", "first_seq", 1},
	{"events", "seq", 1},
	{"replays", "compacted", 1},
	{"approvals", "seq", 1},
	{"fences", "fence", 1},
	{"queue", "seq", 1},
}

// lastSequence leaves room for more than anybody will ever write.
const lastSequence = 1 << 62

// checkSequences looks whether what new rows continue can be continued, in a file
// of a schema.
func (t *Tx) checkSequences(sequences []sequence, schema int64) error {
	for _, q := range sequences {
		if q.since > schema {
			continue
		}
		var last, first int64
		// Both names are constants of this package.
		err := t.Row(fmt.Sprintf("SELECT coalesce(max(%[2]s), 0), coalesce(min(%[2]s), 0) FROM %[1]s", q.table, q.column)).Scan(&last, &first)
		if err != nil {
			return err
		}
		if first < 0 || last > lastSequence {
			return Damaged("check counters", "", fmt.Errorf("%s.%s goes from %d to %d, want 0 to %d", q.table, q.column, first, last, int64(lastSequence)))
		}
	}
	return nil
}

// Check is one look at the rows of an agent. It runs in a read transaction and
// changes nothing.
type Check struct {
	Name  string
	Scope string
	Run   func(*Tx) error
}

// MemoryChecks are the checks of the rows of memory.db, in a file of a schema. The code that reads
// rows knows only the newest schema, so the checks do not read the rows of an older one.
func MemoryChecks(schema int64, newest bool) []Check {
	counters := Check{"counters", countersScope, func(t *Tx) error { return t.checkSequences(memorySequences, schema) }}
	return checks(counters, MemoryReadings, newest)
}

// ControlChecks are those of control.db.
func ControlChecks(schema int64, newest bool) []Check {
	counters := Check{"counters", countersScope + ", and those of the queue", func(t *Tx) error {
		return errors.Join(t.checkSequences(controlSequences, schema), t.CheckCounters())
	}}
	return checks(counters, ControlReadings, newest)
}

const countersScope = "the counters that new rows continue"

func checks(counters Check, readings []Reading, newest bool) []Check {
	if !newest {
		return []Check{counters}
	}
	return []Check{counters, {"rows", "every row of every table, read as its reader does", func(t *Tx) error { return t.checkRows(readings) }}}
}
