package amber

// Decision says what a policy was asked, what it decided, and why not where
// it decided otherwise.
type Decision struct {
	Requested     bool   `json:"requested"`
	Effective     bool   `json:"effective"`
	BlockedReason string `json:"blocked_reason,omitempty"`
}

// RecallInput is what is known when a turn begins.
type RecallInput struct {
	Goal              string `json:"goal"` // empty at the start of a session
	PendingLoopActive bool   `json:"pending_loop_active,omitempty"`
	Identities
}

// Lesson says what could be learnt without being asked.
type Lesson string

// The lessons.
const (
	LessonCase     Lesson = "case"     // goal and answer of a turn that succeeded
	LessonLearning Lesson = "learning" // a sentence that a text says is to be kept
	LessonDigest   Lesson = "digest"   // what a session amounts to, when it has ended
)

// WriteBackInput is what is known when a turn ended.
type WriteBackInput struct {
	// Lesson is what could be learnt; "" is a case. Found is what a rule found
	// for a learning or a digest; a case is made of goal and answer.
	Lesson            Lesson        `json:"lesson,omitempty"`
	Found             *WriteRequest `json:"found,omitempty"`
	RequestID         string        `json:"request_id,omitempty"`
	Goal              string        `json:"goal"`
	Succeeded         bool          `json:"succeeded"`
	Response          string        `json:"response"`
	PendingLoopActive bool          `json:"pending_loop_active,omitempty"`
	Identities
}

// Policy decides when memory is recalled and written without being asked.
// Backends never decide. Both methods are pure.
type Policy interface {
	// Recall builds the query for a turn that begins; use it only when the
	// decision is effective.
	Recall(in RecallInput) (Query, Decision)
	// WriteBack decides about something that could be learnt, and builds the
	// write; use it only when the decision is effective.
	WriteBack(in WriteBackInput) (WriteRequest, Decision)
}
