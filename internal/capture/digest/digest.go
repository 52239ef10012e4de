package digest

import (
	"github.com/amber-memory/amber"
)

// Kind says what an item is about.
type Kind string

// The kinds of items, in the order in which a digest has them.
const (
	Task       Kind = "task"       // what the user asked for
	Outcome    Kind = "outcome"    // what came of it
	Constraint Kind = "constraint" // what the user said must hold
	Preference Kind = "preference" // how the user wants things to be done
	Decision   Kind = "decision"   // what was chosen, with the reason where it was said
	Cause      Kind = "cause"      // what went wrong, why, and what mended it
	Command    Kind = "command"    // a command that works
	Unfinished Kind = "unfinished" // what is left to be done
)

// Kinds lists every kind in the order above.
func Kinds() []Kind {
	return []Kind{Task, Outcome, Constraint, Preference, Decision, Cause, Command, Unfinished}
}

// Bounds of a digest.
const (
	MaxItemBytes = 480 // the text of one item
	MaxFiles     = 20

	maxTurns     = 1000     // that are read: the first ones and the last
	maxTurnBytes = 64 << 10 // of a turn that are read: the beginning and the end
	maxSentences = 12000
)

// most says how many items of a kind a digest has.
var most = map[Kind]int{Task: 3, Outcome: 1, Constraint: 5, Preference: 5, Decision: 5, Cause: 5, Command: 5, Unfinished: 5}

// MaxItems is how many items a digest has.
const MaxItems = 34

// Item is one thing that is worth knowing about a session.
type Item struct {
	Kind Kind `json:"kind"`
	// Text is a stretch of the turn, on one line. Where Activity is set it is made
	// of the names of commands and files.
	Text string `json:"text"`
	// Turns are where it was said; for what was done, the turn before it.
	Turns    []amber.TurnID `json:"turns"`
	Activity bool           `json:"activity,omitempty"`
}

// Session is what the rules read.
type Session struct {
	ID        amber.SessionID
	Host      string
	Project   string
	Directory string           // paths are relative to it
	Turns     []amber.Turn     // in order
	Activity  []amber.Activity // in the order it was first done
}

// Digest is what a session amounts to.
type Digest struct {
	Session amber.SessionID `json:"session_id"`
	Host    string          `json:"host"`
	Project string          `json:"project,omitempty"`
	Items   []Item          `json:"items"` // by kind, then in the order they were said
	Files   []string        `json:"files"` // that were changed, the last ones
	Tasks   []string        `json:"tasks"` // of the agent's own list, those that are not completed
	Lost    []string        `json:"lost"`  // what the journal had no room for
	Prompts int             `json:"prompts"`
}

// Make returns the digest of a session.
func Make(s Session) Digest {
	d := Digest{Session: s.ID, Host: s.Host, Project: s.Project, Items: []Item{}, Files: changed(s.Activity, s.Directory), Tasks: open(s.Activity), Lost: lost(s.Activity)}
	t := read(s.Turns)
	d.Prompts = t.prompts
	t.repeated()
	t.central()
	p := &picker{talk: t, used: map[int]bool{}, now: map[Kind][]Item{}}
	p.pick()
	p.activity(s.Activity, s.Directory)
	for _, k := range Kinds() {
		d.Items = append(d.Items, p.now[k]...)
	}
	return d
}

// With returns the digest with the items that a writer wrote. Where the writer names
// no task or no outcome, those of the rules stay.
func (d Digest) With(items []Item) Digest {
	var all []Item
	for _, k := range Kinds() {
		of := Digest{Items: items}.Of(k)
		if len(of) == 0 && (k == Task || k == Outcome) {
			of = d.Of(k)
		}
		all = append(all, of...)
	}
	d.Items = all
	return d
}

// Of returns the items of a kind.
func (d Digest) Of(k Kind) (out []Item) {
	for _, it := range d.Items {
		if it.Kind == k {
			out = append(out, it)
		}
	}
	return out
}

// Empty reports whether nothing was said or done.
func (d Digest) Empty() bool { return len(d.Items) == 0 && len(d.Files) == 0 && len(d.Tasks) == 0 }
