package amber

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ContentDigest returns the hex SHA-256 of content.
func ContentDigest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Normalize fills defaults, brings topic and tags into their canonical form
// and checks every rule a write must keep. Backends call it before they
// store. The error is of kind invalid and names the field.
func (r WriteRequest) Normalize() (WriteRequest, error) {
	r.Kind = orDefault(r.Kind, WorkspaceFact).Canonical()
	r.Scope = orDefault(r.Scope, r.Narrowest())
	r.Reason = orDefault(r.Reason, WriteOperator)
	r.Trust = orDefault(r.Trust, TrustOwn)
	r.Title = strings.TrimSpace(r.Title)
	r.Topic = normalizeTopic(r.Topic)
	var err error
	if r.Tags, err = normalizeTags(r.Tags); err != nil {
		return r, err
	}
	r.Metadata = maps.Clone(r.Metadata)
	r.SourceRefs = slices.Clone(r.SourceRefs)
	if err := cmp.Or(
		checkKind(r.Kind), CheckScope(r.Scope, r.Identities), r.check(),
		checkTrust(r.Trust), r.Author.Check(),
		CheckOneOf("reason", r.Reason, WriteOperator, WriteTaskSucceeded, WriteObservation, WriteCompactSummary),
		CheckText("content", r.Content, MaxContentBytes, r.contentRule()),
		CheckText("title", r.Title, MaxTitleBytes, OneLine),
		CheckText("summary", r.Summary, MaxSummaryBytes, 0),
		CheckText("topic", r.Topic, MaxTopicBytes, OneLine),
		checkMetadata(r.Metadata), checkSourceRefs(r.SourceRefs),
		CheckOptionalID("idempotency key", r.IdempotencyKey),
	); err != nil {
		return r, err
	}
	return r.normalizeRecorded()
}

// Digest identifies the request for the idempotency rule: two requests with
// equal digests ask for the same thing. The key itself is not part of it, nor is
// the author: a request that is repeated in another session is the same.
func (r WriteRequest) Digest() string {
	r.IdempotencyKey, r.Author = "", Author{}
	b, err := json.Marshal(r)
	if err != nil {
		panic("amber: a write request always marshals: " + err.Error())
	}
	return ContentDigest(string(b))
}

// Apply returns m with the edit applied and checked, and whether anything
// changed. Revision, origin and times are the store's to set. Errors: invalid;
// refused where m is trusted more than the caller.
func (r EditRequest) Apply(m Memory) (Memory, bool, error) {
	r.Trust = orDefault(r.Trust, TrustOwn)
	if err := m.Trust.MayChange(r.Trust, "edit memory", string(r.ID)); err != nil {
		return m, false, err
	}
	next := m
	if r.Kind != nil {
		next.Kind = r.Kind.Canonical()
	}
	setIf(&next.Content, r.Content)
	setIf(&next.Summary, r.Summary)
	if r.Title != nil {
		next.Title = strings.TrimSpace(*r.Title)
	}
	if r.Tags != nil {
		tags, err := normalizeTags(*r.Tags)
		if err != nil {
			return m, false, err
		}
		next.Tags = tags
	}
	if r.Metadata != nil {
		next.Metadata = maps.Clone(*r.Metadata)
	}
	next.ContentDigest = ContentDigest(next.Content)
	err := cmp.Or(
		checkKind(next.Kind),
		CheckText("content", next.Content, MaxContentBytes, Required),
		CheckText("title", next.Title, MaxTitleBytes, OneLine),
		CheckText("summary", next.Summary, MaxSummaryBytes, 0),
		checkMetadata(next.Metadata), checkTrust(r.Trust), r.Author.Check(),
	)
	if err != nil {
		return m, false, err
	}
	said := next.Kind != m.Kind || next.Content != m.Content || next.Summary != m.Summary || next.Title != m.Title
	if r.Trust.Outranks(m.Trust) && (r.Keep || said && m.Trust == TrustAgent) {
		next.Trust = r.Trust
	}
	changed := said || next.Trust != m.Trust || !slices.Equal(next.Tags, m.Tags) || !maps.Equal(next.Metadata, m.Metadata)
	if changed {
		next.Author = r.Author
	}
	return next, changed, nil
}

// Normalize fills defaults, clamps the limit and checks the query. Backends
// call it first. The error is of kind invalid.
func (q Query) Normalize() (Query, []Clamp, error) {
	q.Reason = orDefault(q.Reason, RecallManual)
	var clamped []Clamp
	switch {
	case q.Limit < 0:
		return q, nil, Errorf(KindInvalid, "check query", "", "limit is %d, want 0 or more", q.Limit)
	case q.Limit == 0:
		q.Limit = DefaultTopK
	case q.Limit > MaxTopK:
		clamped = append(clamped, Clamp{Key: "limit", Requested: int64(q.Limit), Effective: MaxTopK})
		q.Limit = MaxTopK
	}
	var err error
	if q.Filter, err = q.Filter.normalize(); err != nil {
		return q, nil, err
	}
	if q.Scope != "" {
		if err := CheckScope(q.Scope, q.Identities); err != nil {
			return q, nil, err
		}
	}
	if q.Layers, err = checkLayers(q.Layers, len(q.Kinds)+len(q.Tags) > 0); err != nil {
		return q, nil, err
	}
	if !(q.MinScore >= 0 && q.MinScore <= 1) {
		return q, nil, Errorf(KindInvalid, "check query", "", "min score is %v, want 0 to 1", q.MinScore)
	}
	return q, clamped, cmp.Or(
		CheckText("query", q.Text, MaxQueryBytes, Lenient),
		CheckOneOf("reason", q.Reason, RecallManual, RecallRequest, RecallResume),
	)
}

// NormalizeAll is Normalize for a question to everything. Errors: invalid, also when the query names a scope; refused without
// leave.
func (q Query) NormalizeAll(l Leave) (Query, []Clamp, error) {
	if err := l.Check(); err != nil {
		return q, nil, err
	}
	if q.Scope != "" {
		return q, nil, Errorf(KindInvalid, "check query", "", "a question to everything names the scope %.40q", q.Scope)
	}
	return q.Normalize()
}

// checkLayers returns the layers a query asks, in their order, each once.
func checkLayers(layers []RecallLayer, memoriesOnly bool) ([]RecallLayer, error) {
	for _, l := range layers {
		if err := CheckOneOf("layer", l, RecallLayers()...); err != nil {
			return nil, err
		}
	}
	if len(layers) == 0 && memoriesOnly {
		return []RecallLayer{LayerMemory}, nil
	}
	return slices.DeleteFunc(RecallLayers(), func(l RecallLayer) bool { return len(layers) > 0 && !slices.Contains(layers, l) }), nil
}

// Normalize fills defaults and checks the query. Backends call it first. The
// error is of kind invalid.
func (q ListQuery) Normalize() (ListQuery, error) {
	switch {
	case q.Limit < 0:
		return q, Errorf(KindInvalid, "check list", "", "limit is %d, want 0 or more", q.Limit)
	case q.Limit == 0:
		q.Limit = DefaultPageSize
	}
	q.Limit = min(q.Limit, MaxPageSize)
	var err error
	if q.All && q.Scope != "" {
		err = CheckOneOf("scope", q.Scope, Scopes()...)
	} else if q.Scope != "" {
		err = CheckScope(q.Scope, q.Identities)
	}
	if err == nil && q.Trust != "" {
		err = checkTrust(q.Trust)
	}
	if err == nil && q.Waiting != "" {
		err = CheckOneOf("waiting", q.Waiting, Reviews()...)
	}
	if err != nil {
		return q, err
	}
	q.Filter, err = q.Filter.normalize()
	return q, err
}

func (f Filter) normalize() (Filter, error) {
	var err error
	if f.Tags, err = normalizeTags(f.Tags); err != nil {
		return f, err
	}
	f.Kinds = slices.Clone(f.Kinds)
	for i, k := range f.Kinds {
		f.Kinds[i] = k.Canonical()
		if err := checkKind(f.Kinds[i]); err != nil {
			return f, err
		}
	}
	return f, f.Identities.check()
}

// Sees reports whether a memory of scope s and identities record passes the
// scope rule of the filter.
func (f Filter) Sees(s Scope, record Identities) bool {
	return (f.Scope == "" || f.Scope == s) && f.Identities.Sees(s, record)
}

// CheckScope checks that s is a scope and that its identity is known in ids.
// The error is of kind invalid.
func CheckScope(s Scope, ids Identities) error {
	if !slices.Contains(Scopes(), s) {
		return Errorf(KindInvalid, "check scope", "", "%.40q is not one of %s", s, join(Scopes()))
	}
	if s != ScopeGlobal && ids.For(s) == "" {
		return Errorf(KindInvalid, "check scope", "", "scope %s needs a %s id", s, s)
	}
	return nil
}

func (i Identities) check() error {
	return cmp.Or(
		CheckOptionalID("session id", string(i.SessionID)),
		CheckOptionalID("user id", i.UserID),
		CheckOptionalID("project id", i.ProjectID),
		CheckOptionalID("workspace id", i.WorkspaceID),
	)
}

func checkKind(k MemoryKind) error { return CheckOneOf("kind", k, MemoryKinds()...) }

// CheckOneOf checks that v is one of all. The error is of kind invalid.
func CheckOneOf[T ~string](what string, v T, all ...T) error {
	if slices.Contains(all, v) {
		return nil
	}
	return Errorf(KindInvalid, "check "+what, "", "%.40q is not one of %s", v, join(all))
}

func join[T ~string](vs []T) string {
	ss := make([]string, len(vs))
	for i, v := range vs {
		ss[i] = string(v)
	}
	return strings.Join(ss, ", ")
}

// TextRule says what [CheckText] asks of a text beyond size and UTF-8.
type TextRule int

// The rules; zero asks for nothing more.
const (
	Required TextRule = 1 << iota // not blank
	OneLine                       // no line break or tab
	Lenient                       // control characters pass, NUL does not
)

// CheckText checks a text from outside: at most max bytes, valid UTF-8, no
// control characters but line breaks and tabs, and what rule adds. The error is
// of kind invalid; what says which text it is.
func CheckText(what, s string, max int, rule TextRule) error {
	fail := func(format string, args ...any) error {
		return Errorf(KindInvalid, "check "+what, "", what+" "+format, args...)
	}
	switch {
	case len(s) > max:
		return fail("has %d bytes, the limit is %d", len(s), max)
	case !utf8.ValidString(s):
		return fail("is not valid UTF-8")
	case rule&Required != 0 && strings.TrimSpace(s) == "":
		return fail("is empty")
	}
	for i, r := range s {
		space := r == '\n' || r == '\t' || r == '\r'
		switch {
		case r == 0,
			unicode.IsControl(r) && !space && rule&Lenient == 0,
			space && rule&OneLine != 0:
			return fail("contains the control character %U at byte %d", r, i)
		}
	}
	return nil
}

// normalizeTopic makes topics that people write differently equal: lower
// case, words joined by '-'.
func normalizeTopic(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(s)), "-")
}

// normalizeTags trims, sorts and removes doubles.
func normalizeTags(tags []string) ([]string, error) {
	out := make([]string, 0, len(tags))
	for _, t := range tags {
		t = strings.TrimSpace(t)
		if err := CheckText("tag", t, MaxTagBytes, Required|OneLine); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) > MaxTags {
		return nil, Errorf(KindInvalid, "check tags", "", "%d tags are given, the limit is %d", len(out), MaxTags)
	}
	return out, nil
}

func checkMetadata(m map[string]string) error {
	if len(m) > MaxMetadata {
		return Errorf(KindInvalid, "check metadata", "", "metadata has %d keys, the limit is %d", len(m), MaxMetadata)
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if err := cmp.Or(CheckID("metadata key", k), CheckText("metadata value", m[k], MaxMetadataBytes, 0)); err != nil {
			return err
		}
	}
	return nil
}

func checkSourceRefs(refs []SourceRef) error {
	if len(refs) > MaxSourceRefs {
		return Errorf(KindInvalid, "check source refs", "", "%d source refs are given, the limit is %d", len(refs), MaxSourceRefs)
	}
	for _, r := range refs {
		if err := cmp.Or(CheckID("source kind", r.Kind), CheckText("source value", r.Value, MaxMetadataBytes, Required|OneLine)); err != nil {
			return err
		}
	}
	return nil
}

func orDefault[T ~string](v, def T) T {
	if v == "" {
		return def
	}
	return v
}

func setIf[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}
