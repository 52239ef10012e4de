package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/term"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/guard/shown"
)

// Printer writes results to stdout and remarks to stderr.
type Printer struct {
	Out, Err    io.Writer
	JSON, Quiet bool
	colour      bool // of out
	errColour   bool // of err
	Columns     int  // of a terminal; 0: out is none
	errColumns  int
	Bars        bool // a person watches stderr
	meter       *Meter
	Now         amber.Clock
}

// NewPrinter is called once the flags are parsed. Colour is for people: a
// terminal, and no sign that they do not want it. One of stdout and stderr may be
// a terminal and the other a file.
func NewPrinter(a *App) Printer {
	wanted := !a.Global.NoColor && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	columns := func(w io.Writer) int {
		if f, isFile := w.(*os.File); isFile {
			return term.Columns(f)
		}
		return 0
	}
	p := Printer{
		Out: a.Stdout, Err: a.Stderr, JSON: a.Global.JSON, Quiet: a.Global.Quiet, Now: a.Clock, meter: &a.Meter,
		Columns: columns(a.Stdout), errColumns: columns(a.Stderr),
	}
	p.colour, p.errColour = wanted && !p.JSON && p.Columns > 0, wanted && p.errColumns > 0
	// A JSON document on the same terminal must not be mixed with a bar.
	p.Bars = p.errColumns > 0 && !p.Quiet && a.Getenv("TERM") != "dumb" && !(p.JSON && p.Columns > 0)
	return p
}

// Aside is the printer of what goes to stderr.
func (p Printer) Aside() Printer {
	p.Out, p.colour, p.Columns = p.Err, p.errColour, p.errColumns
	return p
}

// ShowAside prints for people what goes to stderr.
func (a *App) ShowAside(human func(w io.Writer)) {
	was := a.Out
	a.Out = was.Aside()
	defer func() { a.Out = was }()
	w := &page{bufio.NewWriter(a.Stderr), a.Out.Columns}
	human(w)
	_ = w.Flush() // like every remark: the error has no other reader
}

// page is what people read: it knows how wide it is.
type page struct {
	*bufio.Writer
	columns int
}

// columnsOf is how wide the terminal is that w leads to, 0 when it leads to none.
func columnsOf(w io.Writer) int {
	if p, ok := w.(*page); ok {
		return p.columns
	}
	return 0
}

// Wrapped prints a line. On a terminal one that does not fit goes on below, indented.
func Wrapped(w io.Writer, indent int, format string, args ...any) {
	for _, line := range term.Wrap(fmt.Sprintf(format, args...), columnsOf(w), indent) {
		fmt.Fprintln(w, line)
	}
}

// Show prints a result: v as one JSON document with --json, else what human
// writes.
func (p Printer) Show(v any, human func(w io.Writer)) error {
	w := &page{bufio.NewWriter(p.Out), p.Columns}
	if p.JSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(v); err != nil {
			return &amber.Error{Op: "print", Kind: amber.KindInternal, Err: err}
		}
	} else {
		human(w)
	}
	if err := w.Flush(); err != nil {
		return &amber.Error{Op: "print", Kind: amber.KindInternal, Err: err}
	}
	return nil
}

// Answer prints the value that a call returned, unless the call failed:
//
//	return cli.Answer(s.Store.Stats.Stats(ctx))(a.Out, a.printStats)
func Answer[T any](v T, err error) func(p Printer, human func(w io.Writer, v T)) error {
	return func(p Printer, human func(w io.Writer, v T)) error {
		if err != nil {
			return err
		}
		return p.Show(v, func(w io.Writer) { human(w, v) })
	}
}

// Lines prints items as JSON Lines.
func Lines[T any](p Printer, items []T) error {
	w := bufio.NewWriter(p.Out)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, item := range items {
		if err := e.Encode(item); err != nil {
			return &amber.Error{Op: "print", Kind: amber.KindInternal, Err: err}
		}
	}
	if err := w.Flush(); err != nil {
		return &amber.Error{Op: "print", Kind: amber.KindInternal, Err: err}
	}
	return nil
}

// Note tells the user something beside the result.
func (p Printer) Note(format string, args ...any) {
	if !p.Quiet {
		fmt.Fprintf(p.Err, p.meter.clear()+"amber: "+format+"\n", args...)
	}
}

// Styles of human output; none where there is no colour.
const (
	Bold  = "\x1b[1m"
	Dim   = "\x1b[2m"
	Amb   = "\x1b[38;5;214m"
	Plain = "\x1b[0m"
)

// Style returns s in a style, unchanged where there is no colour.
func (p Printer) Style(style, s string) string {
	if !p.colour || s == "" {
		return s
	}
	return style + s + Plain
}

// ShortID is what people type: the end of an id, since the beginning of a
// UUIDv7 is time and collides.
func ShortID(id string) string {
	if len(id) == 36 && id[8] == '-' {
		return id[28:]
	}
	return id
}

// When tells a time as people do.
func (p Printer) When(t amber.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := p.Now().Sub(t.Time())
	switch {
	case d < 0:
		return t.Time().Format("2006-01-02 15:04")
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 30*24*time.Hour:
		return words.Count(int(d.Hours()/24), "day", "days") + " ago"
	}
	return t.Time().Format("2006-01-02")
}

// Safe makes stored text fit for a terminal, and for an agent that runs the command: what could move the cursor,
// turn the direction of what follows or not be seen is a mark, and what looks like an element of a host reads as text.
func Safe(s string) string { return shown.Marked(s) }

// OneLine returns the beginning of s on one line, at most n characters.
func OneLine(s string, n int) string {
	return clip.Runes(Flat(s), n)
}

// failure is the JSON of an error.
type failure struct {
	Error struct {
		Kind    amber.Kind `json:"kind"`
		Message string     `json:"message"`
		Hint    string     `json:"hint,omitempty"`
	} `json:"error"`
}

// Fail reports an error on one line of stderr, the hint on a second, and as
// JSON on stdout where JSON was asked for. It returns the exit code.
func (a *App) Fail(err error, args []string) int {
	if reported := (errReported{}); errors.As(err, &reported) {
		return reported.kind.ExitCode()
	}
	kind, hint := amber.KindOf(err), amber.HintOf(err)
	if hint == "" && errors.Is(err, syscall.ENOSPC) {
		hint = "free some disk space and try again; amber snapshot gc frees what no snapshot needs"
	}
	message := Flat(strings.ReplaceAll(err.Error(), "\n", "; "))
	fmt.Fprintf(a.Stderr, "amber: %s\n", message)
	if hint != "" {
		fmt.Fprintf(a.Stderr, "hint: %s\n", hint)
	}
	// The flags may be what is wrong, so the command line itself is asked.
	if a.Global.JSON || slices.Contains(args, "--json") {
		var f failure
		f.Error.Kind, f.Error.Message, f.Error.Hint = kind, message, hint
		e := json.NewEncoder(a.Stdout)
		e.SetEscapeHTML(false)
		if err := e.Encode(f); err != nil && !errors.Is(err, os.ErrClosed) {
			fmt.Fprintln(a.Stderr, "amber: print error:", err)
		}
	}
	return kind.ExitCode()
}

// Judged ends a command that has shown its report already and whose verdict is an error. It prints the error on
// stderr alone, so that stdout stays one document.
func (a *App) Judged(err error) error {
	if err == nil {
		return nil
	}
	fmt.Fprintf(a.Stderr, "amber: %s\n", Flat(err.Error()))
	if hint := amber.HintOf(err); hint != "" {
		fmt.Fprintf(a.Stderr, "hint: %s\n", Flat(hint))
	}
	return Reported(amber.KindOf(err))
}

// errReported ends a command whose output has said already what is wrong.
type errReported struct{ kind amber.Kind }

// Reported ends a command whose output has said already what is wrong, with the exit
// code of the kind.
func Reported(kind amber.Kind) error { return errReported{kind} }

func (e errReported) Error() string { return string(e.kind) }

// ShowChecked prints a report of what was checked, and ends the command as
// damaged where the report says so.
func (a *App) ShowChecked(r interface{ OK() bool }, print func(w io.Writer)) error {
	if err := a.Out.Show(r, print); err != nil {
		return err
	}
	if !r.OK() {
		return Reported(amber.KindDamaged)
	}
	return nil
}

// Fact prints a labelled line where there is something to say.
func (p Printer) Fact(w io.Writer, label, value string) {
	if value != "" {
		Wrapped(w, 4, "%s %s", p.Style(Dim, label+":"), OneLine(value, 400))
	}
}

// Warn tells the user that something is wrong though the command goes on. No flag silences it.
func (p Printer) Warn(format string, args ...any) {
	text := Flat(fmt.Sprintf(format, args...))
	fmt.Fprintln(p.Err, p.meter.clear()+"amber: "+p.Aside().Style(Amb, "WARNING")+": "+text)
}

// Listed prints the words of a report under a label, several on a line.
func (p Printer) Listed(w io.Writer, label string, words []string) {
	if len(words) > 0 {
		Wrapped(w, 4, "  %s %s", p.Style(Dim, label+":"), Flat(strings.Join(words, ", ")))
	}
}

// PrintNote prints a note as it is, so that it can be piped into another; only
// a terminal is kept from obeying it.
func (a *App) PrintNote(w io.Writer, content string) {
	if a.Out.Columns > 0 {
		content = Safe(content)
	}
	io.WriteString(w, content)
	if !strings.HasSuffix(content, "\n") {
		fmt.Fprintln(w)
	}
}
