package image

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// Redacting makes digests and other derived values of rewritten texts again, with the
// functions that made them first.

const deleteVectors = `DELETE FROM embeddings WHERE memory_id = ?`

// maxDigests bounds the digests that are translated in the change log; those
// beyond are emptied there.
const maxDigests = 1 << 15

// redigested notes that a text has another digest now.
func (d *redaction) redigested(old, new string) {
	if old == new || len(d.digests) == maxDigests {
		return
	}
	d.digests[amber.ContentDigest(old)] = amber.ContentDigest(new)
}

// digestOf makes the digest of a column again. A digest is public, whatever a
// text says about it.
func (d *redaction) digestOf(r *redactedRow, text, digest string) error {
	if !r.differs(text) && !r.differs(digest) {
		return nil
	}
	d.redigested(r.was(text), r.is(text))
	sum := amber.ContentDigest(r.is(text))
	d.allow(sum)
	r.set(digest, sum)
	return nil
}

// memory makes again what a row of memories has beside its texts.
func (d *redaction) memory(r *redactedRow) error {
	if !r.changed() {
		return nil
	}
	m := amber.Memory{
		Kind: amber.MemoryKind(r.is("kind")), Scope: amber.Scope(r.is("scope")),
		Identities: amber.Identities{
			SessionID: amber.SessionID(r.is("session_id")), UserID: r.is("user_id"),
			ProjectID: r.is("project_id"), WorkspaceID: r.is("workspace_id"),
		},
		Title: r.is("title"), Topic: r.is("topic"), Tags: sqlrows.SplitLines(r.is("tags")), Summary: r.is("summary"), Content: r.is("content"),
	}
	r.set("identity", m.Identity())
	n, err := d.Exec(deleteVectors, r.was("id"))
	d.vectors += n
	if err != nil {
		return err
	}
	return d.digestOf(r, "content", "content_digest")
}

// said gives what was said a new id where the old one may be a digest of it.
func (d *redaction) said(r *redactedRow, column string) error {
	if !r.differs(column) {
		return nil
	}
	d.redigested(r.was(column), r.is(column))
	if isHexID(r.is("id")) {
		id := d.unused(func(n int64) string { return fmt.Sprintf("%032x", n) })
		r.set("id", d.rename(r.was("id"), id))
	}
	return nil
}

// isHexID reports whether an id is the beginning of a digest, as the crash
// journal makes them.
func isHexID(id string) bool {
	const digits = 32
	if len(id) != digits {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// record brings a record that a column holds as JSON in line with the rest: fix
// sees it as it was and as redacting its text has left it.
func record[T any](r *redactedRow, column string, fix func(old, new *T)) error {
	if !r.differs(column) {
		return nil
	}
	var before, after T
	if json.Unmarshal([]byte(r.was(column)), &before) != nil {
		return nil // none of ours; as a document it is redacted
	}
	if err := json.Unmarshal([]byte(r.is(column)), &after); err != nil {
		return fmt.Errorf("read redacted %s: %w", column, err)
	}
	fix(&before, &after)
	body, err := sqlrows.Marshal(after)
	r.set(column, body)
	return err
}

func (d *redaction) revision(r *redactedRow) error {
	return record(r, "body", d.fixMemory)
}

func (d *redaction) fixMemory(before, after *amber.Memory) {
	after.ID = amber.MemoryID(d.quietly(string(before.ID)))
	after.Identities = d.identities(before.Identities)
	after.Topic = d.quietly(before.Topic)
	after.Origin.Device = d.quietly(before.Origin.Device)
	slices.Sort(after.Tags)
	after.Tags = slices.Compact(after.Tags)
	after.ContentDigest = amber.ContentDigest(after.Content)
	d.redigested(before.Content, after.Content)
}

// version renames the devices in the names of versions as everywhere else.
func (d *redaction) version(r *redactedRow) error {
	for _, column := range []string{"version", "saw"} {
		origins, err := sqlrows.SplitVersions(r.was(column))
		if err != nil {
			continue // none of ours; as a text it is redacted
		}
		for i := range origins {
			origins[i].Device = d.quietly(origins[i].Device)
		}
		r.set(column, sqlrows.JoinVersions(origins))
	}
	return d.checkNames()
}

var writeReasons = []amber.WriteReason{
	amber.WriteOperator, amber.WriteTaskSucceeded, amber.WriteObservation, amber.WriteCompactSummary,
}

// answer makes the digest of a request again, which it can rebuild from the
// stored answer in most cases. It cannot where an equal memory was there and the
// request said more, for example. The file does not say what such a digest is of,
// so redacting removes the answer.
func (d *redaction) answer(r *redactedRow) error {
	var before, after amber.WriteAck
	if r.was("digest") == "" {
		return nil // a key whose memory was erased has no answer
	}
	if json.Unmarshal([]byte(r.was("answer")), &before) != nil {
		r.drop = true
		d.answers++
		return nil
	}
	i := slices.IndexFunc(writeReasons, func(reason amber.WriteReason) bool {
		return requestOf(before, reason).Digest() == r.was("digest")
	})
	if i < 0 {
		r.drop = true
		d.answers++
		return nil
	}
	if !r.changed() {
		return nil
	}
	err := record(r, "answer", func(old, new *amber.WriteAck) {
		d.fixMemory(&old.Memory, &new.Memory)
		after = *new
	})
	if err != nil {
		return err
	}
	if !r.differs("answer") {
		after = before
	}
	digest := requestOf(after, writeReasons[i]).Digest()
	d.allow(digest)
	r.set("digest", digest)
	return nil
}

// requestOf returns the request that has led to a memory.
func requestOf(a amber.WriteAck, reason amber.WriteReason) amber.WriteRequest {
	r := a.AsRequest()
	r.Reason = reason
	return r
}
