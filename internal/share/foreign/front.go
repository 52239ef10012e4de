package foreign

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// maxFront bounds the head of a Markdown file.
const maxFront = 64 << 10

// Front is the YAML at the head of a Markdown file.
type Front map[string]any

// SplitFront returns the head of a Markdown file, between two lines "---", and what follows it. Broken YAML is no head: the
// file is all body, and the error says why.
func SplitFront(b []byte) (front Front, body string, err error) {
	text := strings.ReplaceAll(string(TrimMark(b)), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text, nil
	}
	head, body, ok := cutLine(rest, "---")
	if !ok {
		return nil, text, nil
	}
	if front, err = parseFront(head); err != nil {
		return nil, text, err
	}
	return front, body, nil
}

// cutLine cuts at a line that is mark alone.
func cutLine(s, mark string) (before, after string, ok bool) {
	for at := 0; at <= len(s); {
		end := strings.IndexByte(s[at:], '\n')
		line, next := s[at:], len(s)
		if end >= 0 {
			line, next = s[at:at+end], at+end+1
		}
		if strings.TrimRight(line, " \t") == mark {
			return s[:at], s[next:], true
		}
		if end < 0 {
			break
		}
		at = next
	}
	return s, "", false
}

// parseFront reads YAML without references: with references, ten lines can expand to gigabytes.
func parseFront(head string) (front Front, err error) {
	if len(head) > maxFront {
		return nil, fmt.Errorf("front matter has %d bytes, the limit is %d", len(head), maxFront)
	}
	for _, t := range lexer.Tokenize(head) {
		if t.Type == token.AliasType || t.Type == token.AnchorType || t.Type == token.MergeKeyType {
			return nil, fmt.Errorf("front matter refers to parts of itself, which is not read")
		}
	}
	defer func() { // a parser that gives up on hostile text is one more kind of broken YAML
		if p := recover(); p != nil {
			front, err = nil, fmt.Errorf("front matter is not valid YAML: %v", p)
		}
	}()
	if err := yaml.NewDecoder(bytes.NewReader([]byte(head))).Decode(&front); err != nil && len(bytes.TrimSpace([]byte(head))) > 0 {
		return nil, fmt.Errorf("front matter is not valid YAML: %.100s", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	return front, nil
}

// Text returns a value as text; "" where it is absent, a list or an object.
func (f Front) Text(name string) string {
	switch v := f[name].(type) {
	case nil, []any, map[string]any, Front:
		return ""
	case string:
		return v
	case time.Time:
		return v.Format(time.RFC3339Nano)
	default:
		return fmt.Sprint(v)
	}
}

// Sub returns an object; nil where there is none.
func (f Front) Sub(name string) Front {
	sub, _ := f[name].(map[string]any)
	return sub
}

// Texts returns a list of texts; one text is cut at commas.
func (f Front) Texts(name string) []string {
	var out []string
	switch v := f[name].(type) {
	case []any:
		for _, e := range v {
			out = append(out, strings.TrimSpace(fmt.Sprint(e)))
		}
	case string:
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}
