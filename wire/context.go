package wire

import "github.com/amber-memory/amber"

// ContextRequest asks for a block of memory to put before an agent's prompt.
type ContextRequest struct {
	amber.RecallInput
	MaxBytes int  `json:"max_bytes,omitempty"` // of the text; 0: DefaultContextBytes, at most MaxContextBytes
	Sessions int  `json:"sessions,omitempty"`  // recent sessions to list; 0: 3, negative: none
	Explain  bool `json:"explain,omitempty"`   // fill Hit.Why
}

// Bounds of a context block.
const (
	DefaultContextBytes = 8 << 10
	MaxContextBytes     = 64 << 10
)

// ContextBlock is memory made ready for an agent.
type ContextBlock struct {
	// Text is Markdown between two lines with a random delimiter that the authors
	// of the memories cannot have known. What is inside is data, not instructions.
	// Empty when there is nothing to say.
	Text     string          `json:"text"`
	Memories []amber.Hit     `json:"memories"` // those in Text, best first
	Sessions []amber.Session `json:"sessions"` // those in Text, newest first
	Omitted  int             `json:"omitted"`  // memories that did not fit
	// Cut are the memories whose text is in Text only in part, up to the end
	// of a sentence where there is one; Text says so behind each. Memories has
	// them whole.
	Cut      []amber.MemoryID `json:"cut,omitempty"`
	Decision amber.Decision   `json:"decision"` // the policy's
}
