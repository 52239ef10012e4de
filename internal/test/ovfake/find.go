package ovfake

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

type findRequest struct {
	Query      string          `json:"query"`
	ImageURL   json.RawMessage `json:"image_url"`
	Targets    some            `json:"target_uri"`
	Types      some            `json:"context_type"`
	Limit      int             `json:"limit"`
	NodeLimit  *int            `json:"node_limit"`
	Threshold  *float64        `json:"score_threshold"`
	Filter     json.RawMessage `json:"filter"`
	Provenance bool            `json:"include_provenance"`
	Tags       []string        `json:"tags"`
	Since      *string         `json:"since"`
	Until      *string         `json:"until"`
	TimeField  *string         `json:"time_field"`
	Level      levels          `json:"level"`
	Content    bool            `json:"read_content"`
	Telemetry  json.RawMessage `json:"telemetry"`
	Decay      json.RawMessage `json:"events_time_decay_protection"`
}

// blank reports whether there is no question: then everything has a score of 0.
func (in findRequest) blank() bool { return strings.TrimSpace(in.Query) == "" }

// levels are the levels that are asked for; none: all. 2 is a file.
type levels []int

// UnmarshalJSON takes a number, a list or null.
func (l *levels) UnmarshalJSON(raw []byte) error {
	var one *int
	if json.Unmarshal(raw, &one) == nil {
		if *l = nil; one != nil {
			*l = levels{*one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]int)(l))
}

func (l levels) has(level int) bool { return len(l) == 0 || slices.Contains(l, level) }

func (s *Server) find(c *call) error {
	in := findRequest{Limit: 10}
	if err := c.strict(&in); err != nil {
		return err
	}
	if in.Limit < 1 {
		return malformed(atLeast(1, "body", "limit"))
	}
	a, err := s.tenant(c)
	if err != nil {
		return err
	}
	targets, tags, err := s.targets(c.id, in)
	if err != nil {
		return err
	}
	if !in.blank() {
		if err := s.embedQuery(c); err != nil {
			return err
		}
	}
	hits := s.nearest(a, in, targets, tags)
	found := map[string][]object{"memory": {}, "resource": {}}
	for _, h := range hits {
		found[h.kind()] = append(found[h.kind()], h.shown(a, in.Content))
	}
	return c.lean(object{
		"memories": found["memory"], "resources": found["resource"], "skills": []object{}, "total": len(hits),
	})
}

// targets checks a question and returns the folders it looks at.
func (s *Server) targets(id identity, in findRequest) (targets []string, tags map[string]string, err error) {
	for _, t := range in.Types {
		if !slices.Contains([]string{"memory", "resource", "skill"}, t) {
			return nil, nil, invalid("context_type must be one or more of: memory, resource, skill")
		}
	}
	for _, t := range in.Targets {
		p, err := s.own(id, t, "read")
		if err != nil {
			return nil, nil, err
		}
		targets = append(targets, p)
	}
	switch {
	case len(targets) > 0:
	case s.opts.Mode == ModeDev:
		targets = []string{"user"}
	default:
		targets = []string{"user/" + id.user}
	}
	if in.blank() && len(in.Types) == 0 && len(in.Tags) == 0 {
		return nil, nil, invalid("Search query or image_url must not be empty unless a filter is provided.")
	}
	tags, err = filter(in.Tags)
	return targets, tags, err
}

// breakerLimit is how often in a row the embedder may fail a question before it
// is not asked any more.
const breakerLimit = 3

// embedQuery asks the embedder for the vector of a question.
func (s *Server) embedQuery(c *call) error {
	if err := s.await(c); err != nil {
		return err
	}
	if !s.mood.embedderDown {
		return nil
	}
	if s.mood.failures++; s.mood.failures > breakerLimit {
		return internal()
	}
	return &refusal{
		status: http.StatusServiceUnavailable, code: "UNAVAILABLE",
		message: "Upstream model service unavailable (HTTP 503): embedder is down",
		details: object{
			"upstream_message": "embedder is down", "upstream_status_code": http.StatusServiceUnavailable,
			"upstream_error_type": "ModelError",
		},
	}
}

// hit is a record that was found.
type hit struct {
	path string
	record
	score float64
}

// nearest returns the best hits, however far they are.
func (s *Server) nearest(a *account, in findRequest, targets []string, tags map[string]string) (hits []hit) {
	query := quantise(s.opts.Embedder.Vector(in.Query))
	for _, p := range slices.Sorted(maps.Keys(a.index)) {
		r := a.index[p]
		h := hit{path: p, record: r}
		if !in.blank() {
			h.score = query.score(r.vector)
		}
		if slices.ContainsFunc(targets, func(t string) bool { return below(p, t) }) && tagged(a.tags(p), tags) &&
			in.Level.has(h.level) && (len(in.Types) == 0 || slices.Contains(in.Types, h.kind())) &&
			(in.Threshold == nil || h.score >= *in.Threshold) {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(y.score, x.score) })
	return hits[:min(in.Limit, len(hits))]
}

// kind says in which list of the answer a hit is.
func (h hit) kind() string {
	if strings.Contains(h.path, "/memories/") {
		return "memory"
	}
	return "resource"
}

// shown returns a hit with all of the text its vector was made of, and, if asked
// for, with what the file says now.
func (h hit) shown(a *account, content bool) object {
	doc := object{
		"context_type": h.kind(), "uri": scheme + h.path, "level": h.level, "score": h.score,
		"abstract": h.text, "tags": a.tags(h.path),
	}
	if n := a.tree[h.path]; content && n != nil {
		doc["content"] = n.text()
	}
	return doc
}
