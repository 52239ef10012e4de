// Package writer has digests of sessions written by a program or by a model behind an
// OpenAI-compatible endpoint. This package bounds their answers and package digest checks
// them; neither writer is believed.
package writer

import (
	"encoding/json"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/digest"
)

// Options name the writer. Command goes before URL.
type Options struct {
	Command string        // the path of a program
	URL     string        // of an OpenAI-compatible endpoint, as https://host/v1
	Model   string        // at that endpoint
	Key     string        // of that endpoint; "": none is sent
	Timeout time.Duration // for one session
	Environ []string      // of the program; nil: that of this process
}

// New returns the writer that the options name, nil where they name none.
func New(o Options) digest.Writer {
	switch {
	case o.Command != "":
		return command{o}
	case o.URL != "":
		return endpoint{o}
	}
	return nil
}

// Bounds of what goes out and comes back.
const (
	schema       = 1
	maxAnswer    = 1 << 20
	maxTurnsOut  = 1000
	maxTurnText  = 16 << 10 // of a turn that a program gets
	maxShortText = 4 << 10  // of a turn that a model gets
	maxModelText = 96 << 10 // of all turns that a model gets
	maxNamed     = 100      // commands, files and tasks that a model gets, of each
)

// document is a session as a writer gets it.
type document struct {
	Schema       int               `json:"schema"`
	SessionID    amber.SessionID   `json:"session_id"`
	Host         string            `json:"host"`
	Project      string            `json:"project,omitempty"`
	Kinds        []digest.Kind     `json:"kinds"`
	MaxItems     int               `json:"max_items"`
	MaxItemBytes int               `json:"max_item_bytes"`
	Turns        []turn            `json:"turns"`
	Commands     []documentCommand `json:"commands"`
	Files        []string          `json:"files"`
	Tasks        []documentTask    `json:"tasks"`
}

type turn struct {
	ID   amber.TurnID `json:"id"`
	Role amber.Role   `json:"role"`
	Text string       `json:"text"`
}

type documentCommand struct {
	Line   string `json:"line"`
	Count  int64  `json:"count"`
	Failed int64  `json:"failed"`
}

type documentTask struct {
	Text   string `json:"text"`
	Status string `json:"status"`
}

// answer is what a writer returns.
type answer struct {
	Items []digest.Item `json:"items"`
}

// newDocument returns a session with at most text bytes of each turn: what
// the user and the assistant said, and the names of what was done. The output of
// tools is not sent.
func newDocument(s digest.Session, text int) document {
	d := document{
		Schema: schema, SessionID: s.ID, Host: s.Host, Project: s.Project, Kinds: digest.Kinds(),
		MaxItems: digest.MaxItems, MaxItemBytes: digest.MaxItemBytes,
		Turns: []turn{}, Commands: []documentCommand{}, Files: []string{}, Tasks: []documentTask{},
	}
	for _, t := range s.Turns[max(0, len(s.Turns)-maxTurnsOut):] {
		if t.Trust != amber.TrustImported && (t.Role == amber.RoleUser || t.Role == amber.RoleAssistant) {
			d.Turns = append(d.Turns, turn{t.ID, t.Role, digest.BothEnds(t.Content, text)})
		}
	}
	for _, a := range s.Activity {
		switch a.Kind {
		case amber.ActivityCommand:
			d.Commands = append(d.Commands, documentCommand{a.Name, a.Count, a.Failed})
		case amber.ActivityFile:
			if a.Status != "read" {
				d.Files = append(d.Files, a.Name)
			}
		case amber.ActivityTask:
			d.Tasks = append(d.Tasks, documentTask{a.Name, a.Status})
		}
	}
	return d
}

// read reads the answer of a writer.
func read(b []byte) ([]digest.Item, error) {
	var a answer
	if len(b) > maxAnswer {
		return nil, amber.Errorf(amber.KindInvalid, "read digest", "", "the answer has more than %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, amber.Errorf(amber.KindInvalid, "read digest", "", "the answer is not JSON of the form {\"items\":[...]}")
	}
	return a.Items, nil
}
