package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/rowfile"
)

// Instant says of which instant of which server files are: their mark. A later export on the same server asks for the rows that other transactions wrote
// than those it saw: the number of the transaction that wrote a row stays with it until it is written again.
type Instant struct {
	Gen         int64    `json:"gen"`
	Incarnation string   `json:"incarnation"`
	System      int64    `json:"system"` // of the cluster
	Timeline    int64    `json:"timeline"`
	Schema      int64    `json:"schema"`
	Snapshot    string   `json:"snapshot"` // xmin:xmax:xip
	Memory      Position `json:"memory"`
	Control     Position `json:"control"`
}

// maxPassed is how many transactions may have begun since a mark. Rows know the last 32 bits of a number, which tell before from after
// among half of all.
const maxPassed = 1 << 30

// spanned are the first transaction that had not ended at a snapshot, and the first that had not begun.
func spanned(snapshot string) (first, end uint64, ok bool) {
	parts := strings.SplitN(snapshot, ":", 3)
	if len(parts) != 3 {
		return 0, 0, false
	}
	first, err := strconv.ParseUint(parts[0], 10, 63)
	end, err2 := strconv.ParseUint(parts[1], 10, 63)
	return first, end, err == nil && err2 == nil && first >= 3 && first <= end
}

// since returns the number, as rows have it, of the first transaction that an export which left the mark may not have seen. Where files with the mark
// cannot be brought up to date by what came after, why says so.
func (m *Instant) since(now Instant) (xid, why string) {
	first, end, ok := spanned(m.Snapshot)
	_, is, _ := spanned(now.Snapshot)
	switch {
	case m.Gen != now.Gen || m.Incarnation != now.Incarnation:
		return "", "the files are of another generation"
	case m.System == 0 || m.System != now.System:
		return "", "the files are of another cluster"
	case m.Timeline == 0 || m.Timeline != now.Timeline:
		return "", fmt.Sprintf("the server is on timeline %d, the files are of timeline %d", now.Timeline, m.Timeline)
	case m.Schema != now.Schema:
		return "", fmt.Sprintf("the schema of the database is %d, the files are of %d", now.Schema, m.Schema)
	case !ok:
		return "", "the mark of the files cannot be read"
	case end > is:
		return "", "the mark of the files is of a later time than the database"
	case is-first >= maxPassed:
		return "", "too many transactions have passed"
	case m.Memory.Seq > now.Memory.Seq || m.Control.Seq > now.Control.Seq:
		return "", "the change log of the database is shorter than that of the files"
	}
	return strconv.FormatUint(uint64(uint32(first)), 10), ""
}

// marks notes the instant of the transaction, and finds out whether the files can be brought up to date by what came after theirs.
func (x *export) marks(ctx context.Context, c *pgdb.Conn) error {
	x.since, x.result.Instant, x.result.Full = "", nil, "there is no mark of an earlier time"
	i, ok, err := c.Instant(ctx)
	if err != nil {
		return err
	}
	switch {
	case !ok:
		x.result.Full = "the server does not tell which one it is"
		return nil
	case i.Lossy:
		x.result.Full = "synchronous_commit is off, so the database may have lost what the files have"
		return nil
	}
	now := Instant{
		Gen: x.result.Gen, Incarnation: x.result.Current.Incarnation, System: i.System, Timeline: i.Timeline, Schema: x.schema, Snapshot: i.Snapshot,
		Memory: x.result.Memory, Control: x.result.Control,
	}
	x.result.Instant = &now
	m := x.o.Since
	if !x.o.Update || m == nil {
		return nil
	}
	if x.since, x.result.Full = m.since(now); x.since == "" {
		return nil
	}
	same, err := isHistory(ctx, c, *m)
	if err == nil && !same {
		x.since, x.result.Full = "", "the change log of the database is not that of the files"
	}
	return err
}

// isHistory reports whether the change logs have the entries they ended with at a mark. A cluster that was put back to an earlier day by
// a copy of its disk has others.
func isHistory(ctx context.Context, c *pgdb.Conn, m Instant) (same bool, err error) {
	const q = `SELECT ($1::int8 = 0 OR EXISTS (SELECT FROM amber.changes WHERE seq = $1 AND stamp = $2::int8))
AND ($3::int8 = 0 OR EXISTS (SELECT FROM amber_control.changes WHERE seq = $3 AND stamp = $4::int8))`
	err = c.PG().QueryRow(ctx, q, m.Memory.Seq, int64(m.Memory.Stamp), m.Control.Seq, int64(m.Control.Stamp)).Scan(&same)
	return same, err
}

// tally is how many rows a table has, how many of them are new, and where those are, as PostgreSQL writes a list of places. No row moves
// while a transaction that has looked at the table goes on.
type tally struct {
	rows, changed int64
	places        string
}

// isNew is the condition for rows that the mark may not know. Both ages are counted from the same transaction.
func (x *export) isNew() string { return fmt.Sprintf(`age(xmin) <= (SELECT age('%s'::xid))`, x.since) }

// tallies counts the rows of all tables of a file.
func (x *export) tallies(ctx context.Context, c *pgdb.Conn, f rowfile.File) ([]tally, error) {
	parts := make([]string, len(f.Tables))
	for i, t := range f.Tables {
		parts[i] = fmt.Sprintf(`SELECT %d, n, coalesce(cardinality(new), 0)::int8, coalesce(new::text, '{}') FROM (SELECT count(*) AS n, array_agg(ctid) FILTER (WHERE %s) AS new FROM %s) s`,
			i, x.isNew(), name(f.Name, t))
	}
	rows, err := c.PG().Query(ctx, strings.Join(parts, " UNION ALL "), once)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := make([]tally, len(f.Tables))
	for rows.Next() {
		var i int
		var n tally
		if err := rows.Scan(&i, &n.rows, &n.changed, &n.places); err != nil {
			return nil, err
		}
		list[i] = n
	}
	return list, rows.Err()
}

// fileSince brings one file up to date by the rows that are new.
func (x *export) fileSince(ctx context.Context, c *pgdb.Conn, f rowfile.File) error {
	u, err := rowfile.Update(ctx, x.dir, f.Name)
	if err != nil {
		return err
	}
	x.writers = append(x.writers, u)
	counts, err := x.tallies(ctx, c, f)
	if err != nil {
		return err
	}
	tables := make([]Table, len(f.Tables))
	from, to := x.o.Since.Memory.Seq, x.result.Memory.Seq
	if f.Name == controlDB {
		from, to = x.o.Since.Control.Seq, x.result.Control.Seq
	}
	for _, i := range lateLast(f.Tables) {
		t := f.Tables[i]
		s := sinceTable{x, c, u, f.Name, t, counts[i]}
		last, carried, err := s.update(ctx)
		if err != nil {
			return err
		}
		tables[i] = carried
		if t.Name == "changes" && max(last, from) != to {
			return endsElsewhere(x.agent.ID, f.Name, max(last, from), to)
		}
	}
	x.result.Tables = append(x.result.Tables, tables...)
	return nil
}

// sinceTable is a table while it is brought up to date.
type sinceTable struct {
	*export
	c     *pgdb.Conn
	u     *rowfile.Updater
	file  string
	t     rowfile.Table
	tally tally
}

// update brings the table up to date: by all of its rows where triggers write it or most are new, or by those that are new. Then the file has the
// keys it had and the new ones, which are all that the database has and maybe some that are gone: as many keys are the same keys.
func (s sinceTable) update(ctx context.Context) (last int64, carried Table, err error) {
	if slices.Contains(derived, s.t.Name) || s.tally.changed > s.tally.rows/2 {
		return s.replace(ctx)
	}
	carried = Table{File: s.file, Name: s.t.Name, Rows: s.tally.rows}
	if s.tally.changed > 0 {
		if last, err = s.put(ctx); errors.Is(err, rowfile.ErrOutdated) {
			return s.replace(ctx)
		}
		if err != nil {
			return 0, carried, err
		}
		carried.Compared = s.tally.changed
	}
	n, err := s.u.Count(ctx, s.t)
	if err != nil || n == s.tally.rows {
		return last, carried, err
	}
	if err = s.keep(ctx); errors.Is(err, rowfile.ErrOutdated) {
		return s.replace(ctx)
	}
	if err == nil {
		n, err = s.u.Count(ctx, s.t)
	}
	if err == nil && n != s.tally.rows {
		err = differ(opExport, s.t.Name, fmt.Sprintf("the file has %d rows, the database %d", n, s.tally.rows))
	}
	return last, carried, err
}

// replace compares all rows, and reads those of the file again.
func (s sinceTable) replace(ctx context.Context) (last int64, carried Table, err error) {
	last, carried, err = s.table(ctx, s.c, func(t rowfile.Table, next func() ([]any, error)) error {
		n, err := s.u.Replace(ctx, t, next)
		s.result.Changed += n
		return err
	}, s.file, s.t)
	if err != nil {
		return 0, carried, err
	}
	carried.Compared = carried.Rows
	d := newDigest(s.t)
	if err := s.u.Each(ctx, s.t, d.add); err != nil {
		return 0, carried, err
	}
	if d.sum() != carried.Digest {
		err = differ(opExport, s.t.Name, "the rows have another digest")
	}
	return last, carried, err
}

// put writes the rows that are new.
func (s sinceTable) put(ctx context.Context) (last int64, err error) {
	rows, err := openWhere(ctx, s.c.PG(), s.file, s.t, "WHERE ctid = ANY ('"+s.tally.places+"'::tid[])")
	if err != nil {
		return 0, err
	}
	defer rows.rows.Close()
	n, changed, err := s.u.Put(ctx, s.t, func() ([]any, error) {
		row, err := rows.next()
		if row != nil {
			if n, ok := row[0].(int64); ok {
				last = max(last, n)
			}
		}
		return row, err
	})
	if err == nil && n != s.tally.changed {
		err = differ(opExport, s.t.Name, fmt.Sprintf("%d rows are new, and %d were found", s.tally.changed, n))
	}
	if err != nil {
		return 0, err
	}
	s.result.Changed += changed
	return last, nil
}

// keep deletes the rows whose keys the database does not have.
func (s sinceTable) keep(ctx context.Context) error {
	rows, err := open(ctx, s.c.PG(), s.file, s.t.Keys())
	if err != nil {
		return err
	}
	defer rows.rows.Close()
	n, err := s.u.Keep(ctx, s.t, rows.next)
	s.result.Changed += n
	return err
}

func endsElsewhere(agent amber.AgentID, file string, last, want int64) error {
	return amber.Errorf(amber.KindDamaged, opExport, string(agent), "the change log of %s ends with entry %d, its head says %d", file, last, want).
		WithHint("amber doctor")
}
