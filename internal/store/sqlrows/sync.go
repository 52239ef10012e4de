package sqlrows

import (
	"encoding/json"

	"github.com/amber-memory/amber"
)

// Sender is a chunk and where it came from.
type Sender struct{ Place, Chunk string }

// Waiting is a relation that waits, and where it came from.
type Waiting struct {
	amber.Relation
	Sender
}

func ScanWaiting(s scanner) (w Waiting, err error) {
	var body string
	if err := s.Scan(&body, &w.Place, &w.Chunk); err != nil {
		return w, err
	}
	if err := json.Unmarshal([]byte(body), &w.Relation); err != nil {
		return w, NotJSON("sync_waiting", "", "body")
	}
	return w, fitOrigin("sync_waiting", "", w.Origin)
}

func ScanLink(s scanner) (l amber.SyncLink, err error) {
	var version string
	err = s.Scan(&l.Tool, &l.Chunk, &l.Ordinal, &l.Ref.Scope, &l.Ref.ID, &version, &l.LocalID, &l.Fingerprint, &l.Extra)
	if err == nil && version != "" {
		l.Version, err = ParseVersion(version)
	}
	return l, err
}

func ScanQuarantined(s scanner) (c amber.QuarantinedChunk, err error) {
	err = s.Scan(&c.ID, &c.Reason, &c.Kind)
	return c, err
}
