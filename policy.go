package amber

import "strings"

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

// WriteBackInput is what is known when a turn ended.
type WriteBackInput struct {
	RequestID         string `json:"request_id,omitempty"`
	Goal              string `json:"goal"`
	Succeeded         bool   `json:"succeeded"`
	Response          string `json:"response"`
	PendingLoopActive bool   `json:"pending_loop_active,omitempty"`
	Identities
}

// Policy decides when memory is recalled and written without being asked.
// Backends never decide. Both methods are pure.
type Policy interface {
	// Recall builds the query for a turn that begins; use it only when the
	// decision is effective.
	Recall(in RecallInput) (Query, Decision)
	// WriteBack builds the write for a turn that ended; use it only when the
	// decision is effective.
	WriteBack(in WriteBackInput) (WriteRequest, Decision)
}

// ConservativePolicy recalls when it may and writes back only when told to:
// saving every answer pollutes recall. The two switches are independent.
type ConservativePolicy struct {
	RecallDisabled bool // memory.recall.enabled is false
	WriteDisabled  bool // memory.write.enabled is false
	AutoWriteBack  bool // save goal and answer of every success
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

// WriteBack keeps goal and answer of a success as a historical case.
func (p ConservativePolicy) WriteBack(in WriteBackInput) (WriteRequest, Decision) {
	d := Decision{Requested: p.AutoWriteBack}
	goal, answer := strings.TrimSpace(in.Goal), strings.TrimSpace(in.Response)
	switch {
	case !p.AutoWriteBack:
		d.BlockedReason = "automatic write-back is off"
	case p.WriteDisabled:
		d.BlockedReason = "memory.write.enabled is false"
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
		Content:    goal + "\n\n" + answer,
		Reason:     WriteTaskSucceeded,
		Trust:      TrustDerived,
	}
	if in.RequestID != "" {
		req.SourceRefs = []SourceRef{{Kind: "request_id", Value: in.RequestID}}
	}
	return req, d
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
// characters.
func firstLine(s string, n int) string {
	line, _, _ := strings.Cut(s, "\n")
	line = strings.TrimSpace(line)
	if len(line) > n {
		line = strings.ToValidUTF8(line[:n], "")
	}
	return line
}
