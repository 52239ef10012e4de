package foreign

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
)

// errSeen ends the look at a document.
var errSeen = errors.New("seen")

// Sample is the head of a JSON document: the first element of each list, by the name of the list, "" for a document that
// is a list; and the other members of the top object.
type Sample struct {
	First   map[string]Object
	Members Object
}

// Sample looks at the head of a file. It returns an empty sample of a file that is not JSON.
func (f File) Sample() Sample {
	s := Sample{First: map[string]Object{}, Members: Object{}}
	head := bytes.TrimSpace(f.Head(headBytes))
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return s
	}
	_ = ReadJSON(bytes.NewReader(head), Document{
		Element: func(list string, n int64, raw []byte) error {
			o, err := ParseObject(raw)
			switch {
			case s.First[list] == nil && err == nil:
				s.First[list] = o
			case list == "" && n > 20:
				return errSeen
			}
			return nil
		},
		Member: func(name string, raw []byte) error {
			if v, err := ParseValue(raw); err == nil {
				s.Members[name] = v
			}
			return nil
		},
		Skip: func(string, string) {},
	})
	return s
}

// Bounds of the documents that are looked at.
const (
	lookedDocuments = 5 // to detect
	maxDocuments    = 1000
)

// DetectDocuments is the Detect of a format whose files have no name of their own: one of the first documents fits.
func (t *Tree) DetectDocuments(fits func(Sample) bool) Match {
	return SureIf(len(t.documents(lookedDocuments, fits)) > 0)
}

// Documents returns the JSON files whose heads fit, after a look at no more than a thousand of them: a file alone whatever
// its name, in a folder those that lie in it or in a folder of it.
func (t *Tree) Documents(fits func(Sample) bool) []File { return t.documents(maxDocuments, fits) }

func (t *Tree) documents(most int, fits func(Sample) bool) []File {
	var out []File
	for _, f := range t.files {
		if !t.single && (!f.Is(".json") || strings.Count(f.Name, "/") > 1) {
			continue
		}
		if most--; most < 0 {
			break
		}
		if fits(f.Sample()) {
			out = append(out, f)
		}
	}
	return out
}

// NearestDocuments returns the files that may be JSON without a name of its own, in the order of [Tree.Nearest]: those of
// the folder and of the folders in it.
func (t *Tree) NearestDocuments() []File {
	return slices.DeleteFunc(t.Nearest("*.json"), func(f File) bool { return f.IsDatabase() || strings.Count(f.Name, "/") > 1 })
}

// EachElement calls fn with every element of every list of a document, as [ReadJSON] does, and skip with what cannot be
// read. The error is that of fn or of ctx.
func (f File) EachElement(ctx context.Context, skip SkipFunc, fn func(list string, n int64, raw []byte) error) error {
	return ReadDocument(f, skip, Document{
		Element: func(list string, n int64, raw []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return fn(list, n, raw)
		},
	})
}

// ReadDocument reads a file as [ReadJSON] does, and calls skip with what cannot be read of it.
func ReadDocument(f File, skip SkipFunc, d Document) error {
	in, err := f.Open()
	if err != nil {
		skip(f.Place(""), "%v", err)
		return nil
	}
	defer in.Close()
	d.Skip = func(at, reason string) { skip(f.Place(at), "%s", reason) }
	return ReadJSON(in, d)
}
