package tui

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
)

// Terminal is where the UI is shown.
type Terminal struct {
	In      io.Reader
	Out     io.Writer
	Environ []string
	Plain   bool // without colour
}

// Run shows an agent until the user ends it. Errors: unreachable when ctx ends; internal.
func Run(ctx context.Context, src Source, out window.Outside, t Terminal) error {
	m := New(ctx, src, out)
	defer func() {
		m.Stop()
		m.children.end()
	}()
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Environ), tea.WithoutSignalHandler(),
	}
	if t.Plain {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	_, err := tea.NewProgram(m, options...).Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted):
		return &amber.Error{Op: "show terminal UI", Kind: amber.KindUnreachable, Err: errors.New("interrupted")}
	}
	return &amber.Error{Op: "show terminal UI", Kind: amber.KindInternal, Err: err}
}
