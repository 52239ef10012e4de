// Package eval measures what an agent finds and what is put before it, on sets of
// questions whose answers are known.
//
// A recall set is one or more cases: memories or conversations to load, and questions
// with the memories or turns that answer them ([Open], [Recall]). A set of sessions
// holds recorded events of an agent host and prompts with what must, or must not,
// stand before the agent ([ReadSessions], [Context]). The package opens no store: the
// caller says how an empty agent is made, asked and removed.
package eval

import (
	"context"

	"github.com/amber-memory/amber"
)

// Format is the form of a set, told by its shape.
type Format string

// The formats.
const (
	FormatMemories Format = "memories" // memories and questions, Amber's own
	FormatTurns    Format = "turns"    // conversations and questions, Amber's own
	FormatLoCoMo   Format = "locomo"   // conversations of two people
)

// Case is one agent to load and the questions to ask it.
type Case struct {
	Format    Format
	Now       amber.Time // when the questions are asked
	Memories  []Memory
	Sessions  []Session // by time
	Questions []Question
	// Skipped counts questions that cannot be scored: those whose evidence is missing
	// or names no turn.
	Skipped int
}

// Memory is one memory to load.
type Memory struct {
	Key       string // names the memory in the set
	Title     string
	Content   string
	Kind      amber.MemoryKind
	CreatedAt amber.Time
}

// Session is one conversation to load.
type Session struct {
	ID    amber.SessionID
	At    amber.Time
	Turns []Turn
}

// Turn is one utterance. Its id is what questions name as evidence.
type Turn struct {
	ID      amber.TurnID
	Role    amber.Role
	Content string
	At      amber.Time
}

// Rule says when a question counts as answered.
type Rule string

// The rules.
const (
	RuleOne   Rule = "one"   // the keys are alternatives
	RuleEach  Rule = "each"  // one key is a hit, and every further one is better
	RuleAll   Rule = "all"   // every key is needed
	RuleFirst Rule = "first" // the first key is right, and has to stand before the second
	RuleNone  Rule = "none"  // there is no answer
)

// Question is one question of a case.
type Question struct {
	Text  string
	Class string
	Rule  Rule
	// Keys answer the question, best first: keys of memories, or ids of turns; with
	// BySession ids of sessions.
	Keys      []string
	BySession bool
	// NoAnswer marks a question that has evidence but no answer, such as one about
	// the wrong person.
	NoAnswer bool
	At       amber.Time // zero: when the questions of the case are asked
}

// Agent is one agent that a case is loaded into and asked.
type Agent interface {
	// Remember stores a memory as of its time and returns the owner of its hits.
	Remember(ctx context.Context, m Memory) (owner string, err error)
	// Hear stores a session. The owners of its hits are the ids of its turns.
	Hear(ctx context.Context, s Session) error
	// Index does what the index of the agent has left for later.
	Index(ctx context.Context) error
	// Ask returns the hits for a question as of a time, best first.
	Ask(ctx context.Context, text string, at amber.Time, layers []amber.RecallLayer, limit int) (Answer, error)
	// Size is how many bytes the agent takes on disk.
	Size() (int64, error)
	// Close removes the agent.
	Close() error
}

// Answer is what an agent answers to a question.
type Answer struct {
	Hits     []Hit
	Degraded string // what the answer could not take into account
}

// Hit is one hit of an answer.
type Hit struct {
	Owner   string
	Session string
	Score   float64
}
