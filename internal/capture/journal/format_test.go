package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// vectorSession is the session of the vectors in testdata/v1.
var vectorSession = journal.Session{Host: "claude-code", ID: "0199a3f2-6c1e-7d40-9a52-3f6b8c0d1e2f"}

// vectorFiles are the vectors, and where they lie below the folder of the session.
var vectorFiles = []string{"meta", "000001.seg", "000002.seg", "00000000000000000002.entry"}

// vectorCursor names the store's cursor of the vectors.
const vectorCursor = "bd6ac2b5f7cfe5cae12cf1905b43b9e0"

// TestVectorCursor pins how the name is made: stores hold it.
func TestVectorCursor(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	writeVectors(t, dir)
	o := must.Get(open(t, dir, journal.Options{}).Origin(vectorSession.Key()))(t)
	must.Equal(t, "cursor", o.Cursor, vectorCursor)
	must.Equal(t, "session", o.Session, vectorSession)
}

// vectorFrames are the frames in them.
var vectorFrames = []journal.Frame{
	{Seq: 1, At: amber.At(today()), Type: journal.TypeEvent, Payload: []byte(`{"event":"prompt","text":"Grüße"}`)},
	{Seq: 2, At: amber.At(today().Add(time.Second)), Type: journal.TypeEvent},
	{Seq: 3, At: amber.At(today().Add(2 * time.Second)), Type: journal.TypeGap, Payload: []byte(`{"dropped_bytes":3000,"about":"tool output"}`)},
}

// writeVectors writes a session that holds the vectors.
func writeVectors(t *testing.T, dir string) {
	t.Helper()
	now := today()
	o := journal.Options{Clock: func() time.Time { return now }, Random: strings.NewReader("amberfix"), SegmentBytes: 150, MaxSessionBytes: 2000}
	j := open(t, dir, o)
	for i, e := range []journal.Entry{
		{Payload: vectorFrames[0].Payload},
		{},
		{Payload: make([]byte, 3000), Droppable: true, About: "tool output"},
	} {
		now = today().Add(time.Duration(i) * time.Second)
		mustAppend(t, j, vectorSession, e)
	}
	must.Do(t, j.Quarantine(t.Context(), vectorSession.Key(), 2, []byte("two\nlines"), "no such tool"))
}

func vectorIn(dir, name string) string {
	if filepath.Ext(name) == ".entry" {
		name = filepath.Join("quarantine", name)
	}
	return filepath.Join(dir, string(vectorSession.Key()), name)
}

// TestVectorsAreWritten writes the vectors again, byte for byte.
func TestVectorsAreWritten(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	writeVectors(t, dir)
	for _, name := range vectorFiles {
		got := slurp(t, fsx.OS(), vectorIn(dir, name))
		if *update {
			must.Do(t, os.MkdirAll(filepath.Dir(vectorPath(name)), 0o755))
			must.Do(t, os.WriteFile(vectorPath(name), got, 0o644))
		}
		must.Equal(t, name, got, must.Get(os.ReadFile(vectorPath(name)))(t))
	}
}

// TestVectorsAreRead reads the vectors as any later version has to.
func TestVectorsAreRead(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	must.Do(t, os.MkdirAll(filepath.Dir(vectorIn(dir, ".entry")), 0o700))
	for _, name := range vectorFiles {
		b := must.Get(os.ReadFile(vectorPath(name)))(t)
		put(t, fsx.OS(), vectorIn(dir, name), b)
	}
	j := on(t, nil, dir)
	frames := mustRead(t, j, vectorSession.Key(), 0)
	for i := range frames {
		if len(frames[i].Payload) == 0 {
			frames[i].Payload = nil
		}
	}
	must.Equal(t, "frames", frames, vectorFrames, cmp.Comparer(func(a, b amber.Time) bool { return a == b }))
	st, err := j.Status(t.Context(), vectorSession.Key(), 0)
	if err != nil || st.Host != vectorSession.Host || st.SessionID != vectorSession.ID || st.StartedAt != amber.At(today()) || st.LastError != "" {
		t.Errorf("status: %+v, %v", st, err)
	}
	if err := j.Quarantined(t.Context(), vectorSession.Key(), func(h journal.Held) error {
		if h.Seq != 2 || string(h.Payload) != "two\nlines" || h.Reason != "no such tool" {
			t.Errorf("kept %+v", h)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestPageShowsTheVectors checks that the description of the format shows the bytes that are written.
func TestPageShowsTheVectors(t *testing.T) {
	t.Parallel()
	b := must.Get(os.ReadFile(filepath.Join("..", "..", "..", "docs", "format", "journal.md")))(t)
	page := strings.ReplaceAll(string(b), "\r\n", "\n")
	for _, name := range vectorFiles {
		b := must.Get(os.ReadFile(vectorPath(name)))(t)
		shown := hexLines(b)
		if filepath.Ext(name) != ".seg" {
			shown = string(b)
		}
		if !strings.Contains(page, shown) {
			t.Errorf("the page does not show %s:\n%s", name, shown)
		}
	}
	if key := string(vectorSession.Key()); !strings.Contains(page, key) {
		t.Errorf("the page does not show the key %s", key)
	}
}

// hexLines is a dump of sixteen bytes to a line.
func hexLines(b []byte) string {
	var out strings.Builder
	for at := 0; at < len(b); at += 16 {
		fmt.Fprintf(&out, "%04x ", at)
		for i := at; i < min(at+16, len(b)); i++ {
			fmt.Fprintf(&out, " %02x", b[i])
		}
		out.WriteByte('\n')
	}
	return out.String()
}
