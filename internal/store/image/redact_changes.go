package image

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// The change log holds keys, and digests of the texts that records had. The
// digest of a text that is in the file stays, or is made again where the text
// was rewritten. A text that is not in the file, such as an earlier state of a
// session, may have held a secret: redacting empties its digest, as erasing does.

const (
	// selectLog reads, beside each entry, what its record has now: the digest
	// or the text itself.
	selectLog = `SELECT seq, op, scope, key, old_digest, new_digest, CASE scope
 WHEN 'memory'     THEN (SELECT content_digest FROM memories WHERE id = key)
 WHEN 'turn'       THEN (SELECT content FROM turns WHERE id = key)
 WHEN 'state'      THEN (SELECT document FROM session_states WHERE session_id = key)
 WHEN 'loop'       THEN (SELECT digest FROM loops WHERE session_id = key)
 WHEN 'compaction' THEN (SELECT summary FROM compactions WHERE id = key) END
FROM changes WHERE seq > ? ORDER BY seq`
	// selectControlLog is for control.db, whose records have no digests.
	selectControlLog = `SELECT seq, op, scope, key, old_digest, new_digest, NULL FROM changes WHERE seq > ? ORDER BY seq`

	hadDigest = `SELECT EXISTS (SELECT 1 FROM revisions WHERE memory_id = ? AND json_extract(body, '$.content_digest') = ?)`
	updateLog = `UPDATE changes SET op = ?2, scope = ?3, key = ?4, old_digest = ?5, new_digest = ?6 WHERE seq = ?1`
)

// logged is an entry of the change log.
type logged struct {
	seq int64
	sqlrows.Change
	now sql.NullString
}

func scanLogged(s scanner) (l logged, err error) {
	err = s.Scan(&l.seq, &l.Op, &l.Scope, &l.Key, &l.Old, &l.New, &l.now)
	return l, err
}

// changes rewrites the change log, some entries at a time.
func (d *redaction) changes() error {
	query := selectLog
	if d.header.Schema.File != sqlfile.MemorySchema.File {
		query = selectControlLog
	}
	const most = 4096
	for last := int64(0); ; {
		var entries []logged
		size := 0
		err := d.Each(query, []any{last}, func(s scanner) error {
			l, err := scanLogged(s)
			if err != nil {
				return err
			}
			entries = append(entries, l)
			if size += len(l.Key) + len(l.now.String); size >= batchBytes || len(entries) == most {
				return errBatch
			}
			return nil
		})
		if err != nil && !errors.Is(err, errBatch) {
			return err
		}
		for _, l := range entries {
			if err := d.rewriteChange(l); err != nil {
				return err
			}
			last = l.seq
		}
		if err := d.Ctx.Err(); err != nil || len(entries) == 0 {
			return err
		}
	}
}

func (d *redaction) rewriteChange(l logged) error {
	next := l.Change
	next.Op = amber.Op(d.quietly(string(l.Op)))
	next.Scope = amber.ChangeScope(d.quietly(string(l.Scope)))
	next.Key = d.changeKey(l.Change)
	if err := d.checkNames(); err != nil {
		return err
	}
	for _, digest := range []*string{&next.Old, &next.New} {
		if err := d.changeDigest(l, next.Key, digest); err != nil {
			return err
		}
	}
	if next == l.Change {
		return nil
	}
	_, n := d.redacted(asText, l.Key)
	d.note("changes/"+fmt.Sprint(l.seq)+"/key", n)
	_, err := d.Exec(updateLog, l.seq, next.Op, next.Scope, next.Key, next.Old, next.New)
	return err
}

// changeDigest translates one digest, or empties it.
func (d *redaction) changeDigest(l logged, key string, digest *string) error {
	if *digest == "" {
		return nil
	}
	if to, ok := d.digests[*digest]; ok {
		d.allow(to)
		*digest = to
		return nil
	}
	stays := l.now.Valid && (l.now.String == *digest || amber.ContentDigest(l.now.String) == *digest)
	if !stays && l.Scope == amber.ChangeMemory {
		if err := d.Row(hadDigest, key, *digest).Scan(&stays); err != nil {
			return err
		}
	}
	if stays {
		d.allow(*digest)
		return nil
	}
	d.emptied++
	*digest = ""
	return nil
}

// changeKey renames the key of an entry. In control.db it begins with the kind
// of the record, and some name two keys.
func (d *redaction) changeKey(c sqlrows.Change) string {
	if c.Scope != amber.ChangeControl {
		return d.quietly(c.Key)
	}
	kind, rest, _ := strings.Cut(c.Key, "/")
	switch kind {
	case "task", "approval", "queue":
		return kind + "/" + d.quietly(rest)
	case "event":
		if i := strings.LastIndexByte(rest, '/'); i >= 0 {
			return kind + "/" + d.quietly(rest[:i]) + rest[i:]
		}
	case "result":
		return kind + "/" + d.pair(rest)
	}
	return d.quietly(c.Key)
}

// pair renames two keys with a slash between them. Either may have more of
// them: where it does, the place that parts two known keys is the right one.
func (d *redaction) pair(keys string) string {
	for i := range len(keys) {
		if keys[i] != '/' {
			continue
		}
		task, taskKnown := d.names[keys[:i]]
		node, nodeKnown := d.names[keys[i+1:]]
		switch {
		case taskKnown && nodeKnown:
			return task + "/" + node
		case taskKnown:
			return task + keys[i:]
		case nodeKnown:
			return keys[:i+1] + node
		}
	}
	out, _, _ := d.clean(keys)
	return out
}
