package wire_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

func TestUpdateState(t *testing.T) {
	t.Parallel()
	states := newStates(t)
	for _, step := range []struct {
		doc     string
		merge   bool
		version int64 // -1: whatever is stored
		want    string
		kind    amber.Kind
	}{
		{doc: `{"planning_mode":"react","n":12345678901234567890}`, merge: true, version: -1, want: `{"n":12345678901234567890,"planning_mode":"react"}`},
		{doc: `{"planning_mode":"tree_search","ui":{"theme":"dark","size":1}}`, merge: true, version: -1, want: `{"n":12345678901234567890,"planning_mode":"tree_search","ui":{"size":1,"theme":"dark"}}`},
		{doc: `{"n":null,"ui":{"size":null,"lang":"<de>"}}`, merge: true, version: 2, want: `{"planning_mode":"tree_search","ui":{"lang":"<de>","theme":"dark"}}`},
		{doc: `{"x":1}`, merge: true, version: 2, kind: amber.KindConflict},
		{doc: `[1]`, merge: true, version: -1, kind: amber.KindInvalid},
		{doc: strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), merge: true, version: -1, kind: amber.KindInvalid},
		{doc: `{"a"`, version: -1, kind: amber.KindInvalid},
		{doc: `[1]`, version: 0, kind: amber.KindConflict},
		{doc: `[1]`, version: -1, want: `[1]`},
		{doc: `{"x":1}`, merge: true, version: -1, kind: amber.KindInvalid},
	} {
		u := wire.StateUpdate{SessionID: "s", Document: json.RawMessage(step.doc), Merge: step.merge}
		if step.version >= 0 {
			u.IfVersion = &step.version
		}
		got, err := wire.UpdateState(t.Context(), states, u)
		if amber.KindOf(err) != step.kind || step.kind == "" && string(got.Document) != step.want {
			t.Errorf("%s over %d: got %s and %v, want %s %s", step.doc, step.version, got.Document, err, step.want, step.kind)
		}
	}
}

// A field that another program sets between the read and the write stays.
func TestUpdateStateLosesNothingOfOthers(t *testing.T) {
	t.Parallel()
	states := &busyStates{SessionStates: newStates(t), others: 3}
	got := must.Get(wire.UpdateState(t.Context(), states, wire.StateUpdate{SessionID: "s", Document: []byte(`{"mine":1}`), Merge: true}))(t)
	must.Equal(t, "document", string(got.Document), `{"mine":1,"others":1}`)
	must.Equal(t, "version", got.Version, 4)
	states.others = 1000
	must.Fail(wire.UpdateState(t.Context(), states, wire.StateUpdate{SessionID: "s", Document: []byte(`{}`)}))(t, "", amber.KindConflict)
}

// busyStates are written by others between every read and write.
type busyStates struct {
	amber.SessionStates
	others int
}

func (b *busyStates) LoadState(ctx context.Context, id amber.SessionID) (amber.SessionState, error) {
	got, err := b.SessionStates.LoadState(ctx, id)
	if b.others > 0 {
		b.others--
		if _, err := b.SaveState(ctx, id, []byte(`{"others":1}`), got.Version); err != nil {
			return got, err
		}
	}
	return got, err
}

func newStates(t *testing.T) amber.SessionStates {
	t.Helper()
	return must.Get(inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader}))(t)
}
