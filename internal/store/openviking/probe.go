package openviking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// Step is one thing that a probe tried.
type Step struct {
	Name string        `json:"name"`
	Took time.Duration `json:"took"`
	Err  error         `json:"-"` // nil: it works
}

// cleanTimeout bounds how long a probe takes to remove what it wrote.
const cleanTimeout = 10 * time.Second

// Probe tries the server: health, a write, a find and a delete, in a folder of its own. Steps
// behind one that failed are left out.
func (s *Store) Probe(ctx context.Context) (steps []Step) {
	var l layout
	var folder, uri string
	text := fmt.Sprintf("Probe of a memory index at %s.", amber.At(s.o.Clock()))
	for _, step := range []struct {
		name string
		try  func() error
	}{
		{"health", func() (err error) {
			l, err = s.ready(ctx)
			folder = l.root() + "/" + doctorFolder
			uri = fmt.Sprintf("%s/probe-%x%s", folder, s.o.Clock().UnixNano(), fileSuffix)
			return err
		}},
		{"write", func() error { return s.o.Server.Write(ctx, uri, text) }},
		{"find", func() error { return s.probeFind(ctx, folder, uri, text) }},
		{"delete", func() error { return s.o.Server.Delete(ctx, uri, false) }},
	} {
		begun := s.o.Clock()
		err := step.try()
		steps = append(steps, Step{step.name, s.o.Clock().Sub(begun), err})
		if err != nil {
			s.cleanProbe(ctx, steps, folder)
			return steps
		}
	}
	s.cleanProbe(ctx, steps, folder)
	return steps
}

func (s *Store) probeFind(ctx context.Context, folder, uri, text string) error {
	found, err := s.o.Server.Find(ctx, api.Query{Text: text, Targets: []string{folder}, Limit: leastFound})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(found, func(f api.Found) bool { return f.URI == uri }) {
		return amber.Errorf(amber.KindNotFound, "find", uri, "the file that was written is not among the %d files found", len(found))
	}
	return nil
}

// cleanProbe removes the folder of a probe that came as far as writing.
func (s *Store) cleanProbe(ctx context.Context, steps []Step, folder string) {
	if len(steps) < 2 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	_ = s.o.Server.Delete(ctx, folder, true) // the step before has said what is wrong
}
