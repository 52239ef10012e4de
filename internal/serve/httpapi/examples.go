package httpapi

import (
	_ "embed" // the examples
	"encoding/json"
	"sync"
)

// example is one request of an operation and the answer to it. A test sends the requests; with the flag -examples
// it writes the answers down.
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
