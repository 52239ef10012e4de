package transfer

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Part is a kind of item that an import may be limited to.
type Part string

// The parts. Relations belong to memories, turns to sessions.
const (
	Memories Part = "memories"
	Sessions Part = "sessions"
	Notes    Part = "notes"
)

// ParseParts reads a list such as "memories,notes". The error is of kind invalid.
func ParseParts(list string) (out []Part, err error) {
	for name := range strings.SplitSeq(list, ",") {
		p := Part(strings.TrimSpace(name))
		if err := amber.CheckOneOf("part", p, Memories, Sessions, Notes); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Options say how an import is made.
type Options struct {
	// Project and User win over what the files say.
	Project, User string
	// ProjectOf names the project of a directory that a file mentions; nil means its last element.
	ProjectOf func(dir string) string
	AsOwn     bool // the files are the caller's own: automatic context may use what they say
	DryRun    bool // look and count, write nothing
	// Since leaves out what was last changed before.
	Since amber.Time
	Only  []Part // empty: all
	// Observations asks for observations in any Markdown.
	Observations bool
	// Sensitive asks for rows that their program marks as sensitive.
	Sensitive bool
	// NeedUser refuses memories of a user where no user is named, as an agent of several users needs it.
	NeedUser bool
	// Redact takes secrets out of everything that is stored; nil: none.
	Redact *redact.Redactor
	// Settle brings what hooks have written down into the store before anything is stored, and names what it could not bring in:
	// what waits there would be stored a second time, as what the files say. Nil: nothing waits.
	Settle func(ctx context.Context) []string
	Clock  amber.Clock
	// NewID makes the id of an import: a UUID of version 7, so that ids are in the order of time.
	NewID func() (string, error)
	// Progress gets how many bytes of the files were read; nil: no progress is reported.
	Progress func(step string, done, total int64)
	// Most bounds how many bytes of the files are looked at; 0: all. It is for a first look, with DryRun.
	Most int64
}

func (o Options) wants(p Part) bool { return len(o.Only) == 0 || slices.Contains(o.Only, p) }

func (o Options) trust() amber.Trust {
	if o.AsOwn {
		return amber.TrustOwn
	}
	return amber.TrustImported
}

// reading are the options for a format.
func (o Options) reading() foreign.Options {
	of := o.ProjectOf
	return foreign.Options{
		Project: o.Project, User: o.User, Observations: o.Observations, Sensitive: o.Sensitive,
		ProjectOf: func(dir string) string {
			if of != nil {
				if id := of(dir); id != "" {
					return id
				}
			}
			return lastElement(dir)
		},
	}
}

// lastElement names the project of a directory that is not on this machine.
func lastElement(dir string) string {
	name := filepath.Base(strings.ReplaceAll(dir, "\\", "/"))
	if name == "." || name == "/" || amber.CheckID("project id", name) != nil {
		return ""
	}
	return name
}

// place is where an import comes from, as the store sees it: files of a format, one's own or not.
func place(format string, trust amber.Trust) string {
	if trust == amber.TrustOwn {
		return "import/" + format + "/own"
	}
	return "import/" + format
}
