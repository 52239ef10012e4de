package amber

import "slices"

// ReplaySnapshot is what the compacted part of a task's history amounts to.
type ReplaySnapshot struct {
	TaskID              string    `json:"task_id"`
	CompactedEventCount int64     `json:"compacted_event_count"` // also the sequence of the last one
	ReplayedState       TaskState `json:"replayed_state"`
	CompletedNodes      []string  `json:"completed_nodes"`
	OpenNodes           []string  `json:"open_nodes"` // begun and not completed
	PendingApprovalID   string    `json:"pending_approval_id,omitempty"`
	LastResult          string    `json:"last_result,omitempty"`
	// TransitionsValid and ChainConsistent keep what was wrong in the
	// compacted part from being forgotten with it.
	TransitionsValid bool `json:"transitions_valid"`
	ChainConsistent  bool `json:"chain_consistent"`
}

// EmptyReplay is the replay of a task without events.
func EmptyReplay(taskID string) ReplaySnapshot {
	return ReplaySnapshot{
		TaskID: taskID, ReplayedState: TaskQueued, CompletedNodes: []string{}, OpenNodes: []string{},
		TransitionsValid: true, ChainConsistent: true,
	}
}

// Fold returns the snapshot after one more event. It does not change s.
func (s ReplaySnapshot) Fold(e TaskEvent) ReplaySnapshot {
	s.CompletedNodes, s.OpenNodes = slices.Clone(s.CompletedNodes), slices.Clone(s.OpenNodes)
	if e.From != s.ReplayedState || e.Seq != s.CompactedEventCount+1 {
		s.ChainConsistent = false
	}
	if e.From != e.To && !e.From.CanBecome(e.To) {
		s.TransitionsValid = false
	}
	s.CompactedEventCount++
	s.ReplayedState = e.To
	done := slices.Contains(s.CompletedNodes, e.NodeID)
	if e.NodeID != "" && !done && !slices.Contains(s.OpenNodes, e.NodeID) {
		s.OpenNodes = append(s.OpenNodes, e.NodeID)
	}
	switch e.Kind {
	case EventNodeCompleted:
		if !done {
			s.CompletedNodes = append(s.CompletedNodes, e.NodeID)
		}
		s.OpenNodes = slices.DeleteFunc(s.OpenNodes, func(n string) bool { return n == e.NodeID })
	case EventApprovalPending:
		s.PendingApprovalID = e.ApprovalID
	case EventApprovalApproved, EventApprovalRejected:
		s.PendingApprovalID = ""
	}
	if e.Result != "" {
		s.LastResult = e.Result
	}
	return s
}

// FoldAll folds events in order.
func (s ReplaySnapshot) FoldAll(events []TaskEvent) ReplaySnapshot {
	for _, e := range events {
		s = s.Fold(e)
	}
	return s
}

// ReplayConsistency is the verdict of a replay.
type ReplayConsistency string

// The verdicts, gravest first where several hold: a chain that does not hang
// together, a transition the table does not have, a stored task that differs
// from its history.
const (
	ReplayConsistent         ReplayConsistency = "consistent"
	ReplayInvalidTransitions ReplayConsistency = "invalid_transitions"
	ReplayBrokenChain        ReplayConsistency = "broken_transition_chain"
	ReplaySnapshotMismatch   ReplayConsistency = "snapshot_mismatch"
)

// RecoveryEligibility says what a supervisor may do with a task it finds
// after a crash.
type RecoveryEligibility string

// The values say what a supervisor may do with the task.
const (
	RecoveryResumeReady     RecoveryEligibility = "resume_ready"     // go on
	RecoveryFinalizeReady   RecoveryEligibility = "finalize_ready"   // all work is done, close it
	RecoveryPendingApproval RecoveryEligibility = "pending_approval" // a person must decide first
	RecoveryManualResume    RecoveryEligibility = "requires_manual_resume"
	RecoveryBlocked         RecoveryEligibility = "blocked"         // history and task disagree
	RecoveryNotRecoverable  RecoveryEligibility = "not_recoverable" // it is final
)

// ReplayReport compares a stored task with its history.
type ReplayReport struct {
	TaskID                string              `json:"task_id"`
	PersistedState        TaskState           `json:"persisted_state"`
	ReplayedState         TaskState           `json:"replayed_state"`
	EventCount            int64               `json:"event_count"` // compacted ones too
	TransitionsValid      bool                `json:"transitions_valid"`
	ChainConsistent       bool                `json:"chain_consistent"`
	SnapshotMatchesReplay bool                `json:"snapshot_matches_replay"`
	Recoverable           bool                `json:"recoverable"`
	ConsistencyStatus     ReplayConsistency   `json:"consistency_status"`
	RecoveryEligibility   RecoveryEligibility `json:"recovery_eligibility"`
	ResumeCandidates      []string            `json:"resume_candidates"` // nodes begun and not completed
	Replay                ReplaySnapshot      `json:"replay"`
	// Events are those that are not compacted, oldest first. They end with the event with which their text reaches
	// [MaxPageBytes]; EventsLeft is how many follow, which ListEvents reads.
	Events     []TaskEvent `json:"events"`
	EventsLeft int64       `json:"events_left,omitempty"`
}

// NewReplayReport folds the events that follow snapshot and compares the outcome with task.
func NewReplayReport(task Task, snapshot ReplaySnapshot, events []TaskEvent) ReplayReport {
	listed, bytes := 0, 0
	for listed < len(events) && bytes < MaxPageBytes {
		bytes += events[listed].TextBytes()
		listed++
	}
	r := snapshot.FoldAll(events).Report(task, events[:listed])
	r.EventsLeft = int64(len(events) - listed)
	return r
}

// TextBytes is how much text the event has.
func (e TaskEvent) TextBytes() int {
	return len(e.Result) + len(e.Reason) + len(e.NodeID) + len(e.ApprovalID)
}

// Report compares a replay with task. Events are those of the replay that are listed.
func (replay ReplaySnapshot) Report(task Task, events []TaskEvent) ReplayReport {
	r := ReplayReport{
		TaskID:           task.ID,
		PersistedState:   task.State,
		ReplayedState:    replay.ReplayedState,
		EventCount:       replay.CompactedEventCount,
		TransitionsValid: replay.TransitionsValid,
		ChainConsistent:  replay.ChainConsistent,
		ResumeCandidates: append([]string{}, replay.OpenNodes...),
		Replay:           replay,
		Events:           append([]TaskEvent{}, events...),
	}
	r.SnapshotMatchesReplay = task.State == replay.ReplayedState &&
		task.PendingApprovalID == replay.PendingApprovalID &&
		sameSet(task.CompletedNodes, replay.CompletedNodes)
	r.ConsistencyStatus = r.consistency()
	r.RecoveryEligibility = r.eligibility()
	r.Recoverable = r.RecoveryEligibility != RecoveryNotRecoverable && r.RecoveryEligibility != RecoveryBlocked
	return r
}

func (r ReplayReport) consistency() ReplayConsistency {
	switch {
	case !r.ChainConsistent:
		return ReplayBrokenChain
	case !r.TransitionsValid:
		return ReplayInvalidTransitions
	case !r.SnapshotMatchesReplay:
		return ReplaySnapshotMismatch
	}
	return ReplayConsistent
}

func (r ReplayReport) eligibility() RecoveryEligibility {
	switch s := r.PersistedState; {
	case r.ConsistencyStatus != ReplayConsistent:
		return RecoveryBlocked
	case s.Final():
		return RecoveryNotRecoverable
	case s == TaskWaitingApproval:
		return RecoveryPendingApproval
	case s == TaskCancelRequested, s == TaskCompensating, s == TaskFailed:
		return RecoveryManualResume
	case s == TaskAggregating:
		return RecoveryFinalizeReady
	}
	return RecoveryResumeReady
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
