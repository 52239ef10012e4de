package engram_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

// vectors are folders and backups that Engram 1.7.0 wrote.
var vectors = []string{"basic", "edits", "multi", "unicode"}

func read(t testing.TB, parts ...string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...)))(t)
}

// chunksOf decodes the chunks of a vector in the order of its manifest.
func chunksOf(t testing.TB, vector string) (chunks []engram.Chunk) {
	t.Helper()
	for _, e := range must.Get(engram.ParseManifest(read(t, vector, "manifest.json")))(t).Chunks {
		c := must.Get(engram.DecodeChunk(e.ID, read(t, vector, "chunks", engram.FileName(e.ID))))(t)
		chunks = append(chunks, c)
	}
	return chunks
}

func TestManifestIsWrittenByteForByte(t *testing.T) {
	t.Parallel()
	for _, v := range vectors {
		want := read(t, v, "manifest.json")
		m := must.Get(engram.ParseManifest(want))(t)
		must.Equal(t, v+": manifest", string(m.Encode()), string(want))
	}
}

func TestChunkIsWrittenByteForByte(t *testing.T) {
	t.Parallel()
	for _, v := range vectors {
		for _, c := range chunksOf(t, v) {
			id, _, gz := engram.EncodeChunk(c)
			must.Equal(t, v+": id", id, c.ID)
			again := must.Get(engram.DecodeChunk(id, gz))(t)
			if second, _, _ := engram.EncodeChunk(again); second != id {
				t.Errorf("%s: id is %s the second time, want %s", v, second, id)
			}
			must.Equal(t, v+": gzip header", gz[:10], []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff})
		}
	}
}

// A record goes to a store and comes back before a row is made of it.
func stored(t testing.TB, r amber.SyncRecord) amber.SyncRecord {
	t.Helper()
	b, err := json.Marshal(r)
	var out amber.SyncRecord
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	must.Do(t, err)
	return out
}

// rewrite makes a chunk of the records of a chunk.
func rewrite(t testing.TB, rows []engram.Row) engram.Chunk {
	t.Helper()
	var c engram.Chunk
	for i, row := range rows {
		rec := stored(t, row.Record)
		if err := rec.Check(); err != nil {
			t.Fatalf("row %d does not pass: %v", i, err)
		}
		link := row.Link
		if rec.Memory != nil && !rec.Memory.DeletedAt.IsZero() {
			continue
		}
		if link.Tool == "" && i+1 < len(rows) {
			link = rows[i+1].Link // of the tombstone that follows
		}
		e := must.Get(engram.FromRecord(rec, &link))(t)
		c.Add(e)
	}
	return c
}

func TestEveryRowSurvivesTheWayThroughAmber(t *testing.T) {
	t.Parallel()
	for _, v := range vectors {
		for _, c := range chunksOf(t, v) {
			rows, dropped := engram.ToRecords(c, engram.ReadOptions{User: "dev-a"})
			must.Equal(t, v+": dropped", len(dropped), 0)
			got := rewrite(t, rows)
			_, want, _ := engram.EncodeChunk(c)
			id, text, _ := engram.EncodeChunk(got)
			if diff := cmp.Diff(string(want), string(text)); diff != "" || id != c.ID {
				t.Errorf("%s: chunk %s became %s (-want +got):\n%s", v, c.ID, id, diff)
			}
		}
	}
}

func TestLinksNameTheRowsInOrder(t *testing.T) {
	t.Parallel()
	c := chunksOf(t, "edits")[0]
	rows, _ := engram.ToRecords(c, engram.ReadOptions{})
	var got []string
	for _, r := range rows {
		if r.Link.Tool == "" {
			got = append(got, "-")
			continue
		}
		if r.Link.Chunk != c.ID || r.Link.Ref != r.Record.Ref() || r.Link.Version != r.Record.Origin() || len(r.Link.Fingerprint) != 64 {
			t.Errorf("link is %+v for %+v", r.Link, r.Record)
		}
		got = append(got, string(r.Link.Ref.Scope)+" "+string(rune('0'+r.Link.Ordinal))+" "+string(rune('0'+r.Link.LocalID)))
	}
	must.Equal(t, "links", got, []string{"session 0 0", "memory 1 1", "-", "memory 2 2", "memory 3 3"})
}

func TestBackupHoldsWhatTheChunksHold(t *testing.T) {
	t.Parallel()
	for _, v := range vectors {
		b := must.Get(engram.DecodeBackup(read(t, v, "export.json")))(t)
		var all engram.Chunk
		for _, c := range chunksOf(t, v) {
			all.Sessions = append(all.Sessions, c.Sessions...)
			all.Observations = append(all.Observations, c.Observations...)
			all.Prompts = append(all.Prompts, c.Prompts...)
		}
		want, _, _ := engram.EncodeChunk(all)
		if got, text, _ := engram.EncodeChunk(b); got != want {
			t.Errorf("%s: backup differs: %s", v, text)
		}
		rows, dropped := engram.ToRecords(b, engram.ReadOptions{})
		if len(dropped) > 0 || len(rows) == 0 {
			t.Errorf("%s: %d rows, dropped %q", v, len(rows), dropped)
		}
	}
}

func TestEntryIsDatedWithTheNewestRow(t *testing.T) {
	t.Parallel()
	for _, v := range vectors {
		m := must.Get(engram.ParseManifest(read(t, v, "manifest.json")))(t)
		for i, c := range chunksOf(t, v) {
			if got, want := c.Entry("dev-a"), m.Chunks[i]; got != want {
				t.Errorf("%s: entry is %+v, want %+v", v, got, want)
			}
		}
	}
	must.Equal(t, "date of nothing", engram.EntryDate(engram.Chunk{}), "1970-01-01T00:00:00Z")
}

// The ids are written into stores: they may never change.
func TestIdentitiesStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	var got []string
	for _, v := range []string{"basic", "unicode"} {
		rows, _ := engram.ToRecords(chunksOf(t, v)[0], engram.ReadOptions{User: "dev-a"})
		for _, r := range rows {
			got = append(got, r.Record.Ref().ID, r.Link.Fingerprint[:16], r.Link.Version.Clock.String())
		}
	}
	must.Equal(t, "identities", strings.Fields(strings.Join(got, "\n")), strings.Fields(string(read(t, "identities.txt"))))
}
