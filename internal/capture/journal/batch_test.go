package journal_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestAppendAllKeepsTheOrder appends more than one sync may serve.
func TestAppendAllKeepsTheOrder(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{MaxEntries: 7})
	var entries []journal.Entry
	for n := range 100 {
		entries = append(entries, entry(n+1))
	}
	must.Equal(t, "last sequence", must.Get(j.AppendAll(t.Context(), one, entries))(t), 100)
	must.Equal(t, "frames", texts(mustRead(t, j, one.Key(), 0)), numbered(1, 100))
}

func TestAppendAllRefuses(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{MaxSessionBytes: 1000})
	over, end := context.WithCancel(context.Background())
	end()
	big := journal.Entry{Payload: make([]byte, journal.MaxPayload+1)}
	tests := []struct {
		name    string
		ctx     context.Context
		session journal.Session
		entries []journal.Entry
		kept    int
		want    amber.Kind
	}{
		{"a session without a name", t.Context(), journal.Session{Host: "h"}, []journal.Entry{entry(1)}, 0, amber.KindInvalid},
		{"an entry that is too long", t.Context(), one, []journal.Entry{entry(1), big}, 0, amber.KindInvalid},
		{"a caller that left", over, one, []journal.Entry{entry(1)}, 0, amber.KindUnreachable},
		{"nothing", t.Context(), one, nil, 0, ""},
		{"more than there is space for", t.Context(), one, []journal.Entry{entry(1), {Payload: make([]byte, 2000)}, entry(3)}, 2, amber.KindQuota},
	}
	for _, tt := range tests {
		kept, err := j.AppendAll(tt.ctx, tt.session, tt.entries)
		must.Kind(t, tt.name, err, tt.want)
		must.Equal(t, tt.name, kept, tt.kept)
	}
}

// TestHeldReadsWhatIsThere reads an entry, bytes that were cut off and a damaged file.
func TestHeldReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	fill(t, j, one, 1)
	must.Do(t, j.Quarantine(t.Context(), one.Key(), 1, []byte("two\nlines"), "no such tool"))
	const name = "00000000000000000001.entry"
	held := filepath.Join(dir, string(one.Key()), "quarantine")
	for file, text := range map[string]string{"000001.seg-64-0.cut": "torn", "00000000000000000009.entry": "damaged"} {
		must.Do(t, os.WriteFile(filepath.Join(held, file), []byte(text), 0o600))
	}
	for file, want := range map[string]string{name: "two\nlines", "000001.seg-64-0.cut": "torn", "00000000000000000009.entry": "damaged"} {
		h := must.Get(j.Held(one.Key(), file))(t)
		must.Equal(t, file+": payload", string(h.Payload), want)
		must.Equal(t, file+": name", h.Name, file)
		if file == name && (h.Seq != 1 || h.Reason != "no such tool" || h.At.IsZero()) {
			t.Errorf("the entry is %+v", h)
		}
	}
	for _, file := range []string{"", "missing", "../meta", "../000001.seg", held} {
		must.Fail(j.Held(one.Key(), file))(t, file, amber.KindNotFound)
	}
	must.Fail(j.Held("../x", name))(t, "a key that is not valid", amber.KindInvalid)
}
