package chunk

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire/sign"
)

// Format is what the header of a chunk names. A chunk has the lowest version that holds its records: [formatOf].
const (
	Format       = "amber-sync/2"
	formatFamily = "amber-sync/"
	version      = 2

	withoutAuthors = "amber-sync/1"
)

// formatOf returns the version that records need: authors, the trust agent, also of prompts, and the trust of relations came with the second.
func formatOf(records []amber.SyncRecord) string {
	for _, r := range records {
		m, rel := r.Memory, r.Relation
		if m != nil && (m.Trust == amber.TrustAgent || m.Author != (amber.Author{})) || r.Prompt != nil && r.Prompt.Trust == amber.TrustAgent ||
			rel != nil && (rel.Trust != "" || rel.Author != (amber.Author{})) {
			return Format
		}
	}
	return withoutAuthors
}

// Header is the first line of a chunk.
type Header struct {
	Format      string     `json:"format"`      // [Format]
	Device      string     `json:"device"`      // that made the chunk
	Incarnation string     `json:"incarnation"` // of its store
	CreatedBy   string     `json:"created_by"`  // a person; may be empty
	CreatedAt   amber.Time `json:"created_at"`  // by the clock of the device
	Counts      Counts     `json:"counts"`
	Parents     []ID       `json:"parents"`            // chunks that were there before, sorted
	Project     string     `json:"project,omitempty"`  // sessions, memories and prompts belong to it; "": to any
	Rewrites    []ID       `json:"rewrites,omitempty"` // chunks that this one replaces, sorted
	// SignedBy is the key that the chunk is signed with. It is part of what is
	// signed, so that a signature cannot be taken away unnoticed.
	SignedBy sign.KeyID `json:"signed_by,omitempty"`
}

// Counts tells how many records of each sort a chunk holds.
type Counts struct {
	Sessions  int `json:"sessions"`
	Memories  int `json:"memories"` // versions with text
	Prompts   int `json:"prompts"`
	Relations int `json:"relations"` // that are not deleted
	// Deleted counts tombstones of memories and relations, erasures, and
	// sessions and prompts that are gone.
	Deleted int `json:"deletions"`
}

// Total returns the number of records.
func (c Counts) Total() int {
	return c.Sessions + c.Memories + c.Prompts + c.Relations + c.Deleted
}

func (c *Counts) add(r amber.SyncRecord) {
	switch {
	case r.Session != nil:
		c.Sessions++
	case r.Memory != nil && r.Memory.DeletedAt.IsZero():
		c.Memories++
	case r.Prompt != nil:
		c.Prompts++
	case r.Relation != nil && r.Relation.DeletedAt.IsZero():
		c.Relations++
	default:
		c.Deleted++
	}
}

// parseHeader reads the first line of a chunk.
func parseHeader(line []byte) (Header, error) {
	if err := checkFormat(line, formatFamily, version); err != nil {
		return Header{}, err
	}
	var h Header
	if err := strict(line, headerShape(), &h); err != nil {
		return Header{}, err
	}
	return h, h.check()
}

// checkFormat tells a later version from other text, before anything else of
// the object is looked at.
func checkFormat(object []byte, family string, newest uint64) error {
	var is struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(object, &is); err != nil {
		return damaged("the first line is not a JSON object with a format")
	}
	digits, found := strings.CutPrefix(is.Format, family)
	n, err := strconv.ParseUint(digits, 10, 32)
	canonical := strconv.FormatUint(n, 10) == digits
	switch {
	case found && err == nil && canonical && n > newest:
		return tooNew("the format is %s%d; this amber knows %s%d", family, n, family, newest)
	case !found || n == 0 || !canonical:
		return damaged("the format is %q, want %s1 to %d", clip.Name(is.Format), family, newest)
	}
	return nil
}

// latest is the last millisecond that a stamp can hold.
const latest = 1<<47 - 1

func (h Header) check() error {
	err := firstOf(
		amber.CheckID("device", h.Device), amber.CheckID("incarnation", h.Incarnation),
		checkOptional("created_by", h.CreatedBy), checkOptional("project", h.Project),
		checkIDs("parents", h.Parents), checkIDs("rewrites", h.Rewrites),
	)
	if err == nil && h.SignedBy != "" {
		_, err = sign.ParseKeyID(string(h.SignedBy))
	}
	if ms := h.CreatedAt.UnixMilli(); err == nil && (ms <= 0 || ms > latest) {
		err = invalid("created_at is not a time since 1970")
	}
	return err
}

func checkOptional(what, s string) error {
	if s == "" {
		return nil
	}
	return amber.CheckID(what, s)
}

// checkIDs checks a set of ids: sorted, each of them once.
func checkIDs(what string, ids []ID) error {
	if len(ids) > MaxParents {
		return overQuota("the number of "+what, len(ids), MaxParents)
	}
	for i, id := range ids {
		if _, err := ParseID(string(id)); err != nil {
			return err
		}
		if i > 0 && ids[i-1] >= id {
			return invalid("the %s are not sorted, or one appears twice", what)
		}
	}
	return nil
}

// idSet returns the ids as checkIDs wants them, never nil.
func idSet(ids []ID) []ID {
	set := append([]ID{}, ids...)
	slices.Sort(set)
	return slices.Compact(set)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
