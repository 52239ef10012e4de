package api

import (
	"bytes"
	"encoding/json"

	"github.com/amber-memory/amber/internal/share/colony"
)

// parseStatus reads how much room there is.
func parseStatus(b []byte) (colony.Status, error) {
	inner, err := unwrap(b)
	if err != nil {
		return colony.Status{}, err
	}
	var s struct {
		Quota     *int64 `json:"quota_bytes"`
		Used      *int64 `json:"used_bytes"`
		Available *int64 `json:"available_bytes"`
		Files     int64  `json:"file_count"`
	}
	if json.Unmarshal(inner, &s) != nil || s.Quota == nil || s.Used == nil || *s.Quota < 0 || *s.Used < 0 || s.Files < 0 {
		return colony.Status{}, errShape
	}
	out := colony.Status{QuotaBytes: *s.Quota, UsedBytes: *s.Used, AvailableBytes: max(*s.Quota-*s.Used, 0), FileCount: s.Files}
	if s.Available != nil {
		out.AvailableBytes = max(*s.Available, 0)
	}
	return out, nil
}

// page is a piece of a listing.
type page struct {
	files  []colony.FileInfo
	more   bool
	cursor string
	total  int64 // as the answer states it; 0 where the answer does not
}

// paging is what an answer says about its other pages.
type paging struct {
	HasMore    *bool   `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
	Total      int64   `json:"total"`
}

// parsePage reads a listing: a list of names or objects, bare or in items or
// files. Anything else is no empty listing. It may name at most so many.
func parsePage(b []byte, most int) (page, error) {
	b = bytes.TrimSpace(b)
	inner, err := unwrap(b)
	if err != nil {
		return page{}, err
	}
	list := inner
	var p page
	if len(inner) < len(b) { // it is in another layer
		if _, err := p.read(b); err != nil {
			return page{}, err
		}
	}
	if inner[0] == '{' {
		if list, err = p.read(inner); err != nil {
			return page{}, err
		}
	}
	p.files, err = parseItems(list, most)
	return p, err
}

// read takes what an object of the answer says about other pages, and returns its list.
func (p *page) read(layer []byte) (list json.RawMessage, err error) {
	var g struct {
		paging
		Items, Files json.RawMessage
	}
	if json.Unmarshal(layer, &g) != nil {
		return nil, errShape
	}
	if g.NextCursor != nil && *g.NextCursor != "" {
		p.cursor, p.more = *g.NextCursor, true
	}
	if g.HasMore != nil {
		p.more = *g.HasMore
	}
	p.total = max(p.total, g.Total)
	if g.Items != nil {
		return g.Items, nil
	}
	return g.Files, nil
}

// parseItems reads a list of names or objects, one after the other: a hostile one
// is given up before it takes much room.
func parseItems(list json.RawMessage, most int) ([]colony.FileInfo, error) {
	if len(list) == 0 || list[0] != '[' {
		return nil, errShape
	}
	all := json.NewDecoder(bytes.NewReader(list))
	if _, err := all.Token(); err != nil { // the bracket
		return nil, errShape
	}
	files := []colony.FileInfo{}
	for all.More() {
		if len(files) == most {
			return nil, errTooMany
		}
		var r json.RawMessage
		var i item
		if all.Decode(&r) != nil {
			return nil, errShape
		}
		if r[0] == '"' {
			if json.Unmarshal(r, &i.Filename) != nil {
				return nil, errShape
			}
		} else if r[0] != '{' || json.Unmarshal(r, &i) != nil {
			return nil, errShape
		}
		f := i.info()
		if f.Name == "" {
			return nil, errShape
		}
		files = append(files, f)
	}
	return files, nil
}

// parseCapability returns whether the key has a capability. The client takes a capability that the vault does not list
// for allowed.
func parseCapability(b []byte, name string) (allowed bool, why string, err error) {
	inner, err := unwrap(b)
	if err != nil {
		return false, "", err
	}
	type capability struct {
		Name    string `json:"name"`
		Allowed *bool  `json:"allowed"`
		Reason  any    `json:"reason"`
	}
	var o struct {
		Capabilities []capability `json:"capabilities"`
	}
	list := any(&o)
	if inner[0] == '[' {
		list = &o.Capabilities
	}
	if json.Unmarshal(inner, list) != nil || o.Capabilities == nil {
		return false, "", errShape
	}
	for _, c := range o.Capabilities {
		if c.Name == name && c.Allowed != nil && !*c.Allowed {
			why, _ = c.Reason.(string)
			return false, why, nil
		}
	}
	return true, "", nil
}
