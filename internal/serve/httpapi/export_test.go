package httpapi

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/op"
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
		row := Operation{
			ID: o.ID, Method: o.Method(), Path: o.Path(), Scope: o.Scope, Scopes: scopesOf(o), Mutates: o.Is(op.Changes), List: o.Is(op.Listed), Home: o.Is(op.OfHome), Bound: o.Is(op.Bound),
		}
		for i := range o.In.NumField() {
			row.HasBody = row.HasBody || o.In.Field(i).Tag.Get("body") != ""
			row.Raw = row.Raw || o.In.Field(i).Tag.Get("body") == "raw"
		}
		all = append(all, row)
	}
	return all
}

var wordKey = regexp.MustCompile(`^(tag [a-z_]+|[a-z_]+\.[a-z_.]+|(\*|[A-Z][A-Za-z]*)(\.[a-z_0-9]+)?|[A-Z][A-Za-z]*=[a-z_]+)$`)

// WrongWords lists the lines of the table of words that are not what they should be.
func WrongWords() (wrong []string) {
	seen := map[string]bool{}
	names, _ := fs.Glob(wordFiles, "words/*.txt")
	if len(names) == 0 {
		wrong = append(wrong, "there are no files of words")
	}
	for _, name := range names {
		b, err := wordFiles.ReadFile(name)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		begun := false
		for n, line := range strings.Split(string(b), "\n") {
			if begun && strings.HasPrefix(line, " ") {
				continue
			}
			begun = strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#")
			key, text, ok := strings.Cut(line, ":")
			if begun && (!ok || !wordKey.MatchString(key) || strings.TrimSpace(text) == "" || seen[key]) {
				wrong = append(wrong, fmt.Sprintf("%s:%d: %q has no colon, no name, no text, or is there twice", name, n+1, line))
			}
			seen[key] = seen[key] || begun
		}
	}
	return wrong
}

// UnusedWords are the names in the table of words that nothing in the document has.
func (a *API) UnusedWords() []string {
	used := map[string]bool{}
	a.document(func(names ...string) string {
		for _, name := range names {
			if text, ok := readWords()[name]; ok {
				used[name] = true
				return text
			}
		}
		return ""
	})
	return slices.DeleteFunc(slices.Sorted(maps.Keys(readWords())), func(name string) bool { return used[name] })
}

// Document is the OpenAPI document.
func (a *API) Document() []byte { return a.openapi() }

// Needed are the fields that are required, by schema, and the parameters that are, by operation.
func Needed() (fields, parameters map[string][]string) {
	parameters = map[string][]string{}
	for _, o := range op.All() {
		if len(o.Required) > 0 {
			parameters[o.ID] = o.Required
		}
	}
	return needed, parameters
}

// Beyond are the operations that have kinds of error of their own.
func Beyond() map[string][]amber.Kind {
	beyond := map[string][]amber.Kind{}
	for _, o := range op.All() {
		if len(o.Fails) > 0 {
			beyond[o.ID] = o.Fails
		}
	}
	return beyond
}

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
		_, err := a.bind(r(), o, reflect.New(o.In).Elem())
		errs = append(errs, err)
	}
	return errs
}

// DecodeAll decodes a body for every operation that takes one.
func (a *API) DecodeAll(b []byte) (errs []error) {
	for _, o := range a.ops {
		for i := range o.In.NumField() {
			if f := o.In.Field(i); f.Tag.Get("body") == "json" {
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

// CheckPath checks a path and renames what the router would misread.
func CheckPath(u *url.URL) error { return checkPath(u) }

// Solid is what is written as JSON in the place of v.
func Solid(v any) any { return solid(v) }
