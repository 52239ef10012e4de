package amber

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Recorded is what a memory brings that was stored before, here or elsewhere, as
// a listing shows it: see [WriteRequest].
//
// Without ID only CreatedAt and UpdatedAt may be set: a new memory gets these
// dates, the one for the other where only one is set, and a new revision of a
// topic gets UpdatedAt. An equal memory that is stored keeps its dates.
//
// With ID the request is a memory as it was listed, deleted ones too. It is stored
// under its ID as it is, beside memories that say the same; without Origin it
// gets one of this store, without Revision its first. Its ID never replaces a
// memory: one that says the same stays as it is, and anything else is a conflict.
type Recorded struct {
	ID             MemoryID                   `json:"id,omitempty" redact:"-"`
	Origin         Origin                     `json:"origin,omitzero"`
	Revision       int64                      `json:"revision,omitempty"`
	ContentDigest  string                     `json:"content_digest,omitempty" redact:"-"`
	DuplicateCount int64                      `json:"duplicate_count,omitempty"`
	CreatedAt      Time                       `json:"created_at,omitzero"`
	UpdatedAt      Time                       `json:"updated_at,omitzero"`
	DeletedAt      Time                       `json:"deleted_at,omitzero"`
	Foreign        map[string]json.RawMessage `json:"foreign,omitempty" redact:"raw"`
}

const (
	// maxRecorded bounds the numbers that another program gives a memory, so that there is always a next one.
	maxRecorded = 1 << 53
	// maxAhead is how far in the future a new memory may be dated: clocks differ,
	// and so do readers of dates without a time zone.
	maxAhead = 24 * time.Hour
)

// isTombstone reports whether the request is a deleted memory without text, as a
// deletion that came from another device leaves it.
func (r WriteRequest) isTombstone() bool {
	return r.ID != "" && !r.DeletedAt.IsZero() && r.Content == ""
}

// contentRule is what the content must keep beside its size.
func (r WriteRequest) contentRule() TextRule {
	if r.isTombstone() {
		return 0
	}
	return Required
}

// normalizeRecorded fills and checks what a request, normalised apart from that,
// brings of a memory that was stored before.
func (r WriteRequest) normalizeRecorded() (WriteRequest, error) {
	if err := checkTimes(r.CreatedAt, r.UpdatedAt, r.DeletedAt); err != nil {
		return r, err
	}
	if r.ID == "" {
		return r, r.checkUnnamed()
	}
	if r.Revision == 0 {
		r.Revision = 1
	}
	if r.ContentDigest == "" && !r.isTombstone() {
		r.ContentDigest = ContentDigest(r.Content)
	}
	if len(r.Foreign) == 0 {
		r.Foreign = nil
	}
	r.Foreign = maps.Clone(r.Foreign)
	_, err := ParseMemoryID(string(r.ID))
	return r, cmp.Or(err, r.checkOrigin(), r.checkNumbers(), r.checkRecordedText(), checkForeign(r.ID, r.Foreign))
}

// checkUnnamed refuses what says nothing without an id.
func (r WriteRequest) checkUnnamed() error {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"origin", r.Origin != Origin{}},
		{"revision", r.Revision != 0},
		{"content_digest", r.ContentDigest != ""},
		{"duplicate_count", r.DuplicateCount != 0},
		{"deleted_at", !r.DeletedAt.IsZero()},
		{"foreign", len(r.Foreign) > 0},
	} {
		if f.set {
			return Errorf(KindInvalid, "check memory", "", "%s is set and id is not: a memory without an id has no %s yet", f.name, f.name)
		}
	}
	return nil
}

// checkOrigin is what an import asks of the origin of a memory that is not known.
func (r WriteRequest) checkOrigin() error {
	switch {
	case r.Origin == Origin{}:
		return nil
	case r.Origin.Counter > MaxCounterJump:
		return Errorf(KindInvalid, "check memory", string(r.ID), "counter of the origin is %d, want 1 to %d", r.Origin.Counter, MaxCounterJump)
	}
	return r.Origin.check()
}

func (r WriteRequest) checkNumbers() error {
	if r.Revision < 1 || r.Revision > maxRecorded || r.DuplicateCount < 0 || r.DuplicateCount > maxRecorded {
		return Errorf(KindInvalid, "check memory", string(r.ID),
			"revision is %d and duplicate count %d, want at least 1 and 0, at most 2^53", r.Revision, r.DuplicateCount)
	}
	return nil
}

// checkRecordedText checks that digest and id are those of the text.
func (r WriteRequest) checkRecordedText() error {
	if r.isTombstone() {
		if r.Title+r.Summary+r.Topic+r.ContentDigest != "" || len(r.Tags)+len(r.Metadata)+len(r.SourceRefs)+len(r.Foreign) > 0 {
			return Errorf(KindInvalid, "check memory", string(r.ID), "memory is deleted, has no content and still has other text")
		}
		return nil
	}
	if ContentDigest(r.Content) != r.ContentDigest {
		return Errorf(KindInvalid, "check memory", string(r.ID), "content_digest is not the digest of the content")
	}
	m := Memory{ID: r.ID, Scope: r.Scope, Identities: r.Identities, Topic: r.Topic}
	if r.Topic != "" && !m.HasTopicID() {
		return Errorf(KindInvalid, "check memory", string(r.ID), "id does not belong to topic %s", r.Topic)
	}
	return nil
}

// checkForeign checks the fields of another tool that a memory brings.
func checkForeign(id MemoryID, fields map[string]json.RawMessage) error {
	size := 0
	for name, raw := range fields {
		size += len(name) + len(raw)
		if !json.Valid(raw) {
			return Errorf(KindInvalid, "check memory", string(id), "foreign field %.40q is not JSON", name)
		}
	}
	if size > maxForeignBytes {
		return Errorf(KindInvalid, "check memory", string(id), "foreign fields have %d bytes, the limit is %d", size, maxForeignBytes)
	}
	return nil
}

// CheckDates checks that a memory which is new here is not dated in the future,
// give or take a day. Backends call it. The error is of kind invalid.
func (r WriteRequest) CheckDates(now Time) error {
	if r.ID != "" {
		return nil
	}
	for _, t := range []Time{r.CreatedAt, r.UpdatedAt} {
		if now.Add(maxAhead).Before(t) {
			return Errorf(KindInvalid, "check time", "", "%s is in the future: it is %s now", t, now)
		}
	}
	return nil
}

// Dates returns when a new memory was made and last changed: what was recorded,
// now otherwise. Backends call it.
func (r Recorded) Dates(now Time) (created, updated Time) {
	created = cmp.Or(r.CreatedAt, r.UpdatedAt, now)
	return created, cmp.Or(r.UpdatedAt, created)
}

// Fill returns m, the memory that a request with an id describes, with all that
// was recorded of it. Where the origin is zero the store makes one. Backends call
// it.
func (r Recorded) Fill(m Memory, now Time) Memory {
	m.ID, m.Origin, m.Revision, m.ContentDigest = r.ID, r.Origin, r.Revision, r.ContentDigest
	m.DuplicateCount, m.DeletedAt, m.Foreign = r.DuplicateCount, r.DeletedAt, r.Foreign
	m.CreatedAt, m.UpdatedAt = r.Dates(now)
	return m
}

// CheckStored checks a normalised request with an id against the memory that is
// stored under it. Nil means that they say the same, or that both are deleted.
// Backends call it. The error is of kind conflict.
func (r WriteRequest) CheckStored(m Memory) error {
	switch gone := !m.DeletedAt.IsZero(); {
	case gone && r.DeletedAt.IsZero():
		return Errorf(KindConflict, "write memory", string(r.ID), "a memory with this id was forgotten here and stays so").
			WithHint("amber history " + string(r.ID))
	case gone || r.DeletedAt.IsZero() && r.says(m):
		return nil
	case !r.DeletedAt.IsZero():
		return Errorf(KindConflict, "write memory", string(r.ID), "a memory with this id is stored and was not forgotten here").
			WithHint("amber get " + string(r.ID))
	}
	return Errorf(KindConflict, "write memory", string(r.ID), "a memory with this id is stored and says something else").
		WithHint("amber get " + string(r.ID))
}

func (r WriteRequest) says(m Memory) bool {
	return r.Title == m.Title && r.Content == m.Content && r.Summary == m.Summary && r.Topic == m.Topic &&
		r.Kind == m.Kind && r.Scope == m.Scope && r.Identities == m.Identities &&
		slices.Equal(r.Tags, m.Tags) && maps.Equal(r.Metadata, m.Metadata)
}

// WasErased is the conflict of a request whose id was erased. Backends return it.
func (r WriteRequest) WasErased() error {
	return Errorf(KindConflict, "write memory", string(r.ID), "the memory with this id was erased here and stays erased")
}
