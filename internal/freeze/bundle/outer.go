package bundle

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"math"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	outerFormat  = "amber-bundle"
	outerVersion = 1
	// outerRoom is what the room of an outer manifest is a multiple of.
	outerRoom = 4096
)

// outer is the manifest that everybody may read. It lies outside the ciphertext, and is written last, into room that
// was left for it.
type outer struct {
	Format    string           `json:"format"`
	Version   int              `json:"version"`
	ID        amber.SnapshotID `json:"id"`
	Tenant    amber.TenantID   `json:"tenant"`
	Agent     amber.AgentID    `json:"agent"`
	Device    string           `json:"device"`
	CreatedAt amber.Time       `json:"created_at"`
	Encrypted bool             `json:"encrypted"`
	Redacted  bool             `json:"redacted"`
	Label     string           `json:"label"`   // "" when it is encrypted
	GitOID    string           `json:"git_oid"` // "" when it is encrypted

	HeaderSHA256  string     `json:"header_sha256"` // of the age header before this manifest; "" when it is not encrypted
	PayloadBytes  int64      `json:"payload_bytes"` // behind the skippable frame, or behind the age header
	PayloadSHA256 string     `json:"payload_sha256"`
	InnerSHA256   string     `json:"inner_sha256"` // of the entry manifest.json
	Entries       int        `json:"entries"`      // without manifest.json
	ExpandedBytes int64      `json:"expanded_bytes"`
	Signer        sign.KeyID `json:"signer"` // "" for no signature
}

func (o *outer) signer() sign.KeyID { return o.Signer }

func (o *outer) check() error {
	_, idErr := amber.ParseSnapshotID(string(o.ID))
	_, tenantErr := amber.ParseTenantID(string(o.Tenant))
	_, agentErr := amber.ParseAgentID(string(o.Agent))
	err := cmp.Or(idErr, tenantErr, agentErr, envelope.CheckLine("device", o.Device, amber.MaxIDBytes), envelope.CheckTime("created_at", o.CreatedAt),
		envelope.CheckLine("label", o.Label, wire.MaxLabelBytes), envelope.CheckOID("git_oid", o.GitOID), envelope.CheckSigner(o.Signer),
		envelope.CheckDigest("payload_sha256", o.PayloadSHA256), envelope.CheckDigest("inner_sha256", o.InnerSHA256))
	switch {
	case err != nil:
		return err
	case o.Encrypted != (o.HeaderSHA256 != ""):
		return errors.New("header_sha256 belongs to an encrypted bundle")
	case o.Encrypted && (o.Label != "" || o.GitOID != ""):
		return errors.New("the label and the git id of an encrypted bundle lie inside")
	case o.Encrypted && envelope.CheckDigest("header_sha256", o.HeaderSHA256) != nil:
		return errors.New("header_sha256 is not a SHA-256 digest")
	case min(o.PayloadBytes, o.ExpandedBytes, int64(o.Entries)) < 0:
		return errors.New("a number below zero")
	}
	return nil
}

// outerOf returns the outer manifest of contents, as far as it is known before anything is written.
func outerOf(c *Contents, encrypted bool, signer sign.Signer) outer {
	o := outer{
		Format: outerFormat, Version: outerVersion, ID: c.ID, Tenant: c.Tenant, Agent: c.Agent, Device: c.Device,
		CreatedAt: c.CreatedAt, Encrypted: encrypted, Redacted: c.Redactions != nil,
	}
	if !encrypted {
		o.Label, o.GitOID = c.Label, c.GitOID
	}
	if signer != nil {
		o.Signer = signer.KeyID()
	}
	return o
}

// room returns how much room the manifest needs, whatever the fields become that are not known yet.
func (o outer) room() (int, error) {
	widest := strings.Repeat("f", 64)
	o.PayloadSHA256, o.InnerSHA256 = widest, widest
	if o.Encrypted {
		o.HeaderSHA256 = widest
	}
	o.PayloadBytes, o.ExpandedBytes, o.Entries = math.MaxInt64, math.MaxInt64, math.MaxInt
	if err := o.check(); err != nil {
		return 0, &amber.Error{Op: "write manifest", Kind: amber.KindInvalid, Err: errors.New(err.Error())}
	}
	b, err := envelope.Canonical(&o)
	if err != nil {
		return 0, err
	}
	var list []sign.Signature
	if o.Signer != "" { // one as long as that of a key
		sig := base64.RawURLEncoding.EncodeToString(make([]byte, ed25519.SignatureSize))
		list = append(list, sign.Signature{Alg: sign.SignatureAlg, KeyID: o.Signer, Sig: sig})
	}
	if b, err = envelope.Join(b, list); err != nil {
		return 0, err
	}
	n := (len(b)/outerRoom + 1) * outerRoom // at least one byte is left for the end of the line
	if n > maxOuter {
		return 0, amber.Errorf(amber.KindInvalid, "write manifest", "", "the manifest needs %d bytes, the limit is %d", n, maxOuter)
	}
	return n, nil
}

// pad fills the room of a manifest: spaces behind it, and the end of the line.
func pad(b []byte, room int) []byte {
	out := bytes.Repeat([]byte{' '}, room)
	copy(out, b)
	out[room-1] = '\n'
	return out
}

// unpad returns what lies in the room of a manifest.
func unpad(b []byte) ([]byte, error) {
	line, ok := bytes.CutSuffix(b, []byte("\n"))
	if !ok || len(b)%outerRoom != 0 || len(b) > maxOuter {
		return nil, errors.New("the outer manifest does not fill its space")
	}
	return bytes.TrimRight(line, " "), nil
}

// readOuter reads the room of an outer manifest.
func readOuter(room []byte) (*outer, sign.SignatureReport, error) {
	b, err := unpad(room)
	if err != nil {
		return nil, sign.SignatureReport{}, err
	}
	o := &outer{}
	sig, err := unseal(b, outerFormat, outerVersion, o)
	if err != nil {
		return nil, sign.SignatureReport{}, err
	}
	return o, sig, nil
}
