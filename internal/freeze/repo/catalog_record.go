package repo

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// Names of records:
//
//	snapshots/<agent>/<snapshot>.json
//	stubs/<agent>/<snapshot>.json
//	pins/<agent>/<snapshot>.json
const (
	manifestPrefix = "snapshots/"
	stubPrefix     = "stubs/"
	pinPrefix      = "pins/"
	recordSuffix   = ".json"
)

func recordName(prefix string, agent amber.AgentID, id amber.SnapshotID) string {
	return prefix + string(agent) + "/" + string(id) + recordSuffix
}

// placeOf reads the name of a record; ok is false for other objects.
func placeOf(prefix, name string) (agent amber.AgentID, id amber.SnapshotID, ok bool) {
	rest, _ := strings.CutPrefix(name, prefix)
	folder, base, _ := strings.Cut(rest, "/")
	agent, agentErr := amber.ParseAgentID(folder)
	id, idErr := amber.ParseSnapshotID(strings.TrimSuffix(base, recordSuffix))
	return agent, id, agentErr == nil && idErr == nil && recordName(prefix, agent, id) == name
}

// checkPlace checks names before they become part of an object's name.
func checkPlace(agent amber.AgentID, id amber.SnapshotID) error {
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return err
	}
	_, err := amber.ParseSnapshotID(string(id))
	return err
}

// ids lists the snapshots of an agent that have a record.
func (c *Catalog) ids(ctx context.Context, prefix string, agent amber.AgentID) ([]amber.SnapshotID, error) {
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return nil, err
	}
	var ids []amber.SnapshotID
	err := c.repo.target.List(ctx, prefix+string(agent)+"/", func(o target.Object) error {
		if _, id, ok := placeOf(prefix, o.Name); ok {
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	return ids, nil
}

// readManifest reads a manifest. A manifest that cannot be read is no error. Errors: not_found; those of the target.
func (c *Catalog) readManifest(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) (Entry, error) {
	name := recordName(manifestPrefix, agent, id)
	m, r, err := c.openManifest(ctx, name)
	if err == nil {
		err = c.inPlace(name, agent, id, m.Tenant, m.Agent, m.ID)
		if err != nil && m.ID == id {
			problem := &amber.Error{Op: "find snapshot", Kind: amber.KindCrossTenant, ID: string(id), Err: err}
			return Entry{Manifest: m, Digest: r.digest, Signature: r.signature, Problem: problem}, nil
		}
	}
	switch {
	case err == nil:
		return Entry{Manifest: m, Digest: r.digest, Signature: r.signature}, nil
	case amber.KindOf(err) == amber.KindNotFound:
		return Entry{}, errNoSnapshot(id, fmt.Sprintf("agent %s has no such snapshot", agent))
	case isProblem(err):
		return Entry{Manifest: Manifest{ID: id, Tenant: c.tenant, Agent: agent}, Problem: err}, nil
	}
	return Entry{}, err
}

// openManifest reads the bytes of a manifest. Errors: not_found; damaged; too_new; those of the target.
func (c *Catalog) openManifest(ctx context.Context, name string) (Manifest, sealed, error) {
	object, err := readSmall(ctx, c.repo.target, name)
	if err != nil {
		return Manifest{}, sealed{}, err
	}
	m, r, err := c.repo.manifests.unseal(object)
	if err != nil {
		return Manifest{}, sealed{}, damaged("read object", name, err)
	}
	return m, r, nil
}

// inPlace compares what a record says it is about with its place.
func (c *Catalog) inPlace(name string, agent amber.AgentID, id amber.SnapshotID, saysTenant amber.TenantID, saysAgent amber.AgentID, saysID amber.SnapshotID) error {
	if saysTenant == c.tenant && saysAgent == agent && saysID == id {
		return nil
	}
	return damaged("read object", name, fmt.Errorf("the record is about snapshot %s of agent %s of tenant %s", saysID, saysAgent, saysTenant))
}

// putRecord stores a record. When there is one of that name already, good says
// whether it will do; one that will not, or is damaged, is replaced.
func putRecord(ctx context.Context, t target.Target, name string, object []byte, good func() (bool, error)) error {
	for range maxTries {
		created, err := t.Put(ctx, name, int64(len(object)), bytes.NewReader(object))
		// A target may say that one of another size is damaged.
		if created || err != nil && amber.KindOf(err) != amber.KindDamaged {
			return err
		}
		ok, err := good()
		switch amber.KindOf(err) {
		case amber.KindNotFound:
			continue // deleted meanwhile
		case amber.KindDamaged:
			err = nil
		}
		if ok || err != nil {
			return err
		}
		if err := t.Delete(ctx, name); err != nil {
			return err
		}
	}
	return amber.Errorf(amber.KindBusy, "write record", name, "other processes keep changing the record")
}
