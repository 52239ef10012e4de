package policy

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Conservative recalls when it may, keeps what a text says is to be kept
// and what a session amounts to, and saves goal and answer of every turn only
// when told to: saving every answer pollutes recall. Recall and write-back do
// not depend on each other.
type Conservative struct {
	RecallDisabled bool // memory.recall.enabled is false
	WriteDisabled  bool // memory.write.enabled is false
	AutoWriteBack  bool // memory.write_back.cases is true: save goal and answer of every success
	NothingLearnt  bool // memory.write_back.enabled is false
	NoLearnings    bool // memory.write_back.learnings is false
	NoDigests      bool // memory.write_back.digests is false
	TopK           int  // 0: DefaultTopK
	// MinScore is how relevant a passage has to be to be put before an agent that did
	// not ask for it; 0: amber.RelevantScore.
	MinScore float64
	OwnOnly  bool // context.trust is own: leave out what was found by rule in sessions
	Review   amber.Review
}

var _ amber.Policy = Conservative{}

// Recall asks for what the goal names, or for the newest memories where there
// is no goal yet. A pending loop changes the reason, not the decision: a
// resumed agent needs its long-term memory most.
func (p Conservative) Recall(in amber.RecallInput) (amber.Query, amber.Decision) {
	if p.RecallDisabled {
		return amber.Query{}, amber.Decision{Requested: true, BlockedReason: "memory.recall.enabled is false"}
	}
	reason := amber.RecallRequest
	if in.PendingLoopActive {
		reason = amber.RecallResume
	}
	return amber.Query{
		Text:     strings.TrimSpace(in.Goal),
		Filter:   amber.Filter{Identities: in.Identities},
		MinScore: cmp.Or(p.MinScore, amber.RelevantScore),
		Reason:   reason,
		Limit:    p.TopK,
		Trusted:  p.OwnOnly,
		Review:   p.Review,
	}, amber.Decision{Requested: true, Effective: true}
}

// WriteBack keeps what was found, or goal and answer of a success as a historical
// case, unless a switch says otherwise.
func (p Conservative) WriteBack(in amber.WriteBackInput) (amber.WriteRequest, amber.Decision) {
	d := amber.Decision{Requested: p.wants(in.Lesson)}
	switch {
	case !d.Requested:
		d.BlockedReason = p.unwanted(in.Lesson)
	case p.WriteDisabled:
		d.BlockedReason = "memory.write.enabled is false"
	case in.Lesson != amber.LessonCase && in.Lesson != "":
		if in.Found == nil {
			d.BlockedReason = "nothing was found"
			break
		}
		d.Effective = true
		return *in.Found, d
	default:
		return writeCase(in, d)
	}
	return amber.WriteRequest{}, d
}

// wants says whether a lesson is asked for.
func (p Conservative) wants(l amber.Lesson) bool {
	switch l {
	case amber.LessonLearning:
		return !p.NothingLearnt && !p.NoLearnings
	case amber.LessonDigest:
		return !p.NothingLearnt && !p.NoDigests
	case amber.LessonCase, "":
		return !p.NothingLearnt && p.AutoWriteBack
	}
	return false
}

// unwanted names the key that says no to a lesson.
func (p Conservative) unwanted(l amber.Lesson) string {
	switch {
	case p.NothingLearnt:
		return "memory.write_back.enabled is false"
	case l == amber.LessonLearning:
		return "memory.write_back.learnings is false"
	case l == amber.LessonDigest:
		return "memory.write_back.digests is false"
	case l == amber.LessonCase, l == "":
		return "memory.write_back.cases is false"
	}
	return "the policy does not know the lesson"
}

// writeCase makes a case of goal and answer of a turn that succeeded.
func writeCase(in amber.WriteBackInput, d amber.Decision) (amber.WriteRequest, amber.Decision) {
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
		return amber.WriteRequest{}, d
	}
	req := amber.WriteRequest{
		Kind:       amber.HistoricalCase,
		Scope:      writeBackScope(in.Identities),
		Identities: in.Identities,
		Title:      firstLine(goal, amber.MaxTitleBytes),
		Content:    clip.Bytes(goal, maxCaseBytes) + "\n\n" + clip.Bytes(answer, maxCaseBytes),
		Reason:     amber.WriteTaskSucceeded,
		Trust:      amber.TrustDerived,
	}
	if in.RequestID != "" {
		req.SourceRefs = []amber.SourceRef{{Kind: "request_id", Value: in.RequestID}}
	}
	return req, d
}

// maxCaseBytes bounds the goal and the answer in a case: longer texts are
// not recalled, and both must have room in a memory.
const maxCaseBytes = 64 << 10

// writeBackScope picks the scope automatic writes go to: the workspace, else
// the project, else the session, else the user, and global only where nothing
// is known. It is wider than [amber.Identities.Narrowest]: what a session taught is
// of use to the next one.
func writeBackScope(ids amber.Identities) amber.Scope {
	for _, s := range []amber.Scope{amber.ScopeWorkspace, amber.ScopeProject, amber.ScopeSession, amber.ScopeUser} {
		if ids.For(s) != "" {
			return s
		}
	}
	return amber.ScopeGlobal
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
	return clip.Bytes(line, n)
}
