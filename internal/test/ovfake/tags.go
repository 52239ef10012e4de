package ovfake

import (
	"encoding/json"
	"slices"
	"strings"
)

// pair takes a tag apart: key=value, with one equals sign.
func pair(tag string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(tag, "=")
	return key, value, ok && key != "" && value != "" && !strings.Contains(value, "=")
}

// valid returns the tags that are well-formed; others are dropped in silence.
func valid(tags []string) (kept []string) {
	for _, t := range tags {
		if _, _, ok := pair(t); ok {
			kept = append(kept, t)
		}
	}
	return kept
}

// filter returns the tags that a question wants. Where two have one key, the last counts alone.
func filter(tags []string) (map[string]string, error) {
	want := map[string]string{}
	for _, t := range tags {
		k, v, ok := pair(t)
		if !ok {
			return nil, invalid("invalid search tag '%s': expected strict k=v format", t)
		}
		want[k] = v
	}
	return want, nil
}

// tags returns the tags of a file, an empty list for none.
func (a *account) tags(p string) []string {
	if n := a.tree[p]; n != nil && n.tags != nil {
		return n.tags
	}
	return []string{}
}

// tagged reports whether all tags that are wanted are there.
func tagged(tags []string, want map[string]string) bool {
	for k, v := range want {
		if !slices.Contains(tags, k+"="+v) {
			return false
		}
	}
	return true
}

// setTags replaces the tags of a file.
func (s *Server) setTags(c *call) error {
	var in struct {
		URI       string          `json:"uri"`
		Tags      []string        `json:"tags"`
		Mode      string          `json:"mode"`
		Recursive bool            `json:"recursive"`
		Telemetry json.RawMessage `json:"telemetry"`
	}
	if err := c.strict(&in, "uri", "tags"); err != nil {
		return err
	}
	a, err := s.tenant(c)
	if err != nil {
		return err
	}
	p, err := s.own(c.id, in.URI, "write")
	if err != nil {
		return err
	}
	n := a.tree[p]
	if n == nil || n.dir {
		return missing("file", "File", scheme+p)
	}
	n.tags = valid(in.Tags)
	return c.lean(object{
		"uri": scheme + p, "updated_uris": []string{scheme + p}, "root_uri": scheme + kind(p), "context_type": "memory",
		"tags": a.tags(p), "mode": "replace", "success_count": 1, "skipped_count": 0, "failed_count": 0, "tags_updated": true,
	})
}
