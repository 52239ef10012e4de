package main

import (
	"encoding/json"
	"maps"
	"slices"
)

// question makes a question of a probing question. Ids that several messages have say
// nothing and are left out.
func (b *beamReader) question(class string, q beamQuestion) question {
	out := question{Text: q.Question, Class: class}
	for _, id := range numbersIn(q.Sources, 0) {
		if b.ids[id] == 1 && class != abstention {
			out.Keys = append(out.Keys, beamID(id))
		}
	}
	return out
}

// numbersIn returns the whole numbers in a value, in order.
func numbersIn(v any, depth int) (found []int) {
	switch v := v.(type) {
	case float64:
		if v == float64(int(v)) {
			return []int{int(v)}
		}
	case []any:
		for _, item := range v {
			if depth < beamDepth {
				found = append(found, numbersIn(item, depth+1)...)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if depth < beamDepth {
				found = append(found, numbersIn(v[name], depth+1)...)
			}
		}
	}
	return found
}

// beamQuestions reads the probing questions by class.
func beamQuestions(raw json.RawMessage) (questions map[string][]beamQuestion, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if raw = json.RawMessage(text); !json.Valid(raw) {
			if raw, err = pythonToJSON(text); err != nil {
				return nil, err
			}
		}
	}
	return questions, json.Unmarshal(raw, &questions)
}
