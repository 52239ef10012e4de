package inmem

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

// The copies below share nothing with what they are made of. Lists and maps
// that JSON shows are never nil in them.

func copyMemory(m amber.Memory) amber.Memory {
	m.Tags = copyList(m.Tags)
	m.SourceRefs = copyList(m.SourceRefs)
	m.Metadata = maps.Clone(m.Metadata)
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	m.Foreign = maps.Clone(m.Foreign)
	for k, v := range m.Foreign {
		m.Foreign[k] = copyJSON(v)
	}
	return m
}

func copyMemories(ms []amber.Memory) []amber.Memory { return copyEach(ms, copyMemory) }

func copyAck(a amber.WriteAck) amber.WriteAck {
	a.Memory = copyMemory(a.Memory)
	a.Added, a.NotTaken = slices.Clone(a.Added), slices.Clone(a.NotTaken)
	return a
}

func copyLoop(l amber.PendingLoop) amber.PendingLoop {
	l.State = copyJSON(l.State)
	return l
}

func copyState(st amber.SessionState) amber.SessionState {
	st.Document = copyJSON(st.Document)
	return st
}

func copyTask(t amber.Task) amber.Task {
	t.CompletedNodes = copyList(t.CompletedNodes)
	t.Extra = copyJSON(t.Extra)
	return t
}

func copyApproval(a amber.Approval) amber.Approval {
	a.Payload = copyJSON(a.Payload)
	return a
}

func copyResult(r amber.Result) amber.Result {
	r.Evidence = copyList(r.Evidence)
	return r
}

func copySnapshot(r amber.ReplaySnapshot) amber.ReplaySnapshot {
	r.CompletedNodes = copyList(r.CompletedNodes)
	return r
}

func copyJSON(b json.RawMessage) json.RawMessage { return slices.Clone(b) }

func copyList[T any](in []T) []T { return append([]T{}, in...) }

func copyEach[T any](in []T, f func(T) T) []T {
	out := make([]T, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}
