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

func clean(s string) string {
	if len(s) > maxField {
		s = s[:maxField]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, s)
	return s
}

func (r record) entry() wire.AuditEntry {
	return wire.AuditEntry{
		Seq: r.seq, At: amber.UnixMilli(r.at), Tenant: amber.TenantID(r.tenant), Agent: amber.AgentID(r.agent),
		Actor: r.actor, Action: r.action, Subject: r.subject, Outcome: r.outcome, RequestID: r.requestID,
		Prev: hex.EncodeToString(r.prev[:]), Hash: hex.EncodeToString(r.hash[:]),
	}
}

// auditColumns are those of a record. What is longer than any record of ours
// is NULL: it is not read into memory.
const auditColumns = `seq, at,
iif(octet_length(tenant) <= 200, tenant, NULL), iif(octet_length(agent) <= 200, agent, NULL),
iif(octet_length(actor) <= 200, actor, NULL), iif(octet_length(action) <= 200, action, NULL),
iif(octet_length(subject) <= 200, subject, NULL), iif(octet_length(outcome) <= 200, outcome, NULL),
iif(octet_length(request_id) <= 200, request_id, NULL),
iif(octet_length(prev) = 32, prev, NULL), iif(octet_length(hash) = 32, hash, NULL)`

const (
	insertAudit = `INSERT INTO audit (seq, at, tenant, agent, actor, action, subject, outcome, request_id, prev, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectLast = `SELECT ` + auditColumns + ` FROM audit ORDER BY seq DESC LIMIT 1`
	selectAt   = `SELECT ` + auditColumns + ` FROM audit WHERE seq = ?`
)

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

// as returns a column as what it must be; a STRICT table has nothing else
// unless somebody has changed the bytes of the file.
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

// appendAudit adds records to the end of the chain, in one transaction, and
// returns the number of the last one.
func (d *DB) appendAudit(ctx context.Context, batch []*waiter) (seq int64, err error) {
	err = d.updateInside(ctx, "write audit log", "", func(t *tx) error {
		last, err := t.lastRecord()
		if err != nil {
			return err
		}
		for _, w := range batch {
			r := w.record
			r.seq, r.at, r.prev = last.seq+1, t.now.UnixMilli(), last.hash
			r.hash = r.sum()
			if _, err := t.exec(insertAudit, r.seq, r.at, r.tenant, r.agent, r.actor, r.action, r.subject, r.outcome,
				r.requestID, r.prev[:], r.hash[:]); err != nil {
				return err
			}
			last = r
		}
		seq = last.seq
		return nil
	})
	return seq, err
}
