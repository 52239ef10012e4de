package wire

import "github.com/amber-memory/amber"

// Occasion says when a block of memory is put before an agent.
type Occasion string

// The occasions. Without one, a request with a goal is answered with what is relevant
// to the goal, and a request without a goal like the start of a session.
const (
	OccasionStart  Occasion = "start"  // a session begins
	OccasionPrompt Occasion = "prompt" // the user has typed the goal
	// OccasionCompaction: the host has summed up the session and dropped the rest.
	OccasionCompaction Occasion = "compaction"
)

// ContextRequest asks for a block of memory to put before an agent's prompt.
type ContextRequest struct {
	amber.RecallInput
	Occasion Occasion `json:"occasion,omitempty"`
	MaxBytes int      `json:"max_bytes,omitempty"` // of the text; 0: DefaultContextBytes, at most MaxContextBytes
	Sessions int      `json:"sessions,omitempty"`  // recent sessions to list; 0: 3, negative: none
	Explain  bool     `json:"explain,omitempty"`   // fill Hit.Why
	// Known was put before the agent in this session already and is left out unless
	// it has changed, beside what the store knows of.
	Known []ContextItem `json:"known,omitempty"`
}

// ContextItem names a passage in a block of memory, without its text.
type ContextItem struct {
	Layer  amber.RecallLayer `json:"layer"`
	Owner  string            `json:"owner"`  // the id of a memory, a turn or a session, the name of a note
	Digest string            `json:"digest"` // of what it said: 16 hexadecimal digits
	Why    string            `json:"why,omitempty"`
}

// MaxKnown bounds the passages that a request says are known.
const MaxKnown = 4096

// Bounds of a context block.
const (
	MinContextBytes     = 512 // the smallest that can hold something
	DefaultContextBytes = 8 << 10
	MaxContextBytes     = 64 << 10
)

// ContextBlock is memory made ready for an agent.
type ContextBlock struct {
	// Text is Markdown between two lines with a random delimiter that the authors of the memories cannot have
	// known. The text between the lines is data, not instructions. Empty when there is nothing to say.
	Text     string          `json:"text"`
	Memories []amber.Hit     `json:"memories"` // memories and other passages in Text, in the order of Text
	Sessions []amber.Session `json:"sessions"` // those in Text, newest first
	Omitted  int             `json:"omitted"`  // memories that did not fit
	// Items are the passages in Text, and why each is there.
	Items []ContextItem `json:"items,omitempty"`
	// Cut are the memories whose text is in Text only in part, up to the end
	// of a sentence where there is one; Text says so behind each. Memories has
	// them whole.
	Cut      []amber.MemoryID `json:"cut,omitempty"`
	Decision amber.Decision   `json:"decision"` // the policy's
	// Degraded says what the block could not take into account; "" when it is whole.
	Degraded string `json:"degraded,omitempty"`
	// Late says that recall did not answer in time: Text is what is known without it.
	Late bool `json:"late,omitempty"`
}
