package storetest

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
)

//go:embed testdata/recall/memories.jsonl testdata/recall/questions.jsonl
var recallData embed.FS

// qualityLimit is how many hits a question may use.
const qualityLimit = 5

// remembered is one memory of the recall set.
type remembered struct {
	Key     string           `json:"key"`
	Title   string           `json:"title"`
	Content string           `json:"content"`
	Kind    amber.MemoryKind `json:"kind"`
	Topic   string           `json:"topic"`
	Tags    []string         `json:"tags"`
}

// question is one question of the recall set; any key it wants will do.
type question struct {
	Question string   `json:"question"`
	Want     []string `json:"want"`
}

// RecallQuality writes the recall set of this package to a fresh place of b
// and asks its questions. A question counts as found when one of the memories
// it wants is among the first five hits; misses names the others. The error
// says that the set could not be written or asked.
func RecallQuality(ctx context.Context, b Backend) (found, total int, misses []string, err error) {
	var set []remembered
	var questions []question
	if err := errors.Join(readLines("testdata/recall/memories.jsonl", &set), readLines("testdata/recall/questions.jsonl", &questions)); err != nil {
		return 0, 0, nil, err
	}
	err = inWorld(ctx, b, amber.QueueOptions{}, []part{longTerm, batches}, func(w *world) {
		keys := w.remember(set)
		for _, q := range questions {
			hits := w.recall(amber.Query{Text: q.Question, Limit: qualityLimit})
			if !slices.ContainsFunc(hits, func(h amber.Hit) bool { return slices.Contains(q.Want, keys[h.ID]) }) {
				misses = append(misses, q.Question)
			}
		}
	})
	return len(questions) - len(misses), len(questions), misses, err
}

// remember writes the recall set and returns the key of each memory.
func (w *world) remember(set []remembered) map[amber.MemoryID]string {
	keys := map[amber.MemoryID]string{}
	for chunk := range slices.Chunk(set, amber.MaxBatchSize) {
		rs := make([]amber.WriteRequest, len(chunk))
		for i, m := range chunk {
			rs[i] = amber.WriteRequest{
				Kind: m.Kind, Scope: amber.ScopeGlobal, Title: m.Title, Content: m.Content, Topic: m.Topic, Tags: m.Tags,
				Metadata: map[string]string{"key": m.Key},
			}
		}
		for _, ack := range must(w.Batch.WriteBatch(w.ctx, rs)) {
			keys[ack.ID] = ack.Metadata["key"]
		}
		w.tick()
	}
	return keys
}

// readLines decodes one JSON value per line of an embedded file.
func readLines[T any](name string, into *[]T) error {
	b, err := recallData.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read recall set: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	for {
		var v T
		switch err := dec.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read recall set %s: value %d: %w", name, len(*into)+1, err)
		}
		*into = append(*into, v)
	}
}
