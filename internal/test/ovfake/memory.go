package ovfake

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A memory file is a text without white space at its ends, and a trailer with
// fields as JSON:
//
//	text
//
//	<!-- MEMORY_FIELDS
//	{
//	  "version": 1
//	}
//	-->

var trailer = regexp.MustCompile(`(?s)<!-- MEMORY_FIELDS(.*?)-->`)

// encode returns the bytes of a memory file. Trailers inside of content are taken
// for its own, wherever they are: the fields of the first stay.
func encode(content string) []byte {
	fields := map[string]json.RawMessage{"version": json.RawMessage("1")}
	if m := trailer.FindStringSubmatchIndex(content); m != nil {
		_ = json.Unmarshal([]byte(content[m[2]:m[3]]), &fields) // what is no JSON is dropped
		content = trailer.ReplaceAllString(content, "")
	}
	var b bytes.Buffer
	if content = strings.TrimSpace(content); content != "" {
		b.WriteString(content + "\n\n")
	}
	text, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		panic(err) // the fields were JSON before
	}
	b.WriteString("<!-- MEMORY_FIELDS\n" + string(text) + "\n-->")
	return b.Bytes()
}

// text returns what a memory file says, without its trailer.
func (n *node) text() string {
	return strings.TrimSpace(trailer.ReplaceAllString(string(n.raw), ""))
}

// extensions are the files that can be made.
var extensions = []string{".md", ".txt", ".json", ".yaml", ".yml", ".toml", ".py", ".js", ".ts"}

// writable refuses paths at which there can be no memory file.
func (a *account) writable(p string) error {
	n := a.tree[p]
	switch {
	case kind(p) == "" && below(p, "resources"), kind(p) == "" && strings.Contains(p, "/resources"):
		return invalid("this fake keeps memories only: %s%s", scheme, p)
	case kind(p) == "":
		return invalid("memory write target must be inside a memory type directory: %s%s", scheme, p)
	case n != nil && n.dir:
		return invalid("write only supports existing files, got directory: %s%s", scheme, p)
	case n == nil && !slices.Contains(extensions, path.Ext(p)):
		return invalid("creating a new file does not allow extension '%s': %s%s", path.Ext(p), scheme, p)
	}
	return nil
}
