package ledger

import (
	"context"
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// ListAudit returns a page of entries, newest first. Entries that are not chained
// yet are chained before the first page: who has changed something finds it there. Errors:
// invalid; damaged for an entry that is not valid.
func (d *DB) ListAudit(ctx context.Context, q wire.AuditQuery) (amber.Page[wire.AuditEntry], error) {
	const op = "list audit log"
	none := amber.Page[wire.AuditEntry]{Items: []wire.AuditEntry{}}
	if q.Limit < 0 {
		return none, amber.Errorf(amber.KindInvalid, op, "", "limit is negative, want 0 or more")
	}
	if q.Limit == 0 {
		q.Limit = amber.DefaultPageSize
	}
	q.Limit = min(q.Limit, amber.MaxPageSize)
	before, err := parseAuditCursor(q.Cursor)
	if err != nil {
		return none, err
	}
	for _, value := range []string{string(q.Tenant), string(q.Agent), q.Actor, q.Action} {
		if clean(value) != value {
			return none, nil // no entry has it, and not every database takes it
		}
	}
	if q.Cursor == "" {
		if _, err := d.Seal(ctx, nil); err != nil {
			return none, err
		}
	}
	query, args := auditQuery(q, before)
	page := none
	err = d.view(ctx, op, "", func(t *tx) error {
		return t.each(query, args, func(s scanner) error {
			r, err := scanRecord(s)
			if errors.Is(err, errNoRecord) {
				return amber.Errorf(amber.KindDamaged, op, strconv.FormatInt(r.seq, 10), "%w", err).WithHint("amber audit verify")
			}
			page.Items = append(page.Items, r.entry())
			return err
		})
	})
	if err != nil {
		return none, err
	}
	if len(page.Items) > q.Limit { // one too many says that there is a next page
		page.Items = page.Items[:q.Limit]
		page.Next = auditCursor(page.Items[q.Limit-1].Seq)
	}
	return page, nil
}

// auditQuery puts the statement together from fixed pieces; values are
// arguments.
func auditQuery(q wire.AuditQuery, before int64) (string, []any) {
	where, args := []string{"seq < ?"}, []any{before}
	add := func(piece, value string) {
		if value != "" {
			where, args = append(where, piece), append(args, value)
		}
	}
	add("tenant = ?", string(q.Tenant))
	add("agent = ?", string(q.Agent))
	add("actor = ?", q.Actor)
	add("action = ?", q.Action)
	if !q.Since.IsZero() {
		where, args = append(where, "at >= ?"), append(args, q.Since.UnixMilli())
	}
	return `SELECT ` + auditColumns + ` FROM audit WHERE ` + strings.Join(where, " AND ") + ` ORDER BY seq DESC LIMIT ?`,
		append(args, q.Limit+1)
}

// auditListing begins what a cursor says, so that one of another listing is
// refused.
const auditListing = "audit\n"

func auditCursor(seq int64) amber.Cursor {
	return amber.Cursor(base64.RawURLEncoding.EncodeToString([]byte(auditListing + strconv.FormatInt(seq, 10))))
}

// parseAuditCursor returns the entry a page ends before. The error is of kind
// invalid.
func parseAuditCursor(c amber.Cursor) (int64, error) {
	if c == "" {
		return math.MaxInt64, nil
	}
	if text, err := base64.RawURLEncoding.Strict().DecodeString(string(c[:min(len(c), 64)])); err == nil {
		number, ok := strings.CutPrefix(string(text), auditListing)
		if seq, err := strconv.ParseInt(number, 10, 64); ok && err == nil && auditCursor(seq) == c {
			return seq, nil
		}
	}
	return 0, amber.Errorf(amber.KindInvalid, "read cursor", "", "the cursor is not one of the audit log")
}
