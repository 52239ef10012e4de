package bundle

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	nexoFormat   = "nexo-memory-snapshot-v1"
	nexoVersion  = 1
	noCommit     = "0000000000000000000000000000000000000000"
	noSubject    = "(no memdir)"
	noAuthor     = "nexo-memory-snapshot <ops@example.com>"
	nexoSuffix   = 8 // characters of a recipient that the manifest tells
	notesFolder  = "memory_files/"
	gitFolder    = "git/"
	kindMemory   = "memory_file"
	kindGitFile  = "git_bundle"
	kindManifest = "manifest"
)

// nexoPlaces are the kinds that have one path, in the order of the archive.
var nexoPlaces = []struct{ kind, path string }{
	{"sqlite_long_term", "sqlite/long_term.sqlite"},
	{"sqlite_vector", "sqlite/vector.sqlite"},
	{"sqlite_concepts", "sqlite/concepts.sqlite"},
	{"sqlite_compactions", "sqlite/compactions.sqlite"},
	{"state_extract_cursor", "state/extract_cursor.json"},
	{"state_dream_run", "state/dream_run.json"},
}

// NexoManifest is the manifest of nexo-memory-snapshot-v1, with its names.
type NexoManifest struct {
	ManifestVersion int             `json:"manifest_version"`
	BundleFormat    string          `json:"bundle_format"`
	SnapshotID      string          `json:"snapshot_id"`
	AgentID         string          `json:"agent_id"`
	Tenant          string          `json:"tenant"`
	Label           string          `json:"label,omitempty"`
	CreatedAtMS     int64           `json:"created_at_ms"`
	CreatedBy       string          `json:"created_by"`
	SchemaVersions  NexoSchemas     `json:"schema_versions"`
	Git             NexoGit         `json:"git"`
	Artifacts       []NexoArtifact  `json:"artifacts"`
	Redactions      *NexoRedactions `json:"redactions,omitempty"`
	Encryption      *NexoEncryption `json:"encryption,omitempty"`
	ToolVersions    NexoTools       `json:"tool_versions"`
	Seal            string          `json:"bundle_sha256"` // of the digests of the artifacts; it is not that of the bundle
	AmberSigner     sign.KeyID      `json:"amber_signer,omitempty"`
}

// NexoSchemas are versions of the databases.
type NexoSchemas struct {
	LongTerm    int64 `json:"long_term"`
	Vector      int64 `json:"vector"`
	Concepts    int64 `json:"concepts"`
	Compactions int64 `json:"compactions"`
	Manifest    int64 `json:"manifest"`
}

// NexoGit tells about the last commit of the notes.
type NexoGit struct {
	HeadOID     string `json:"head_oid"` // 40 zeros without a repository
	HeadSubject string `json:"head_subject"`
	HeadAuthor  string `json:"head_author"` // "Name <email>"
	HeadTimeMS  int64  `json:"head_ts_ms"`
}

// NexoArtifact is an entry.
type NexoArtifact struct {
	Path   string `json:"path_in_bundle"`
	Kind   string `json:"kind"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
}

// NexoRedactions says what was taken out.
type NexoRedactions struct {
	Policy  string   `json:"policy"`
	Rules   []string `json:"rules_applied"`
	Matches int64    `json:"matches_redacted"`
	Touched []string `json:"artifacts_touched"`
}

// NexoEncryption tells about the recipients.
type NexoEncryption struct {
	Scheme       string   `json:"scheme"`
	Fingerprints []string `json:"recipients_fingerprint"`
}

// NexoTools names what a bundle was made with.
type NexoTools struct {
	Nexo string `json:"nexo_version"`
	Git2 string `json:"git2"`
	SQLx string `json:"sqlx"`
}

// GitOID returns the last commit of the notes, "" without a repository.
func (m *NexoManifest) GitOID() string {
	if m.Git.HeadOID == noCommit {
		return ""
	}
	return m.Git.HeadOID
}

// seal computes the seal: SHA-256 of the digests of the artifacts in hexadecimal, one behind the other.
func (m *NexoManifest) seal() string {
	var b strings.Builder
	for _, a := range m.Artifacts {
		b.WriteString(a.SHA256)
	}
	return envelope.Digest([]byte(b.String()))
}

// encode returns the manifest as the original writes it.
func (m *NexoManifest) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// entries returns the artifacts as entries.
func (m *NexoManifest) entries() []entry {
	list := make([]entry, len(m.Artifacts))
	for i, a := range m.Artifacts {
		list[i] = entry{Path: a.Path, Kind: a.Kind, Mode: "0600", Size: a.Size, SHA256: a.SHA256}
	}
	return list
}

// contents returns what the manifest says about a snapshot. It reports the redactions as the manifest states them; the
// original is known to state redactions that it did not make.
func (m *NexoManifest) contents() Contents {
	c := Contents{
		ID: amber.SnapshotID(m.SnapshotID), Tenant: amber.TenantID(m.Tenant), Agent: amber.AgentID(m.AgentID),
		Label: oneLine(m.Label, wire.MaxLabelBytes), CreatedAt: amber.UnixMilli(m.CreatedAtMS), GitOID: m.GitOID(),
	}
	if r := m.Redactions; r != nil {
		c.Redactions = &wire.RedactionReport{
			Policy: oneLine(r.Policy, amber.MaxIDBytes), Matches: r.Matches, Rules: []wire.RedactionCount{}, Places: []wire.RedactionPlace{},
			Notes: []string{"as the bundle says; nothing of it was checked"},
		}
	}
	return c.filled()
}

// oneLine makes foreign text fit for one line.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return clip.Bytes(s, most)
}
