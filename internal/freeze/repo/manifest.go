package repo

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	manifestFormat  = "amber-snapshot"
	manifestVersion = 1
)

// Manifest is the outer manifest of a snapshot, which any person with access to the target may read: what it is, where
// it stands in its chain, and which blob says what it holds. A snapshot exists when its manifest does.
type Manifest struct {
	Format   string           `json:"format"`  // filled in by [Catalog.Publish]
	Version  int              `json:"version"` // likewise
	ID       amber.SnapshotID `json:"id"`
	Tenant   amber.TenantID   `json:"tenant"`
	Agent    amber.AgentID    `json:"agent"`
	Device   string           `json:"device"`
	Counter  int64            `json:"counter"`   // in the chain of agent and device, from 1
	Parent   string           `json:"parent"`    // digest of the manifest before it in the chain; "" for the first
	ParentID amber.SnapshotID `json:"parent_id"` // its id; "" for the first

	CreatedAt   amber.Time `json:"created_at"` // the instant it holds
	Label       string     `json:"label"`
	Inner       ID         `json:"inner"` // the blob that is the inner manifest
	BytesTotal  int64      `json:"bytes_total"`
	BytesNew    int64      `json:"bytes_new"` // as stored
	GitOID      string     `json:"git_oid"`   // HEAD of the notes; "" without one
	FenceMS     float64    `json:"fence_ms"`  // whole microseconds
	Encrypted   bool       `json:"encrypted"`
	Skipped     int        `json:"skipped"`  // how many things; the inner manifest names them
	Warnings    int        `json:"warnings"` // how many parts were damaged at the source
	Incarnation string     `json:"incarnation"`
	Generation  int64      `json:"generation"`

	// The fields below are not written when they are false or empty: manifests without them are the same as before
	// there were such fields.
	Redacted bool       `json:"redacted,omitempty"` // it came from a redacted bundle
	Key      string     `json:"key,omitempty"`      // names the key it is encrypted with; "" for none
	Sealed   string     `json:"sealed,omitempty"`   // SHA-256 of the stored bytes of the inner manifest when it is encrypted: anybody can check that
	By       wire.Asker `json:"by,omitzero"`        // who asked for it; of an encrypted snapshot, inside
	Amber    string     `json:"amber,omitempty"`    // the version that wrote it
	Signer   sign.KeyID `json:"signer,omitempty"`   // whose signature belongs to it; "" for none
}

// finished returns m as it is written.
func (m Manifest) finished() Manifest {
	m.Format, m.Version = manifestFormat, manifestVersion
	m.FenceMS = math.Round(m.FenceMS*1000) / 1000
	return m
}

// check looks at everything a manifest says that can be wrong on its own.
func (m *Manifest) check() error {
	_, idErr := amber.ParseSnapshotID(string(m.ID))
	_, tenantErr := amber.ParseTenantID(string(m.Tenant))
	_, agentErr := amber.ParseAgentID(string(m.Agent))
	err := cmp.Or(idErr, tenantErr, agentErr, amber.CheckID("device", m.Device),
		envelope.CheckTime("created_at", m.CreatedAt), envelope.CheckLine("label", m.Label, wire.MaxLabelBytes),
		envelope.CheckLine("incarnation", m.Incarnation, amber.MaxIDBytes), envelope.CheckOID("git_oid", m.GitOID),
		checkLink(m.Counter, m.Parent, m.ParentID), m.checkSealed(), m.By.Check(), envelope.CheckLine("amber", m.Amber, amber.MaxIDBytes))
	switch {
	case err != nil:
		return err
	case m.Inner.IsZero():
		return errors.New("the manifest names no inner manifest")
	case min(m.BytesTotal, m.BytesNew, m.Generation, int64(m.Skipped), int64(m.Warnings)) < 0:
		return errors.New("a number is negative")
	case !(m.FenceMS >= 0 && m.FenceMS <= 1e9) || m.FenceMS != math.Round(m.FenceMS*1000)/1000:
		return fmt.Errorf("fence_ms %v is out of range", m.FenceMS)
	}
	return nil
}

// openLabel is how labels begin that Amber itself has given: they say nothing
// about what is in a snapshot.
const openLabel = "auto:"

// checkSealed looks at what an encrypted snapshot says about its key, and that
// it does not say what belongs inside.
func (m *Manifest) checkSealed() error {
	if !m.Encrypted {
		if m.Key != "" || m.Sealed != "" {
			return errors.New("a snapshot that is not encrypted names a key")
		}
		return nil
	}
	if m.By != (wire.Asker{}) {
		return errors.New("an encrypted snapshot says in clear text who asked for it")
	}
	if m.GitOID != "" || m.Label != "" && !strings.HasPrefix(m.Label, openLabel) {
		return errors.New("an encrypted snapshot has a label or git id in clear text")
	}
	_, keyErr := parseKeyID(m.Key)
	_, err := ParseID(m.Sealed)
	return cmp.Or(keyErr, err)
}

// maxCounter is the greatest counter of a link: more snapshots than any device
// takes, and far from where a number overflows.
const maxCounter = 1 << 40

// checkLink looks at a place in a chain. Only the first link has no parent.
func checkLink(counter int64, parent string, parentID amber.SnapshotID) error {
	if counter < 1 || counter > maxCounter {
		return fmt.Errorf("counter %d is out of range", counter)
	}
	if counter == 1 {
		if parent != "" || parentID != "" {
			return errors.New("the first link of a chain names a parent")
		}
		return nil
	}
	_, err := ParseID(parent)
	_, idErr := amber.ParseSnapshotID(string(parentID))
	return cmp.Or(err, idErr)
}
