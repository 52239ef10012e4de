package engram_test

import (
	"bytes"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

func FuzzManifest(f *testing.F) {
	for _, v := range vectors {
		f.Add(read(f, v, "manifest.json"))
	}
	f.Add([]byte(`{"version":2,"chunks":[{"id":"../x","a":1},{"id":"8e3713a4","b":{"c":"<"}}],"d":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := engram.ParseManifest(b)
		if err != nil {
			return
		}
		stable(t, m)
	})
}

func FuzzRepair(f *testing.F) {
	for _, name := range []string{"appended", "both-new", "diff3", "nested"} {
		f.Add(read(f, "conflict", name+".json"))
	}
	whole := read(f, "multi", "manifest.json")
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, _, ok := engram.RepairManifest(b); ok {
			stable(t, m)
		}
	})
}

// stable checks that a manifest is read as it was written.
func stable(t *testing.T, m engram.Manifest) {
	t.Helper()
	for _, e := range m.Chunks {
		if !engram.ValidID(e.ID) {
			t.Fatalf("%q is among the ids", e.ID)
		}
	}
	once := m.Encode()
	again, err := engram.ParseManifest(once)
	if err != nil {
		t.Fatalf("%s: %v", once, err)
	}
	if twice := again.Encode(); !bytes.Equal(once, twice) || len(again.Notes) > 0 {
		t.Fatalf("%s became %s, notes %q", once, twice, again.Notes)
	}
}

func FuzzChunk(f *testing.F) {
	for _, v := range vectors {
		for _, c := range chunksOf(f, v) {
			_, text, _ := engram.EncodeChunk(c)
			f.Add(text)
		}
	}
	f.Add([]byte(`{"observations":[{"id":1,"sync_id":"obs-1","topic_key":"a","title":"\u0000","content":"\ufffd\u0001","created_at":"2026-01-02 03:04:05","deleted_at":"","later":[1]}],"mutations":[{"seq":1,"entity":"observation","op":"delete","entity_key":"obs-1","payload":"{}","occurred_at":"2026-01-02 03:04:05"}]}`))
	f.Add([]byte(`{"mutations":[{"entity":"relation","op":"upsert","entity_key":"r","payload":"{\"source_id\":\"a\",\"target_id\":\"b\",\"relation\":\"x\",\"judgment_status\":\"judged\"}"},{"entity":"session","op":"upsert","entity_key":"s","payload":"{\"id\":\"s\"}"}]}`))
	own := must.Get(engram.FromRecord(mine(nil), nil))(f)
	f.Add([]byte(encoded(f, own)))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := engram.DecodeChunk(pack(t, string(text)))
		if err != nil {
			return
		}
		mapped(t, c)
	})
}

func FuzzBackup(f *testing.F) {
	for _, v := range vectors {
		f.Add(read(f, v, "export.json"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := engram.DecodeBackup(b)
		if err != nil {
			return
		}
		mapped(t, c)
	})
}

// mapped checks that a chunk is read as it was written, that its records pass, and that a row of the lists that was taken is
// made again from its record and its link.
func mapped(t *testing.T, c engram.Chunk) {
	t.Helper()
	id, text, gz := engram.EncodeChunk(c)
	again, err := engram.DecodeChunk(id, gz)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	must.Equal(t, "text", text, engram.Text(again))
	rows, _ := engram.ToRecords(c, engram.ReadOptions{User: "fuzz"})
	var live amber.SyncRecord
	for _, r := range rows {
		if err := r.Record.Check(); err != nil {
			t.Fatalf("%s does not pass: %v", text, err)
		}
		rec := r.Record
		if r.Link.Tool == "" {
			live = rec
			continue
		}
		if rec.Memory != nil && !rec.Memory.DeletedAt.IsZero() {
			rec = live
		}
		rewritten(t, c, r.Link, rec)
	}
}

func rewritten(t *testing.T, c engram.Chunk, l amber.SyncLink, rec amber.SyncRecord) {
	t.Helper()
	var want engram.Entity
	s, o := len(c.Sessions), len(c.Observations)
	switch n := l.Ordinal; {
	case n < s:
		want.Session = &c.Sessions[n]
	case n < s+o:
		want.Observation = &c.Observations[n-s]
	case n < s+o+len(c.Prompts):
		want.Prompt = &c.Prompts[n-s-o]
	default:
		return // a row of a mutation
	}
	got := must.Get(engram.FromRecord(stored(t, rec), &l))(t)
	must.Equal(t, "rows", encoded(t, want), encoded(t, got))
}

// FuzzRow makes rows of every text there is, so that fuzzing does not end at JSON.
func FuzzRow(f *testing.F) {
	f.Add("s", "decision", "Title", "Content", "shop", "project", "a/b", "obs-1", at, at, "", int64(1))
	f.Add("s\n", "", " T\x00", "\ufffd\x01", " p", "personal", "A  B", "01890a5d-ac96-774b-bcce-b302099a8057", at, later, at, int64(-1))
	f.Fuzz(func(t *testing.T, session, typ, title, content, project, scope, topic, sync, created, updated, deleted string, revision int64) {
		o := engram.Observation{
			ID: revision, SessionID: session, Type: typ, Title: title, Content: content, Project: &project, Scope: scope,
			RevisionCount: revision, LastSeenAt: &updated, CreatedAt: created, UpdatedAt: updated,
		}
		for into, value := range map[**string]string{&o.TopicKey: topic, &o.SyncID: sync, &o.DeletedAt: deleted} {
			if value != "" {
				*into = &value
			}
		}
		second := o
		second.Content += "!"
		m := engram.Mutation{Seq: revision, Entity: "observation", EntityKey: sync, Op: "delete", Payload: content, OccurredAt: created}
		if typ == "upsert" {
			m.Op = typ
		}
		c := engram.Chunk{
			Sessions:     []engram.Session{{ID: session, Project: project, Directory: title, StartedAt: created, EndedAt: o.DeletedAt, Summary: &content}},
			Observations: []engram.Observation{o, second, o},
			Prompts:      []engram.Prompt{{ID: revision, SyncID: o.SyncID, SessionID: session, Content: content, Project: project, CreatedAt: created}},
			Mutations:    []engram.Mutation{m},
		}
		// Only what JSON can carry is in a chunk.
		id, _, gz := engram.EncodeChunk(c)
		c = must.Get(engram.DecodeChunk(id, gz))(t)
		mapped(t, c)
	})
}
