package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Home is the home of a project whose sessions are played.
type Home interface {
	// Play sends the events of a session to the hooks, and brings them into the store.
	Play(ctx context.Context, s Recorded) error
	// Probe starts a new session on a copy of the home, and sends a prompt unless it
	// is empty.
	Probe(ctx context.Context, prompt string) (Probe, error)
	// Close removes the home.
	Close() error
}

// Probe is what was put before the agent.
type Probe struct {
	Start  string        // with the start of a session
	Prompt string        // with the prompt
	Took   time.Duration // the prompt
}

// ContextOptions say how context is measured. Home is required.
type ContextOptions struct {
	// Home makes an empty home for a project.
	Home func(ctx context.Context, project string) (Home, error)
	// Budget is how long a prompt should take at most; 0: it is not judged.
	Budget time.Duration
	// Each keeps the outcome of every prompt.
	Each bool
	// Progress is told how many sessions and prompts are done; nil: not told.
	Progress func(done int64)
}

// ContextReport is what was put before the agent on a set.
type ContextReport struct {
	Set      string `json:"set"`
	Projects int    `json:"projects"`
	Sessions int    `json:"sessions"`

	// All are the prompts with something to be known; From are those of them whose
	// answer an earlier session gave.
	All     Injection   `json:"all"`
	Classes []Injection `json:"classes"`
	From    Injection   `json:"from_earlier"`

	Quiet     Quiet     `json:"quiet"`
	Precision Precision `json:"precision"`
	Start     Start     `json:"start"`

	PromptBytes Bytes `json:"prompt_bytes"` // of contexts that are not empty
	StartBytes  Bytes `json:"start_bytes"`

	Latency    Latency `json:"latency"`     // of the hook that takes the prompt
	OverBudget int     `json:"over_budget"` // prompts that took longer than the hook may

	Outcomes []PromptOutcome `json:"outcomes,omitempty"`
}

// Injection is how often the right thing stood before the agent.
type Injection struct {
	Class     string  `json:"class"`
	N         int     `json:"n"`
	Prompt    float64 `json:"prompt"`     // share: in the context of the prompt
	WithStart float64 `json:"with_start"` // share: in that, or in the context of the start
}

// Quiet is the share of prompts without anything to be known that got no context.
type Quiet struct {
	N     int     `json:"n"`
	Share float64 `json:"share"`
}

// Precision is the share of contexts that held what must be known.
type Precision struct {
	Injected int     `json:"injected"` // prompts with a context that is not empty
	Share    float64 `json:"share"`
}

// Start is how much of what a new session must know it was told.
type Start struct {
	N     int     `json:"n"` // strings
	Share float64 `json:"share"`
}

// PromptOutcome is what came of one prompt.
type PromptOutcome struct {
	Session   string  `json:"session"`
	Prompt    string  `json:"prompt"`
	Class     string  `json:"class,omitempty"` // "": the prompt should stay quiet
	From      string  `json:"from,omitempty"`
	Found     bool    `json:"found"`       // in the context of the prompt
	WithStart bool    `json:"found_start"` // in that, or in the context of the start
	Bytes     int     `json:"bytes"`
	MS        float64 `json:"ms"`
}

// Context plays the sessions of a set and asks what is put before the agent.
func Context(ctx context.Context, set string, projects []Project, o ContextOptions) (ContextReport, error) {
	r := &scene{o: o}
	for _, p := range projects {
		if err := r.play(ctx, p); err != nil {
			return ContextReport{}, err
		}
	}
	report := r.report()
	report.Set, report.Projects = set, len(projects)
	return report, nil
}

// scene is one measurement of context.
type scene struct {
	o          ContextOptions
	sessions   int
	outcomes   []PromptOutcome
	starts     []string
	prompts    []string
	startN     int
	startFound int
	took       []time.Duration
	done       int64
}

// play plays the sessions of a project, one after the other in one home.
func (r *scene) play(ctx context.Context, p Project) (err error) {
	home, err := r.o.Home(ctx, p.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, home.Close()) }()
	for _, s := range p.Sessions {
		if err := home.Play(ctx, s); err != nil {
			return fmt.Errorf("play session %s: %w", s.ID, err)
		}
		r.sessions++
		r.progress()
		if err := r.probe(ctx, home, s); err != nil {
			return fmt.Errorf("ask after session %s: %w", s.ID, err)
		}
	}
	return nil
}

func (r *scene) progress() {
	if r.done++; r.o.Progress != nil {
		r.o.Progress(r.done)
	}
}

// probe asks what a session expects.
func (r *scene) probe(ctx context.Context, home Home, s Recorded) error {
	start, err := home.Probe(ctx, "")
	if err != nil {
		return err
	}
	r.starts = append(r.starts, start.Start)
	for _, want := range s.Start {
		if r.startN++; Holds(start.Start, want) {
			r.startFound++
		}
	}
	asked := slices.Clone(s.Expect)
	for _, q := range s.Quiet {
		asked = append(asked, Expectation{Prompt: q})
	}
	for _, x := range asked {
		p, err := home.Probe(ctx, x.Prompt)
		if err != nil {
			return err
		}
		r.prompts, r.took = append(r.prompts, p.Prompt), append(r.took, p.Took)
		found := holdsAny(p.Prompt, x.Must)
		from := x.From
		if from == s.ID {
			from = ""
		}
		r.outcomes = append(r.outcomes, PromptOutcome{
			Session: s.ID, Prompt: x.Prompt, Class: x.Class, From: from, Bytes: len(p.Prompt),
			Found: found, WithStart: found || holdsAny(p.Start, x.Must), MS: float64(p.Took) / float64(time.Millisecond),
		})
		r.progress()
	}
	return nil
}
