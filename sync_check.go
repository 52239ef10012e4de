package amber

import (
	"cmp"
	"fmt"
	"slices"
)

// maxSaw bounds the versions one version may name.
const maxSaw = 64

// maxForeignBytes bounds the fields of another tool that a memory brings.
const maxForeignBytes = 1 << 20

// Check checks a record that came from elsewhere by the rules of the store:
// one kind of record, ids, sizes, UTF-8, kinds and scopes, digests, that a
// topic has its id, and that a tombstone has no text. The error is of kind
// invalid and names the record.
func (r SyncRecord) Check() error {
	var err error
	kinds := 0
	check := func(set bool, fn func() error) {
		if !set {
			return
		}
		kinds++
		if err == nil {
			err = fn()
		}
	}
	check(r.Session != nil, func() error { return r.Session.check() })
	check(r.Memory != nil, func() error { return r.Memory.check() })
	check(r.Prompt != nil, func() error { return checkPrompt(*r.Prompt) })
	check(r.Relation != nil, func() error { return checkSyncRelation(*r.Relation) })
	check(r.Erased != nil, func() error { return r.Erased.check() })
	check(r.Gone != nil, func() error { return r.Gone.check() })
	if err == nil && kinds != 1 {
		return Errorf(KindInvalid, "check record", "", "line holds %d records, want 1", kinds)
	}
	return err
}

// Ref names the record: scope and id, and for relations scope relation.
func (r SyncRecord) Ref() SyncRef {
	switch {
	case r.Session != nil:
		return SyncRef{ChangeSession, string(r.Session.ID)}
	case r.Memory != nil:
		return SyncRef{ChangeMemory, string(r.Memory.ID)}
	case r.Prompt != nil:
		return SyncRef{ChangeTurn, string(r.Prompt.ID)}
	case r.Relation != nil:
		return SyncRef{SyncRelation, r.Relation.ID}
	case r.Erased != nil:
		return SyncRef{ChangeMemory, string(r.Erased.ID)}
	case r.Gone != nil:
		return SyncRef{r.Gone.Scope, r.Gone.ID}
	}
	return SyncRef{}
}

// Mark names the version.
func (r SyncRecord) Mark() SyncMark {
	m := SyncMark{Ref: r.Ref(), Origin: r.Origin()}
	if r.Relation != nil { // two devices may have given one relation two ids
		m.Ref.ID = fmt.Sprintf("%s %s %s", r.Relation.From, r.Relation.To, r.Relation.Type)
	}
	return m
}

// SyncRelation is the scope of relations among records; the change log counts
// them to the memory they begin at.
const SyncRelation ChangeScope = "relation"

// Origin returns the origin of the version; prompts never change and have none.
func (r SyncRecord) Origin() Origin {
	switch {
	case r.Session != nil:
		return r.Session.Origin
	case r.Memory != nil:
		return r.Memory.Origin
	case r.Relation != nil:
		return r.Relation.Origin
	case r.Erased != nil:
		return r.Erased.Origin
	case r.Gone != nil:
		return r.Gone.Origin
	}
	return Origin{}
}

// check checks that the origin could be one of this format: a device, a
// counter from 1 that fits, a clock that is a time.
func (o Origin) check() error {
	switch {
	case o.Counter == 0 || o.Counter > 1<<62:
		return Errorf(KindInvalid, "check origin", "", "counter is %d, want 1 to 2^62", o.Counter)
	case o.Clock>>63 != 0:
		return Errorf(KindInvalid, "check origin", "", "clock %x is out of range", uint64(o.Clock))
	}
	return CheckID("device", o.Device)
}

func (m SyncMemory) check() error {
	_, idErr := ParseMemoryID(string(m.ID))
	if err := cmp.Or(idErr, m.Origin.check(), checkTimes(m.CreatedAt, m.UpdatedAt, m.DeletedAt)); err != nil {
		return err
	}
	if len(m.Saw) > maxSaw {
		return Errorf(KindInvalid, "check memory", string(m.ID), "record names %d earlier versions, the limit is %d", len(m.Saw), maxSaw)
	}
	for _, o := range m.Saw {
		if err := o.check(); err != nil {
			return err
		}
		if !m.Origin.After(o) {
			return Errorf(KindInvalid, "check memory", string(m.ID), "record names an earlier version that is later than the record")
		}
	}
	if m.Revision < 1 || m.DuplicateCount < 0 {
		return Errorf(KindInvalid, "check memory", string(m.ID), "revision is %d and duplicate count %d, want at least 1 and 0", m.Revision, m.DuplicateCount)
	}
	if !m.DeletedAt.IsZero() {
		return m.checkTombstone()
	}
	return m.checkText()
}

// checkTombstone checks that nothing is left but what orders it.
func (m SyncMemory) checkTombstone() error {
	if m.Title+m.Content+m.Summary+m.Topic+m.ContentDigest != "" || len(m.Tags)+len(m.Metadata)+len(m.SourceRefs)+len(m.Foreign) > 0 {
		return Errorf(KindInvalid, "check memory", string(m.ID), "memory is deleted and still has text")
	}
	return cmp.Or(checkKind(m.Kind), CheckScope(m.Scope, m.Identities), m.Identities.check(),
		checkTrust(m.Trust), m.Author.Check())
}

// checkText checks a live version by the rules of writing one.
func (m SyncMemory) checkText() error {
	n, err := m.AsRequest().Normalize()
	switch {
	case err != nil:
		return err
	case n.Kind != m.Kind, n.Scope != m.Scope, n.Trust != m.Trust, n.Title != m.Title, n.Topic != m.Topic, !slices.Equal(n.Tags, m.Tags):
		return Errorf(KindInvalid, "check memory", string(m.ID), "fields are not in canonical form")
	case ContentDigest(m.Content) != m.ContentDigest:
		return Errorf(KindInvalid, "check memory", string(m.ID), "content_digest is not the digest of the content")
	case m.Topic != "" && !m.HasTopicID():
		return Errorf(KindInvalid, "check memory", string(m.ID), "id does not belong to the topic")
	}
	return cmp.Or(checkForeign(m.ID, m.Foreign), m.Author.Check())
}

// maxEpochs bounds how often one topic may have been erased.
const maxEpochs = 32

// LaterTopicIDs returns the ids that the topic of m has in the epochs after one, the latest first. A record may come from a store
// where the topic was erased more often than here; what is written about the topic goes on in it. Backends call it.
func (m Memory) LaterTopicIDs(epoch int) []MemoryID {
	var ids []MemoryID
	for later := maxEpochs - 1; later > epoch; later-- {
		ids = append(ids, TopicID(m.ProjectID, m.Scope, m.Identity(), m.Topic, later))
	}
	return ids
}

// HasTopicID reports whether m has an id of its topic: under another one it
// would never be found by it.
func (m Memory) HasTopicID() bool {
	for epoch := range maxEpochs {
		if TopicID(m.ProjectID, m.Scope, m.Identity(), m.Topic, epoch) == m.ID {
			return true
		}
	}
	return false
}

func (s SyncSession) check() error {
	_, nameErr := CheckSessionName(s.Name)
	return cmp.Or(
		s.Origin.check(), CheckID("session id", string(s.ID)), nameErr,
		CheckID("binding", s.Binding), CheckOptionalID("project id", s.Project),
		CheckOptionalID("parent session id", string(s.Parent)), CheckOptionalID("end reason", string(s.EndReason)),
		CheckText("directory", s.Directory, 4096, OneLine), CheckText("summary", s.Summary, MaxSummaryBytes, 0),
		checkTimes(s.StartedAt, s.EndedAt, s.CreatedAt, s.UpdatedAt), checkForeignTrust(s.Trust),
	)
}

// checkForeignTrust checks the trust of a session, for which own is
// the empty one.
func checkForeignTrust(t Trust) error {
	return CheckOneOf("trust", t, "", TrustSigned, TrustImported)
}

func checkPrompt(t Turn) error {
	n, err := t.Normalize()
	switch {
	case err != nil:
		return err
	case n.ID == "" || t.Role != RoleUser:
		return Errorf(KindInvalid, "check prompt", string(t.ID), "prompt has no id or another role than %s", RoleUser)
	}
	return checkTimes(t.CreatedAt)
}

func checkSyncRelation(r Relation) error {
	_, err := r.Normalize()
	return cmp.Or(err, CheckID("relation id", r.ID), r.Origin.check(), checkTimes(r.CreatedAt, r.DeletedAt))
}

func (e SyncErased) check() error {
	_, err := ParseMemoryID(string(e.ID))
	return cmp.Or(err, e.Origin.check())
}

func (g SyncGone) check() error {
	return cmp.Or(CheckOneOf("scope", g.Scope, ChangeSession, ChangeTurn), CheckID("record id", g.ID), g.Origin.check())
}

// latest is the last millisecond that a stamp can hold.
const latest = 1<<47 - 1

func checkTimes(times ...Time) error {
	for _, t := range times {
		if ms := t.UnixMilli(); ms < 0 || ms > latest {
			return Errorf(KindInvalid, "check time", "", "%d ms is out of range", ms)
		}
	}
	return nil
}
