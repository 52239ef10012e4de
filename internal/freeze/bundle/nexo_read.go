package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/freeze/envelope"
)

// readNexo reads a manifest. Fields it does not know are tolerated. Errors: too_new; others have no kind.
func readNexo(b []byte) (*NexoManifest, error) {
	if bytes.HasPrefix(b, []byte(envelope.BodyPrefix)) {
		return nil, errors.New("the file begins with the inner manifest of Amber's own format, and the outer manifest is missing")
	}
	m := &NexoManifest{}
	if err := manifestRules.Decode(b, nil, m); err != nil {
		return nil, fmt.Errorf("decode: %v", err)
	}
	if err := requireNexo(b); err != nil {
		return nil, err
	}
	return m, m.check()
}

// requireNexo looks for the fields that the original requires.
func requireNexo(b []byte) error {
	var has map[string]json.RawMessage
	if err := json.Unmarshal(b, &has); err != nil {
		return fmt.Errorf("decode: %v", err)
	}
	for _, name := range []string{
		"manifest_version", "bundle_format", "snapshot_id", "agent_id", "tenant", "created_at_ms", "created_by",
		"schema_versions", "git", "artifacts", "tool_versions", "bundle_sha256",
	} {
		if raw, ok := has[name]; !ok || string(raw) == "null" {
			return fmt.Errorf("field %s is missing", name)
		}
	}
	return nil
}

// manifestRules are those for a manifest of the other format: fields that this Amber does not know are tolerated, names that
// differ in case alone are one.
var manifestRules = strictjson.Rules{Space: true, AnyCase: true, Unknown: true, Null: true, MaxDepth: 32}

// check looks at the manifest alone.
func (m *NexoManifest) check() error {
	switch {
	case m.BundleFormat != nexoFormat:
		return fmt.Errorf("the format is %q and not %s", clip.Name(m.BundleFormat), nexoFormat)
	case m.ManifestVersion > nexoVersion:
		return tooNew("manifest_version %d of %s; this amber knows %d", m.ManifestVersion, nexoFormat, nexoVersion)
	case m.ManifestVersion != nexoVersion:
		return fmt.Errorf("manifest_version %d", m.ManifestVersion)
	}
	_, idErr := amber.ParseSnapshotID(m.SnapshotID)
	_, agentErr := amber.ParseAgentID(m.AgentID)
	_, tenantErr := amber.ParseTenantID(m.Tenant)
	err := cmp.Or(m.SchemaVersions.check(), idErr, agentErr, tenantErr, envelope.CheckTime("created_at", amber.UnixMilli(m.CreatedAtMS)),
		envelope.CheckOID("head_oid", m.Git.HeadOID), envelope.CheckSigner(m.AmberSigner), envelope.CheckDigest("bundle_sha256", m.Seal))
	if err != nil {
		return plainUnlessTooNew(err)
	}
	if m.Git.HeadOID == "" {
		return errors.New("field head_oid is empty")
	}
	for _, a := range m.Artifacts {
		if err := a.check(); err != nil {
			return err
		}
	}
	return nil
}

// plainUnlessTooNew takes the kind from an error: what was read is damaged, whatever kind the check gives it.
func plainUnlessTooNew(err error) error {
	if amber.KindOf(err) == amber.KindTooNew {
		return err
	}
	return fmt.Errorf("%v", err)
}

func (v NexoSchemas) check() error {
	for _, f := range []struct {
		name    string
		version int64
	}{
		{"long_term", v.LongTerm}, {"vector", v.Vector}, {"concepts", v.Concepts}, {"compactions", v.Compactions}, {"manifest", v.Manifest},
	} {
		switch {
		case f.version > nexoVersion:
			return tooNew("schema_versions.%s is %d; this amber knows %d", f.name, f.version, nexoVersion)
		case f.version < 0:
			return fmt.Errorf("schema_versions.%s is %d", f.name, f.version)
		}
	}
	return nil
}

func (a *NexoArtifact) check() error {
	if a.Size < 0 {
		return fmt.Errorf("%q has %d bytes", clip.Name(a.Path), a.Size)
	}
	return cmp.Or(checkNexoKind(a.Path, a.Kind), envelope.CheckDigest("the digest of "+clip.Name(a.Path), a.SHA256))
}

// checkNexoKind checks that an artifact lies where its kind belongs.
func checkNexoKind(path, kind string) error {
	if err := names.CheckPath(path); err != nil {
		return fmt.Errorf("path %q: %v", clip.Name(path), err)
	}
	for _, p := range nexoPlaces {
		if kind == p.kind && path == p.path {
			return nil
		}
	}
	switch {
	case kind == kindGitFile && strings.HasPrefix(path, gitFolder):
		return nil
	case kind == kindMemory && strings.HasPrefix(path, notesFolder) && !names.InGitFolder(path):
		return nil
	}
	return fmt.Errorf("path %q of kind %q", clip.Name(path), clip.Name(kind))
}
