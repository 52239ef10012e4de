package engram

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// DecodeBackup reads the file of engram export, version 0.1.0 or 0.2.0. The file does not say whether it is whole.
// Relations of 0.2.0 are mutations of the chunk. Errors: damaged, too_new, quota.
func DecodeBackup(b []byte) (Chunk, error) {
	if len(b) > MaxTextBytes {
		return Chunk{}, amber.Errorf(amber.KindQuota, "read backup", "", "%d bytes, want at most %d", len(b), MaxTextBytes)
	}
	c := Chunk{backup: true}
	var version, exported string
	if err := c.decode(bytes.NewReader(b), field{"version", &version}, field{"exported_at", &exported}); err != nil {
		return Chunk{}, fail("", err)
	}
	c.Mutations, c.related, c.backup = append(c.Mutations, c.related...), nil, false
	switch version {
	case "0.1.0", "0.2.0":
		return c, nil
	case "":
		return Chunk{}, damaged("", errors.New("the backup has no version"))
	}
	return Chunk{}, tooNew("read backup", clip.Name(version))
}

// decodeRelation reads a row of the relations of a backup. It is the payload of a mutation, and says in two fields more that
// another relation has taken its place.
func (m *Mutation) decodeRelation(raw []byte) error {
	var p relation
	var superseded *string
	extra, _, err := decodeObject(raw, append(fieldsOf(&p), field{"superseded_at", &superseded})...)
	if err != nil {
		return err
	}
	if strings.TrimSpace(p.SyncID) == "" {
		return errors.New("the relation has no sync_id")
	}
	p.extra = extra
	*m = Mutation{Entity: "relation", EntityKey: p.SyncID, Op: "upsert", Payload: string(withExtra(marshal(p), p.extra)), Project: p.Project}
	if superseded != nil {
		m.Op, m.OccurredAt = "delete", *superseded
	}
	return nil
}

// pinned reports whether a row of a backup says that the memory is pinned. Chunks leave that out.
func (o Observation) pinned() bool {
	var later struct {
		Pinned any `json:"pinned"`
	}
	return json.Unmarshal(withExtra([]byte("{}"), o.extra), &later) == nil && later.Pinned == true
}
