package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/wire"
)

// auditMagic keeps hashes of the audit log apart from anything else that is
// hashed the same way, and says which form it is.
const auditMagic = "amber audit 1"

// record is a row of the audit log.
type record struct {
	seq, at                                                   int64
	tenant, agent, actor, action, subject, outcome, requestID string
	prev, hash                                                [sha256.Size]byte
}

// sum returns the hash a record must have: of each field, as text, after its
// length in eight bytes. See docs/format/audit.md.
func (r record) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, part := range []string{
		auditMagic, strconv.FormatInt(r.seq, 10), strconv.FormatInt(r.at, 10), r.tenant, r.agent, r.actor,
		r.action, r.subject, r.outcome, r.requestID, hex.EncodeToString(r.prev[:]),
	} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		io.WriteString(h, part)
	}
	h.Sum(sum[:0])
	return sum
}

// recordOf returns the row of an entry that has no place yet. A field that is
// too long is cut and one that would not fit a line is cleaned: the log must
// not refuse to say that something happened.
func recordOf(e wire.AuditEntry) record {
	return record{
		tenant: clean(string(e.Tenant)), agent: clean(string(e.Agent)), actor: clean(e.Actor), action: clean(e.Action),
		subject: clean(e.Subject), outcome: clean(e.Outcome), requestID: clean(e.RequestID),
	}
}

// maxField bounds a field of a record in bytes.
const maxField = amber.MaxIDBytes

// maxRead bounds what is read of a field before it is cut: a secret that is cut in two is none that
// can be recognised.
const maxRead = 16 * maxField

// clean makes a field fit. Nothing can be taken out of the log later, so secrets are taken out before:
// the request that named one is refused, and its entry says so without it.
func clean(s string) string {
	s = intake.Line(s[:min(len(s), maxRead)])
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, clip.Bytes(s, maxField))
	return s
}

func (r record) entry() wire.AuditEntry {
	return wire.AuditEntry{
		Seq: r.seq, At: amber.UnixMilli(r.at), Tenant: amber.TenantID(r.tenant), Agent: amber.AgentID(r.agent),
		Actor: r.actor, Action: r.action, Subject: r.subject, Outcome: r.outcome, RequestID: r.requestID,
		Prev: hex.EncodeToString(r.prev[:]), Hash: hex.EncodeToString(r.hash[:]),
	}
}

// auditColumns are those of a record. A value that is longer than in any record of ours is NULL, so
// that it is not read into memory.
const auditColumns = `seq, at,
CASE WHEN octet_length(tenant) <= 200 THEN tenant END, CASE WHEN octet_length(agent) <= 200 THEN agent END,
CASE WHEN octet_length(actor) <= 200 THEN actor END, CASE WHEN octet_length(action) <= 200 THEN action END,
CASE WHEN octet_length(subject) <= 200 THEN subject END, CASE WHEN octet_length(outcome) <= 200 THEN outcome END,
CASE WHEN octet_length(request_id) <= 200 THEN request_id END,
CASE WHEN octet_length(prev) = 32 THEN prev END, CASE WHEN octet_length(hash) = 32 THEN hash END`

const (
	insertAudit = `INSERT INTO audit (seq, at, tenant, agent, actor, action, subject, outcome, request_id, prev, hash) VALUES `
	auditValues = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectLast  = `SELECT ` + auditColumns + ` FROM audit ORDER BY seq DESC LIMIT 1`
	selectAt    = `SELECT ` + auditColumns + ` FROM audit WHERE seq = ?`
)

// insertRows are statements for several records, the longest first: a few lengths make any number, so that few
// statements are prepared.
var insertRows = []struct {
	rows  int
	query string
}{{64, insertMany(64)}, {8, insertMany(8)}, {1, insertMany(1)}}

func insertMany(n int) string {
	return insertAudit + strings.Repeat(auditValues+", ", n-1) + auditValues
}

// errNoRecord is what a row is that this package has not written.
var errNoRecord = errors.New("the row is not a record of the audit log")

// scanRecord reads auditColumns. The sequence is right also with errNoRecord.
func scanRecord(s scanner) (r record, err error) {
	var at any
	var texts [7]any
	var prev, hash any
	err = s.Scan(&r.seq, &at, &texts[0], &texts[1], &texts[2], &texts[3], &texts[4], &texts[5], &texts[6], &prev, &hash)
	if err != nil {
		return r, err
	}
	ok := true
	r.at = as[int64](at, &ok)
	for i, into := range []*string{&r.tenant, &r.agent, &r.actor, &r.action, &r.subject, &r.outcome, &r.requestID} {
		*into = as[string](texts[i], &ok)
	}
	ok = copy(r.prev[:], as[[]byte](prev, &ok)) == len(r.prev) && ok
	ok = copy(r.hash[:], as[[]byte](hash, &ok)) == len(r.hash) && ok
	if !ok {
		return r, errNoRecord
	}
	return r, nil
}

// as returns a column with the type that it must have. A column of a STRICT table has another type
// only if a person has changed the bytes of the file.
func as[T any](v any, ok *bool) T {
	t, is := v.(T)
	*ok = *ok && is
	return t
}

// lastRecord returns the end of the log, or zeros for an empty one.
func (t *tx) lastRecord() (record, error) {
	r, err := scanRecord(t.row(selectLast))
	if errors.Is(err, sql.ErrNoRows) {
		return record{}, nil
	}
	if errors.Is(err, errNoRecord) {
		return r, damaged("read audit log", strconv.FormatInt(r.seq, 10), err.Error())
	}
	return r, err
}

// appendAudit adds records to the end of the chain, in one transaction, and returns the number of
// the last one. The entries that are not chained yet record earlier changes, so they come first.
func (d *DB) appendAudit(ctx context.Context, batch []*waiter) (seq int64, err error) {
	err = d.engine.update(ctx, "write audit log", "", lockAudit, func(t *tx) error {
		if err := d.sealAll(t); err != nil {
			return err
		}
		records := make([]record, len(batch))
		for i, w := range batch {
			records[i] = w.record
			records[i].at = t.now.UnixMilli()
		}
		seq, err = d.chain(t, records)
		return err
	})
	return seq, err
}

// chain numbers records, hashes each with the one before, and writes them. It returns the
// number of the last one.
func (d *DB) chain(t *tx, records []record) (seq int64, err error) {
	last, err := t.lastRecord()
	if err != nil {
		return 0, err
	}
	was := mark{last.seq, last.hash}
	for i := range records {
		r := &records[i]
		r.seq, r.prev = last.seq+1, last.hash
		r.hash = r.sum()
		last = *r
	}
	if err := t.insertRecords(records); err != nil {
		return 0, err
	}
	return last.seq, d.engine.chained(t, was, mark{last.seq, last.hash})
}

func (t *tx) insertRecords(records []record) error {
	for _, some := range insertRows {
		for ; len(records) >= some.rows; records = records[some.rows:] {
			var args []any
			for i := range records[:some.rows] {
				r := &records[i]
				args = append(args, r.seq, r.at, r.tenant, r.agent, r.actor, r.action, r.subject, r.outcome, r.requestID, r.prev[:], r.hash[:])
			}
			if _, err := t.exec(some.query, args...); err != nil {
				return err
			}
		}
	}
	return nil
}
