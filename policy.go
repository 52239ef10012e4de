package amber

import (
	"strings"
	"unicode"
)

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

// ConservativePolicy recalls when it may, keeps what a text says is to be kept
// and what a session amounts to, and saves goal and answer of every turn only
// when told to: saving every answer pollutes recall. Recall and write-back do
// not depend on each other.
type ConservativePolicy struct {
	RecallDisabled bool // memory.recall.enabled is false
	WriteDisabled  bool // memory.write.enabled is false
	AutoWriteBack  bool // memory.write_back.cases is true: save goal and answer of every success
	NothingLearnt  bool // memory.write_back.enabled is false
	NoLearnings    bool // memory.write_back.learnings is false
	NoDigests      bool // memory.write_back.digests is false
	TopK           int  // 0: DefaultTopK
}

var _ Policy = ConservativePolicy{}

// Recall asks for what the goal names, or for the newest memories where there
// is no goal yet. A pending loop changes the reason, not the decision: a
// resumed agent needs its long-term memory most.
func (p ConservativePolicy) Recall(in RecallInput) (Query, Decision) {
	if p.RecallDisabled {
		return Query{}, Decision{Requested: true, BlockedReason: "memory.recall.enabled is false"}
	}
	reason := RecallRequest
	if in.PendingLoopActive {
		reason = RecallResume
	}
	return Query{
		Text:    strings.TrimSpace(in.Goal),
		Filter:  Filter{Identities: in.Identities},
		Reason:  reason,
		Limit:   p.TopK,
		Trusted: true,
	}, Decision{Requested: true, Effective: true}
}

// WriteBack keeps what was found, or goal and answer of a success as a historical
// case, unless a switch says otherwise.
func (p ConservativePolicy) WriteBack(in WriteBackInput) (WriteRequest, Decision) {
	d := Decision{Requested: p.wants(in.Lesson)}
	switch {
	case !d.Requested:
		d.BlockedReason = p.unwanted(in.Lesson)
	case p.WriteDisabled:
		d.BlockedReason = "memory.write.enabled is false"
	case in.Lesson != LessonCase && in.Lesson != "":
		if in.Found == nil {
			d.BlockedReason = "nothing was found"
			break
		}
		d.Effective = true
		return *in.Found, d
	default:
		return in.writeCase(d)
	}
	return WriteRequest{}, d
}

// wants says whether a lesson is asked for.
func (p ConservativePolicy) wants(l Lesson) bool {
	switch l {
	case LessonLearning:
		return !p.NothingLearnt && !p.NoLearnings
	case LessonDigest:
		return !p.NothingLearnt && !p.NoDigests
	case LessonCase, "":
		return !p.NothingLearnt && p.AutoWriteBack
	}
	return false
}

// unwanted names the key that says no to a lesson.
func (p ConservativePolicy) unwanted(l Lesson) string {
	switch {
	case p.NothingLearnt:
		return "memory.write_back.enabled is false"
	case l == LessonLearning:
		return "memory.write_back.learnings is false"
	case l == LessonDigest:
		return "memory.write_back.digests is false"
	case l == LessonCase, l == "":
		return "memory.write_back.cases is false"
	}
	return "the policy does not know the lesson"
}

// writeCase makes a case of goal and answer of a turn that succeeded.
func (in WriteBackInput) writeCase(d Decision) (WriteRequest, Decision) {
	goal, answer := strings.TrimSpace(in.Goal), strings.TrimSpace(in.Response)
	switch {
	case !in.Succeeded:
		d.BlockedReason = "the turn did not succeed"
	case in.PendingLoopActive:
		d.BlockedReason = "a loop is pending"
	case goal == "" || answer == "":
		d.BlockedReason = "goal or answer is empty"
	default:
		d.Effective = true
	}
	if !d.Effective {
		return WriteRequest{}, d
	}
	req := WriteRequest{
		Kind:       HistoricalCase,
		Scope:      writeBackScope(in.Identities),
		Identities: in.Identities,
		Title:      firstLine(goal, MaxTitleBytes),
		Content:    cut(goal, maxCaseBytes) + "\n\n" + cut(answer, maxCaseBytes),
		Reason:     WriteTaskSucceeded,
		Trust:      TrustDerived,
	}
	if in.RequestID != "" {
		req.SourceRefs = []SourceRef{{Kind: "request_id", Value: in.RequestID}}
	}
	return req, d
}

// maxCaseBytes bounds the goal and the answer in a case: more than that nobody
// recalls, and both have room in a memory.
const maxCaseBytes = 64 << 10

// cut returns at most n bytes of whole characters of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// writeBackScope picks the scope automatic writes go to: the workspace, else
// the project, else the session, else the user, and global only where nothing
// is known. It is wider than [Identities.Narrowest]: what a session taught is
// of use to the next one.
func writeBackScope(ids Identities) Scope {
	for _, s := range []Scope{ScopeWorkspace, ScopeProject, ScopeSession, ScopeUser} {
		if ids.For(s) != "" {
			return s
		}
	}
	return ScopeGlobal
}

// firstLine returns the first line of s, cut to at most n bytes of whole
// characters. A character that does not print, which a title may not hold, is a
// blank.
func firstLine(s string, n int) string {
	line, _, _ := strings.Cut(s, "\n")
	line = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, line))
	return cut(line, n)
}
