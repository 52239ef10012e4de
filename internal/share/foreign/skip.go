package foreign

import "fmt"

// SkipFunc takes what is not imported, and why, as [Sink.Skip] does.
type SkipFunc func(at Place, format string, args ...any)

// Quiet is the SkipFunc of a pass over a file that another pass reports.
func Quiet(Place, string, ...any) {}

// Place returns a place in a file; at is "" for the whole file.
func (f File) Place(at string) Place { return Place{File: f.Name, At: at} }

// Line returns the place of a line of a file, from 1.
func (f File) Line(n int64) Place { return f.Place(fmt.Sprintf("line %d", n)) }
