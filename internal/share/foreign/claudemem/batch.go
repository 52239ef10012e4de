package claudemem

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxFile bounds a file: the program takes no request of more than 5 MB. A row that is longer by itself has a file of its
// own.
const maxFile = 4_900_000

// headSize is more than what a file holds beside its rows.
const headSize = 1000

// batch is what goes into one file.
type batch struct {
	observations, sessions, summaries, prompts []json.RawMessage
	used                                       map[string]bool // sessions
	size                                       int
}

// put adds a row to a list of the batch, with its session, which every file that uses it must hold.
func (w *writer) put(list *[]json.RawMessage, row any, s *sessionRow) error {
	raw, session := foreign.JSON(row), foreign.JSON(s)
	need := len(raw) + len(session) + 16
	if w.batch.size > 0 && headSize+w.batch.size+need > maxFile {
		if err := w.flush(); err != nil {
			return err
		}
	}
	*list = append(*list, raw)
	w.batch.size += len(raw) + 8
	if !w.batch.used[s.MemorySessionID] {
		if w.batch.used == nil {
			w.batch.used = map[string]bool{}
		}
		w.batch.used[s.MemorySessionID] = true
		w.batch.sessions = append(w.batch.sessions, session)
		w.batch.size += len(session) + 8
	}
	return nil
}

// finish writes the last file. There is always one.
func (w *writer) finish() error {
	if w.batch.size == 0 && w.files > 0 {
		return nil
	}
	return w.flush()
}

func (w *writer) flush() error {
	w.files++
	text := string(w.batch.document(w.o.At))
	w.batch = batch{}
	return foreign.WriteText(w.to, fmt.Sprintf("%s-%03d.json", name, w.files), text)
}

func (b batch) document(at amber.Time) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n  \"exportedAt\": %q,\n  \"exportedAtEpoch\": %d,\n  \"query\": \"\",\n", at.String(), at.UnixMilli())
	fmt.Fprintf(&out, "  \"totalObservations\": %d,\n  \"totalSessions\": %d,\n  \"totalSummaries\": %d,\n  \"totalPrompts\": %d",
		len(b.observations), len(b.sessions), len(b.summaries), len(b.prompts))
	for _, l := range []struct {
		name string
		rows []json.RawMessage
	}{{"observations", b.observations}, {"sessions", b.sessions}, {"summaries", b.summaries}, {"prompts", b.prompts}} {
		fmt.Fprintf(&out, ",\n  %q: [", l.name)
		for i, r := range l.rows {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString("\n    ")
			out.Write(r)
		}
		out.WriteString("\n  ]")
	}
	out.WriteString("\n}\n")
	return out.Bytes()
}
