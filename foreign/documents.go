package foreign

import (
	"bytes"
	"errors"
	"strings"
)

// headBytesOfJSON is how much of a document is looked at.
const headBytesOfJSON = 64 << 10

// errSeen ends the look at a document.
var errSeen = errors.New("seen")

// Sample is the head of a JSON document: the first element of each list, by the name of the list, "" for a document that
// is a list; and the other members of the top object.
type Sample struct {
	First   map[string]Object
	Members Object
}

// Sample looks at the head of a file. Of one that is not JSON it is empty.
func (f File) Sample() Sample {
	s := Sample{First: map[string]Object{}, Members: Object{}}
	head := bytes.TrimSpace(f.Head(headBytesOfJSON))
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

// Documents returns the JSON files whose heads fit, after a look at no more than most of them: a file alone whatever its
// name, in a folder those that lie in it or in a folder of it.
func (t *Tree) Documents(most int, fits func(Sample) bool) []File {
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
