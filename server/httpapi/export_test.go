package httpapi

import (
	"context"
	"io/fs"
	"net/http"
	"net/url"
	"reflect"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/wire"
)

// Operation is a row of the table as tests see it.
type Operation struct {
	ID, Method, Path string
	Scope            wire.TokenScope
	Scopes           string // as they are documented
	Mutates, List    bool
	HasBody          bool
	Raw              bool // the body is a file
	Home             bool // it concerns a part of the home
	Bound            bool // a bound caller reaches its own part
}

// Operations returns the table of routes.
func (a *API) Operations() []Operation {
	var all []Operation
	for _, o := range a.ops {
		row := Operation{ID: o.id, Method: o.method, Path: o.path, Scope: o.scope, Scopes: o.scopes(), Mutates: o.mutates, List: o.list, Home: o.home, Bound: o.bound}
		for i := range o.in.NumField() {
			row.HasBody = row.HasBody || o.in.Field(i).Tag.Get("body") != ""
			row.Raw = row.Raw || o.in.Field(i).Tag.Get("body") == "raw"
		}
		all = append(all, row)
	}
	return all
}

// WrongWords tells what is wrong with a table of words.
func WrongWords(files fs.FS) []string {
	_, wrong := readWords(files)
	return wrong
}

// WordFiles is the table of words that is built in.
var WordFiles fs.FS = wordFiles

// UnusedWords are the names in the table of words that nothing in the document has.
func (a *API) UnusedWords() []string {
	w := newWords()
	a.describe(w)
	return w.unused()
}

// Document is the OpenAPI document.
func (a *API) Document() []byte { return a.document() }

// Needed are the fields that are required, by schema, and the parameters that are, by operation.
func Needed() (fields, parameters map[string][]string) { return needed, neededParameters }

// Beyond are the operations that have kinds of error of their own.
func Beyond() map[string][]amber.Kind { return beyond }

// SetPace makes event streams look and beat as often as a test has time for.
func (a *API) SetPace(poll, beat time.Duration) { a.pace = pace{poll, beat} }

// SetUploads makes the bounds of uploads such as a test has time for.
func (a *API) SetUploads(most int64, places int, free func() uint64) {
	a.maxUpload, a.uploads = most, newCrowd("uploads", places)
	if free != nil {
		a.disk = func(string) (fsx.FSInfo, error) { return fsx.FSInfo{Type: "test", FreeBytes: free()}, nil }
	}
}

// StreamQueue is how many events wait for a slow reader.
const StreamQueue = streamQueue

// Bind binds a request to the input of every operation, as if it were about it,
// and returns the errors.
func (a *API) Bind(r func() *http.Request) (errs []error) {
	for _, o := range a.ops {
		_, err := a.bind(r(), o, reflect.New(o.in).Interface())
		errs = append(errs, err)
	}
	return errs
}

// DecodeAll decodes a body for every operation that takes one.
func (a *API) DecodeAll(b []byte) (errs []error) {
	for _, o := range a.ops {
		for i := range o.in.NumField() {
			if f := o.in.Field(i); f.Tag.Get("body") == "json" {
				errs = append(errs, decode(b, reflect.New(f.Type).Interface()))
			}
		}
	}
	return errs
}

// Decode decodes one body.
func Decode(b []byte, into any) error { return decode(b, into) }

// ParsePlace reads the id of an event and writes it again.
func ParsePlace(s string) (string, error) {
	p, err := parsePlace(s)
	return p.String(), err
}

// IfMatch reads a header of one entity tag, Matches one of several.
func IfMatch(header string) (string, error) { return ifMatch(header) }

// Matches reports whether a header of entity tags names a tag.
func Matches(header, tag string) bool { return matches(header, tag) }

// CheckPath checks a path and renames what the router would misread.
func CheckPath(u *url.URL) error { return checkPath(u) }

// Solid is what is written as JSON in the place of v.
func Solid(v any) any { return solid(v) }

// Placeless leaves places out of a report.
func Placeless[T any](ctx context.Context, v T) T { return placeless(ctx, v) }
