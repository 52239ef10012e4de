package amber_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A key that was used before Recorded was part of a request must still match.
func TestDigestsOfRequestsAreThoseOfEarlierReleases(t *testing.T) {
	t.Parallel()
	full := amber.WriteRequest{
		Kind: amber.ProjectFact, Scope: amber.ScopeProject,
		Identities: amber.Identities{SessionID: "s1", UserID: "u1", ProjectID: "acme/shop", WorkspaceID: "w1"},
		Title:      "t", Content: "c", Summary: "s", Topic: "Release Plan", Tags: []string{"b", "a"}, Metadata: map[string]string{"k": "v"},
		SourceRefs: []amber.SourceRef{{Kind: "file", Value: "a.go"}}, Reason: amber.WriteObservation, Trust: amber.TrustImported, IdempotencyKey: "key",
	}
	for want, r := range map[string]amber.WriteRequest{
		"24f72d2a5ae2c19192adaef5d96cf75a65a86b6f273d2c795d4559d45e4c0d0b": {Content: "c"},
		"602251cc1142497ba2e351f23efcc5355fd8c65f2c9cab578c5fffe70cd828f2": full,
	} {
		must.Equal(t, r.Content+" "+r.Title, must.Get(r.Normalize())(t).Digest(), want)
	}
	dated := amber.WriteRequest{Content: "c", Recorded: amber.Recorded{CreatedAt: amber.UnixMilli(1)}}
	if must.Get(dated.Normalize())(t).Digest() == must.Get(amber.WriteRequest{Content: "c"}.Normalize())(t).Digest() {
		t.Error("the date of a request is not part of its digest")
	}
}

// Every field of a memory is one of a request, under the same name.
func TestARequestTakesAMemoryAsItIsListed(t *testing.T) {
	t.Parallel()
	m := shapes()["memory"].(amber.Memory)
	line := must.Get(json.Marshal(m))(t)
	var r amber.WriteRequest
	d := json.NewDecoder(strings.NewReader(string(line)))
	d.DisallowUnknownFields()
	must.Do(t, d.Decode(&r))
	filled := r.Fill(amber.Memory{
		Kind: r.Kind, Scope: r.Scope, Identities: r.Identities, Title: r.Title, Content: r.Content, Summary: r.Summary, Topic: r.Topic,
		Tags: r.Tags, Metadata: r.Metadata, SourceRefs: r.SourceRefs, Trust: r.Trust,
	}, amber.UnixMilli(1))
	if d := cmp.Diff(m, filled, cmp.AllowUnexported(amber.Time{})); d != "" {
		t.Errorf("a memory that was listed and read (-want +got):\n%s", d)
	}
}

// recordedRequest is a memory as it was listed.
func recordedRequest() amber.WriteRequest {
	return amber.WriteRequest{Content: "c", Recorded: amber.Recorded{
		ID: "0190a000-0000-7000-8000-000000000001", Origin: amber.Origin{Device: "far", Counter: 3, Clock: 1 << 20}, Revision: 2,
		ContentDigest: amber.ContentDigest("c"), DuplicateCount: 1, CreatedAt: amber.UnixMilli(1), UpdatedAt: amber.UnixMilli(2),
		Foreign: map[string]json.RawMessage{"x": json.RawMessage(`[1]`)},
	}}
}

func TestRecordedIsChecked(t *testing.T) {
	t.Parallel()
	must.Get(recordedRequest().Normalize())(t)
	for name, c := range map[string]struct {
		spoil func(r *amber.WriteRequest)
		want  string // in the error
	}{
		"no UUID":            {func(r *amber.WriteRequest) { r.ID = "x" }, "is not a UUID"},
		"other digest":       {func(r *amber.WriteRequest) { r.ContentDigest = amber.ContentDigest("d") }, "content_digest"},
		"other topic":        {func(r *amber.WriteRequest) { r.Topic = "t" }, "topic t"},
		"no device":          {func(r *amber.WriteRequest) { r.Origin.Device = "" }, "device"},
		"no counter":         {func(r *amber.WriteRequest) { r.Origin.Counter = 0 }, "counter"},
		"high counter":       {func(r *amber.WriteRequest) { r.Origin.Counter = amber.MaxCounterJump + 1 }, "counter"},
		"clock out of range": {func(r *amber.WriteRequest) { r.Origin.Clock = 1 << 63 }, "clock"},
		"negative revision":  {func(r *amber.WriteRequest) { r.Revision = -1 }, "revision"},
		"high revision":      {func(r *amber.WriteRequest) { r.Revision = 1<<53 + 1 }, "revision"},
		"negative count":     {func(r *amber.WriteRequest) { r.DuplicateCount = -1 }, "duplicate count"},
		"time before 1970":   {func(r *amber.WriteRequest) { r.CreatedAt = amber.UnixMilli(-1) }, "out of range"},
		"time after 6429":    {func(r *amber.WriteRequest) { r.UpdatedAt = amber.UnixMilli(1 << 47) }, "out of range"},
		"deleted too late":   {func(r *amber.WriteRequest) { r.DeletedAt = amber.UnixMilli(1 << 47) }, "out of range"},
		"no JSON":            {func(r *amber.WriteRequest) { r.Foreign["x"] = json.RawMessage(`{`) }, "foreign"},
		"too much foreign":   {func(r *amber.WriteRequest) { r.Foreign["y"] = json.RawMessage(`"` + strings.Repeat("y", 1<<20) + `"`) }, "foreign"},
		"no content":         {func(r *amber.WriteRequest) { r.Content, r.ContentDigest = "", "" }, "content"},
		"half a tombstone": {func(r *amber.WriteRequest) {
			r.DeletedAt, r.Content, r.ContentDigest = amber.UnixMilli(3), "", ""
		}, "deleted"},
		"origin alone": {func(r *amber.WriteRequest) {
			*r = amber.WriteRequest{Content: "c", Recorded: amber.Recorded{Origin: r.Origin}}
		}, "origin is set"},
		"revision alone": {func(r *amber.WriteRequest) {
			*r = amber.WriteRequest{Content: "c", Recorded: amber.Recorded{Revision: 2}}
		}, "revision is set"},
		"digest alone": {func(r *amber.WriteRequest) {
			*r = amber.WriteRequest{Content: "c", Recorded: amber.Recorded{ContentDigest: "x"}}
		}, "content_digest is set"},
		"count alone": {func(r *amber.WriteRequest) {
			*r = amber.WriteRequest{Content: "c", Recorded: amber.Recorded{DuplicateCount: 2}}
		}, "duplicate_count is set"},
		"deletion alone": {func(r *amber.WriteRequest) {
			*r = amber.WriteRequest{Content: "c", Recorded: amber.Recorded{DeletedAt: amber.UnixMilli(1)}}
		}, "deleted_at is set"},
		"foreign alone": {func(r *amber.WriteRequest) {
			*r = amber.WriteRequest{Content: "c", Recorded: amber.Recorded{Foreign: r.Foreign}}
		}, "foreign is set"},
		"dates too early": {func(r *amber.WriteRequest) {
			*r = amber.WriteRequest{Content: "c", Recorded: amber.Recorded{CreatedAt: amber.UnixMilli(-1)}}
		}, "out of range"},
	} {
		r := recordedRequest()
		c.spoil(&r)
		_, err := r.Normalize()
		must.Kind(t, name, err, amber.KindInvalid, c.want)
	}
}

func TestATombstoneIsTakenWithAndWithoutText(t *testing.T) {
	t.Parallel()
	r := recordedRequest()
	r.DeletedAt = amber.UnixMilli(3)
	must.Get(r.Normalize())(t)
	r.Content, r.ContentDigest, r.Foreign = "", "", nil
	must.Equal(t, "digest of no text", must.Get(r.Normalize())(t).ContentDigest, "")
}
