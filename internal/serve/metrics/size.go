package metrics

import (
	"encoding/json"
	"reflect"

	"github.com/amber-memory/amber"
)

// size is how much an operation was about.
type size struct {
	in, out int // bytes of content
	items   int
}

// one is the size of operations that are about one record.
func one() size { return size{items: 1} }

// sizeOf returns the size of a call that has returned. A change returns no content, but for a claim, and an earlier
// version of a note does not count.
func sizeOf(c *amber.Call) size {
	s := size{items: items(c)}
	for _, in := range c.In {
		s.in += bytesIn(in)
	}
	_, claim := c.Out.(*amber.Claim)
	if claim || c.Method.Effect != amber.Changes && c.Method.Name != "note_at" {
		s.out = bytesOut(c.Out)
	}
	return s
}

// items is how many records a call changed or returned. Counts and states are none, and a call about one record that
// is no list is one.
func items(c *amber.Call) int {
	switch in := c.In[0].(type) {
	case *[]amber.WriteRequest:
		return len(*in)
	case *amber.MemoryID:
		if words, ok := c.In[1].(*[]string); ok {
			return len(*words)
		}
	case *string:
		if chunks, ok := c.In[1].(*[]amber.QuarantinedChunk); ok {
			return len(*chunks)
		}
	}
	switch out := c.Out.(type) {
	case nil:
		return 1
	case *amber.Health, *amber.Stats, *amber.Position, *amber.Backpressure, *int64:
		return 0
	case *int:
		return *out
	case *amber.RecallResult:
		return len(out.Hits)
	case *amber.Neighbourhood:
		return len(out.Memories)
	case *amber.ReplayReport:
		return len(out.Events)
	case *amber.IngestResult:
		return out.Applied
	case *amber.Outgoing:
		return len(out.Records)
	case *amber.Applied:
		return out.Sessions + out.Memories + out.Prompts + out.Relations
	case interface{ Len() int }: // a page
		return out.Len()
	}
	if v := reflect.ValueOf(c.Out).Elem(); v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len()
	}
	return 1
}

func bytesIn(in any) int {
	switch in := in.(type) {
	case *amber.Query:
		return len(in.Text)
	case *amber.WriteRequest:
		return requestBytes(*in)
	case *[]amber.WriteRequest:
		return requestBytes(*in...)
	case *amber.EditRequest:
		return editBytes(*in)
	case *amber.Turn:
		return len(in.Content)
	case *amber.Compaction:
		return len(in.Summary)
	case *amber.LoopSave:
		return len(in.State)
	case *json.RawMessage:
		return len(*in)
	case *amber.Ingestion:
		return ingestBytes(*in)
	case *amber.NoteWrite:
		return len(in.Content)
	case *amber.DocumentWrite:
		return len(in.Document)
	case *amber.Task:
		return len(in.Goal) + len(in.Extra)
	case *amber.TaskEvent:
		return len(in.Result)
	case *amber.ApprovalRequest:
		return len(in.Payload)
	case *amber.Result:
		return len(in.Payload)
	case *amber.Envelope:
		return len(in.Payload)
	}
	return 0
}

func bytesOut(out any) int {
	switch out := out.(type) {
	case *amber.RecallResult:
		return hitBytes(out.Hits)
	case *amber.Memory:
		return memoryBytes(*out)
	case *amber.Page[amber.Memory]:
		return memoryBytes(out.Items...)
	case *[]amber.Memory:
		return memoryBytes(*out...)
	case *amber.Turn:
		return len(out.Content)
	case *amber.PendingLoop:
		return len(out.State)
	case *amber.SessionState:
		return len(out.Document)
	case *amber.Note:
		return len(out.Content)
	case *amber.Document:
		return len(out.Document)
	case *amber.Task:
		return len(out.Goal) + len(out.Extra)
	case *amber.Approval:
		return len(out.Payload)
	case *amber.Result:
		return len(out.Payload)
	case *amber.Claim:
		return len(out.Envelope.Payload)
	}
	return 0
}

func memoryBytes(ms ...amber.Memory) (n int) {
	for i := range ms {
		n += len(ms[i].Title) + len(ms[i].Content) + len(ms[i].Summary)
	}
	return n
}

func requestBytes(rs ...amber.WriteRequest) (n int) {
	for i := range rs {
		n += len(rs[i].Title) + len(rs[i].Content) + len(rs[i].Summary)
	}
	return n
}

func editBytes(r amber.EditRequest) (n int) {
	for _, s := range []*string{r.Title, r.Content, r.Summary} {
		if s != nil {
			n += len(*s)
		}
	}
	return n
}

func hitBytes(hits []amber.Hit) (n int) {
	for i := range hits {
		n += len(hits[i].Title) + len(hits[i].Snippet) + len(hits[i].Content)
	}
	return n
}

func turnBytes(ts []amber.Turn) (n int) {
	for i := range ts {
		n += len(ts[i].Content)
	}
	return n
}

func ingestBytes(in amber.Ingestion) (n int) {
	for i := range in.Steps {
		n += turnBytes(in.Steps[i].Turns) + requestBytes(in.Steps[i].Memories...)
	}
	return n
}
