package repo

import (
	"cmp"
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	stubFormat  = "amber-stub"
	stubVersion = 1
)

// Stub stays of a snapshot that was deleted, so that its chain has no gap. That
// of a snapshot whose manifest could not be read knows only its id: everything
// from Device to CreatedAt is zero then.
type Stub struct {
	Format    string           `json:"format"`
	Version   int              `json:"version"`
	ID        amber.SnapshotID `json:"id"`
	Tenant    amber.TenantID   `json:"tenant"`
	Agent     amber.AgentID    `json:"agent"`
	Device    string           `json:"device"`
	Counter   int64            `json:"counter"`
	Parent    string           `json:"parent"`
	ParentID  amber.SnapshotID `json:"parent_id"`
	Digest    string           `json:"digest"` // of the manifest
	CreatedAt amber.Time       `json:"created_at"`
	DeletedAt amber.Time       `json:"deleted_at"`
	Reason    string           `json:"reason"`

	// The fields below are not written when they are empty.
	Author sign.KeyID `json:"author,omitempty"` // whose valid signature the manifest had; only a stub that is signed says so
	Signer sign.KeyID `json:"signer,omitempty"` // whose signature belongs to the stub; "" for none
}

// storedStub is a stub as it was read.
type storedStub struct {
	Stub
	signature SignatureState
}

func stubOf(e Entry, reason string, now amber.Time, signer sign.Signer) *Stub {
	m := e.Manifest
	s := &Stub{
		Format: stubFormat, Version: stubVersion, ID: m.ID, Tenant: m.Tenant, Agent: m.Agent, Device: m.Device,
		Counter: m.Counter, Parent: m.Parent, ParentID: m.ParentID, Digest: e.Digest, CreatedAt: m.CreatedAt,
		DeletedAt: now, Reason: clean(reason, maxTextBytes),
	}
	if signer == nil {
		return s
	}
	s.Signer = signer.KeyID()
	if e.Signature.Status == sign.SignatureValid {
		s.Author = e.Signature.KeyID
	}
	return s
}

func (s *Stub) check() error {
	_, idErr := amber.ParseSnapshotID(string(s.ID))
	_, tenantErr := amber.ParseTenantID(string(s.Tenant))
	_, agentErr := amber.ParseAgentID(string(s.Agent))
	err := cmp.Or(idErr, tenantErr, agentErr, envelope.CheckTime("deleted_at", s.DeletedAt), envelope.CheckText("reason", s.Reason, maxTextBytes))
	if err != nil || *s == s.unknown() {
		return err
	}
	_, digestErr := ParseID(s.Digest)
	return cmp.Or(amber.CheckID("device", s.Device), checkLink(s.Counter, s.Parent, s.ParentID), digestErr,
		envelope.CheckTime("created_at", s.CreatedAt), s.checkAuthor())
}

func (s *Stub) checkAuthor() error {
	if s.Author == "" {
		return nil
	}
	if s.Signer == "" {
		return errors.New("the stub names an author but no signer")
	}
	_, err := sign.ParseKeyID(string(s.Author))
	return err
}

// unknown returns what s would be if its manifest had not been readable.
func (s *Stub) unknown() Stub {
	return Stub{
		Format: s.Format, Version: s.Version, ID: s.ID, Tenant: s.Tenant, Agent: s.Agent, DeletedAt: s.DeletedAt, Reason: s.Reason,
		Signer: s.Signer,
	}
}

// deletes reports whether the stub is that of a manifest. A damaged one beside
// it is what it was.
func (s *storedStub) deletes(e Entry) bool {
	return s.counts(e) && (s.Digest == e.Digest || amber.KindOf(e.Problem) == amber.KindDamaged)
}

// counts reports whether the signatures allow a stub to take a manifest away: an unsigned stub is not enough for a
// manifest with a valid signature.
func (s *storedStub) counts(e Entry) bool {
	return !s.signature.Untrusted() && (s.Signer != "" || e.Signature.Status != sign.SignatureValid)
}

func (c *Catalog) readStub(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) (*storedStub, error) {
	name := recordName(stubPrefix, agent, id)
	var s storedStub
	r, err := readSigned(ctx, c.repo.target, name, stubFormat, stubVersion, &s.Stub)
	if err == nil {
		err = c.inPlace(name, agent, id, s.Tenant, s.Agent, s.ID)
	}
	if err != nil {
		return nil, err
	}
	s.signature = r.signature
	return &s, nil
}

// Delete removes a snapshot, pinned or not, and leaves a stub in its place: the stub is durable before the manifest
// goes. To delete a snapshot that was deleted finishes what may be left of its deletion. The blobs that the snapshot
// needed stay until [Repo.CollectGarbage]. The stub is signed when the repository has a signer. Errors: invalid;
// not_found; too_new for a snapshot of a newer Amber; refused for a signed one when there is no signer: its chain would
// not hold any more; that of the signer; those of the permit and of the target.
func (c *Catalog) Delete(ctx context.Context, p permit.Permit, agent amber.AgentID, id amber.SnapshotID, reason string, now amber.Time) error {
	if err := checkPlace(agent, id); err != nil {
		return err
	}
	e, err := c.readManifest(ctx, agent, id)
	there := err == nil
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		if _, serr := c.readStub(ctx, agent, id); serr != nil {
			return err
		}
	case err != nil:
		return err
	case amber.KindOf(e.Problem) == amber.KindTooNew:
		return e.Problem
	case e.Manifest.Signer != "" && c.repo.signer == nil:
		return errNoSigner(id)
	}
	if err := p.Ask(ctx); err != nil {
		return err
	}
	if there {
		if err := c.putStub(ctx, e, stubOf(e, reason, now, c.repo.signer)); err != nil {
			return err
		}
	}
	return c.finishDelete(ctx, agent, id)
}

func errNoSigner(id amber.SnapshotID) error {
	return amber.Errorf(amber.KindRefused, "delete snapshot", string(id), "the snapshot is signed, and there is no key to sign its deletion").WithHint("amber key new")
}

// putStub writes a stub unless there is one of this manifest.
func (c *Catalog) putStub(ctx context.Context, e Entry, s *Stub) error {
	object, _, err := sealWith(ctx, "delete snapshot", string(s.ID), s, c.repo.signer)
	if err != nil {
		return err
	}
	return putRecord(ctx, c.repo.target, recordName(stubPrefix, s.Agent, s.ID), object, func() (bool, error) {
		there, err := c.readStub(ctx, s.Agent, s.ID)
		return err == nil && there.deletes(e), err
	})
}

// finishDelete removes what lies beside a stub.
func (c *Catalog) finishDelete(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) error {
	if err := c.repo.target.Delete(ctx, recordName(manifestPrefix, agent, id)); err != nil {
		return err
	}
	return c.repo.target.Delete(ctx, recordName(pinPrefix, agent, id))
}
