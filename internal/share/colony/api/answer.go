package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/share/colony"
)

// Causes of answers that make no sense. None repeats what was answered.
var (
	errNotJSON = errors.New("the answer is not JSON")
	errShape   = errors.New("the answer is JSON of another shape")
	errOther   = errors.New("the answer is about another file")
)

// unwrap returns the JSON of an answer, which is bare or in "result".
func unwrap(b []byte) (json.RawMessage, error) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || answerRules.Check(b, nil) != nil || b[0] != '{' && !json.Valid(b) {
		return nil, errNotJSON
	}
	if b[0] == '[' {
		return b, nil
	}
	var outer struct {
		Result json.RawMessage `json:"result"`
	}
	if b[0] != '{' {
		return nil, errShape
	}
	if json.Unmarshal(b, &outer) != nil {
		return nil, errNotJSON // every object fits
	}
	if r := outer.Result; len(r) > 0 && (r[0] == '{' || r[0] == '[') {
		return r, nil
	}
	return b, nil
}

// answerRules refuse half a surrogate pair, for which the decoder would silently put another character.
var answerRules = strictjson.Rules{Space: true, Null: true, Unknown: true, Twice: true}

// item is a file in an answer. Names differ among vaults.
type item struct {
	Filename    string    `json:"filename"`
	Name        string    `json:"name"`
	ContentSize *int64    `json:"content_size"`
	Size        *int64    `json:"size"`
	CreatedAt   looseTime `json:"created_at"`
	UpdatedAt   looseTime `json:"updated_at"`
	ETag        *string   `json:"etag"`
	Content     *string   `json:"content"`
}

func (i item) info() colony.FileInfo {
	f := colony.FileInfo{Name: i.Filename, Size: -1, CreatedAt: i.CreatedAt.Time, UpdatedAt: i.UpdatedAt.Time}
	f.Name = cmp.Or(f.Name, i.Name)
	for _, size := range []*int64{i.Size, i.ContentSize} {
		if size != nil && *size >= 0 {
			f.Size = *size
		}
	}
	if i.ETag != nil {
		f.Version = strong(*i.ETag, true)
	}
	return f
}

// looseTime is a time that may be missing, without a zone (then it is UTC), or
// nonsense (then it is not known).
type looseTime struct{ amber.Time }

// UnmarshalJSON never fails.
func (t *looseTime) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if p, err := time.Parse(layout, s); err == nil {
			t.Time = amber.At(p)
			break
		}
	}
	return nil
}

// strong returns an ETag that a write can name, with its quotes; "" for none. In
// a body it may stand without them.
func strong(tag string, bare bool) string {
	tag = strings.TrimSpace(tag)
	if len(tag) > 1024 || !printable(tag) {
		return ""
	}
	inner, found := strings.CutPrefix(tag, `"`)
	if found {
		inner, found = strings.CutSuffix(inner, `"`)
	} else if bare && tag != "" {
		inner, found = tag, true
	}
	if !found || strings.Contains(inner, `"`) {
		return ""
	}
	return `"` + inner + `"`
}

// parseItem reads a file of a given name from an answer. Its version is that of
// the header, else that of the body.
func parseItem(name string, a answer) (colony.FileInfo, item, error) {
	inner, err := unwrap(a.body)
	if err != nil {
		return colony.FileInfo{}, item{}, err
	}
	var i item
	if json.Unmarshal(inner, &i) != nil {
		return colony.FileInfo{}, item{}, errShape
	}
	f := i.info()
	if f.Name != "" && f.Name != name {
		return colony.FileInfo{}, item{}, errOther
	}
	f.Name = name
	if v := strong(a.header.Get("ETag"), false); v != "" {
		f.Version = v
	}
	return f, i, nil
}

// parseFile reads the answer to a get.
func parseFile(name string, a answer) (colony.File, error) {
	f, i, err := parseItem(name, a)
	if err != nil {
		return colony.File{}, err
	}
	if i.Content == nil {
		return colony.File{}, errShape
	}
	f.Size = int64(len(*i.Content))
	return colony.File{FileInfo: f, Content: *i.Content}, nil
}

// parseInfo reads the answer to a put, which names the file.
func parseInfo(name string, a answer) (colony.FileInfo, error) {
	f, i, err := parseItem(name, a)
	if err == nil && i.Filename == "" && i.Name == "" {
		err = errShape
	}
	return f, err
}
