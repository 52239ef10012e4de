package main

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
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/term"
)

// printer writes results to stdout and remarks to stderr.
type printer struct {
	out, err    io.Writer
	json, quiet bool
	colour      bool // of out
	errColour   bool // of err
	columns     int  // of a terminal; 0: out is none
	errColumns  int
	bars        bool // a person watches stderr
	meter       *meter
	now         amber.Clock
}

// newPrinter is called once the flags are parsed. Colour is for people: a
// terminal, and no sign that they do not want it. One of stdout and stderr may be
// a terminal and the other a file.
func newPrinter(a *app) printer {
	wanted := !a.global.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
	columns := func(w io.Writer) int {
		if f, isFile := w.(*os.File); isFile {
			return term.Columns(f)
		}
		return 0
	}
	p := printer{
		out: a.stdout, err: a.stderr, json: a.global.json, quiet: a.global.quiet, now: a.clock, meter: &a.meter,
		columns: columns(a.stdout), errColumns: columns(a.stderr),
	}
	p.colour, p.errColour = wanted && !p.json && p.columns > 0, wanted && p.errColumns > 0
	// A JSON document on the same terminal must not be mixed with a bar.
	p.bars = p.errColumns > 0 && !p.quiet && a.getenv("TERM") != "dumb" && !(p.json && p.columns > 0)
	return p
}

// aside is the printer of what goes to stderr.
func (p printer) aside() printer {
	p.out, p.colour, p.columns = p.err, p.errColour, p.errColumns
	return p
}

// showAside prints for people what goes to stderr.
func (a *app) showAside(human func(w io.Writer)) {
	was := a.out
	a.out = was.aside()
	defer func() { a.out = was }()
	w := &page{bufio.NewWriter(a.stderr), a.out.columns}
	human(w)
	_ = w.Flush() // like every remark: there is nobody else to tell
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

// wrapped prints a line. On a terminal one that does not fit goes on below, indented.
func wrapped(w io.Writer, indent int, format string, args ...any) {
	for _, line := range term.Wrap(fmt.Sprintf(format, args...), columnsOf(w), indent) {
		fmt.Fprintln(w, line)
	}
}

// show prints a result: v as one JSON document with --json, else what human
// writes.
func (p printer) show(v any, human func(w io.Writer)) error {
	w := &page{bufio.NewWriter(p.out), p.columns}
	if p.json {
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

// lines prints items as JSON Lines.
func lines[T any](p printer, items []T) error {
	w := bufio.NewWriter(p.out)
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

// note tells the user something beside the result.
func (p printer) note(format string, args ...any) {
	if !p.quiet {
		fmt.Fprintf(p.err, p.meter.clear()+"amber: "+format+"\n", args...)
	}
}

// Styles of human output; none where there is no colour.
const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	amb   = "\x1b[38;5;214m"
	plain = "\x1b[0m"
)

func (p printer) style(style, s string) string {
	if !p.colour || s == "" {
		return s
	}
	return style + s + plain
}

// shortID is what people type: the end of an id, since the beginning of a
// UUIDv7 is time and collides.
func shortID(id string) string {
	if len(id) == 36 && id[8] == '-' {
		return id[28:]
	}
	return id
}

// when tells a time as people do.
func (p printer) when(t amber.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := p.now().Sub(t.Time())
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
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
	return t.Time().Format("2006-01-02")
}

// safe makes stored text fit for a terminal: characters that could move the
// cursor, or turn the direction of what follows, are shown and not obeyed.
func safe(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// oneLine returns the beginning of s on one line, at most n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(safe(s)), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// failure is the JSON of an error.
type failure struct {
	Error struct {
		Kind    amber.Kind `json:"kind"`
		Message string     `json:"message"`
		Hint    string     `json:"hint,omitempty"`
	} `json:"error"`
}

// fail reports an error on one line of stderr, the hint on a second, and as
// JSON on stdout where JSON was asked for. It returns the exit code.
func (a *app) fail(err error, args []string) int {
	if reported := (errReported{}); errors.As(err, &reported) {
		return reported.kind.ExitCode()
	}
	kind, hint := amber.KindOf(err), amber.HintOf(err)
	if hint == "" && errors.Is(err, syscall.ENOSPC) {
		hint = "free some disk space and try again; amber snapshot gc frees what no snapshot needs"
	}
	message := strings.Join(strings.Fields(safe(strings.ReplaceAll(err.Error(), "\n", "; "))), " ")
	fmt.Fprintf(a.stderr, "amber: %s\n", message)
	if hint != "" {
		fmt.Fprintf(a.stderr, "hint: %s\n", hint)
	}
	// The flags may be what is wrong, so the command line itself is asked.
	if a.global.json || slices.Contains(args, "--json") {
		var f failure
		f.Error.Kind, f.Error.Message, f.Error.Hint = kind, message, hint
		e := json.NewEncoder(a.stdout)
		e.SetEscapeHTML(false)
		if err := e.Encode(f); err != nil && !errors.Is(err, os.ErrClosed) {
			fmt.Fprintln(a.stderr, "amber: print error:", err)
		}
	}
	return kind.ExitCode()
}

// judged ends a command that has shown its report already and whose verdict is
// an error: it is told on stderr alone, so that stdout stays one document.
func (a *app) judged(err error) error {
	if err == nil {
		return nil
	}
	fmt.Fprintf(a.stderr, "amber: %s\n", flat(err.Error()))
	if hint := amber.HintOf(err); hint != "" {
		fmt.Fprintf(a.stderr, "hint: %s\n", flat(hint))
	}
	return errReported{amber.KindOf(err)}
}

// errReported ends a command whose output has said already what is wrong.
type errReported struct{ kind amber.Kind }

func (e errReported) Error() string { return string(e.kind) }

// showChecked prints a report of what was checked, and ends the command as
// damaged where the report says so.
func (a *app) showChecked(r interface{ OK() bool }, print func(w io.Writer)) error {
	if err := a.out.show(r, print); err != nil {
		return err
	}
	if !r.OK() {
		return errReported{amber.KindDamaged}
	}
	return nil
}

// fact prints a labelled line where there is something to say.
func (p printer) fact(w io.Writer, label, value string) {
	if value != "" {
		wrapped(w, 4, "%s %s", p.style(dim, label+":"), oneLine(value, 400))
	}
}

// warn tells the user that something is wrong though the command goes on.
// Nobody can ask not to be told.
func (p printer) warn(format string, args ...any) {
	text := flat(fmt.Sprintf(format, args...))
	fmt.Fprintln(p.err, p.meter.clear()+"amber: "+p.aside().style(amb, "WARNING")+": "+text)
}

// listed prints the words of a report under a label, several on a line.
func (p printer) listed(w io.Writer, label string, words []string) {
	if len(words) > 0 {
		wrapped(w, 4, "  %s %s", p.style(dim, label+":"), flat(strings.Join(words, ", ")))
	}
}
