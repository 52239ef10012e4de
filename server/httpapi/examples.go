package httpapi

import (
	_ "embed" // the examples
	"encoding/json"
	"sync"
)

// example is one request of an operation and what was answered to it. A test sends the requests, and
// writes down the answers when it is told to.
type example struct {
	Parameters map[string]any  `json:"parameters,omitempty"`
	Request    json.RawMessage `json:"request,omitempty"`
	Answer     json.RawMessage `json:"answer,omitempty"`
}

//go:embed examples.json
var exampleFile []byte

// allExamples are the examples by operation.
var allExamples = sync.OnceValue(func() map[string]example {
	var all map[string]example
	_ = json.Unmarshal(exampleFile, &all) // a test reads it, too
	return all
})
