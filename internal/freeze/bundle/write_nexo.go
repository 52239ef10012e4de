package bundle

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// NexoContents is what a bundle of the other format says about the snapshot in it.
type NexoContents struct {
	Contents          // of which Databases and Marks have no place in that format, and GitOID is that of Git
	Git      NexoGit  // zero: there is no repository
	Touched  []string // paths of entries that were redacted
}

// WriteNexo writes a bundle of nexo-memory-snapshot-v1 and its sidecar, as [Write] does. Its manifest comes first, so
// every source is read twice; one that gives other bytes the second time is an error. The kinds and paths of sources
// are those of that format, see docs/format/bundle.md. One entry is added that the original does not look at: a manifest
// of Amber's own, which covers everything else and is signed.
//
// Errors: those of Write; conflict also when a source changes between its readings.
func WriteNexo(ctx context.Context, file string, c NexoContents, sources []Source, o WriteOptions) (info wire.BundleInfo, err error) {
	if o, err = o.orDefaults(); err != nil {
		return info, err
	}
	c.Databases, c.Marks, c.GitOID = nil, nil, c.Git.HeadOID
	list, err := plan(sources, checkNexoSource, nexoOrder)
	if err != nil {
		return info, err
	}
	return stageBundle(file, c.Contents, o, func(w *writing) (wire.BundleInfo, error) { return w.nexo(ctx, c, list) })
}

func checkNexoSource(path, kind string) error {
	if strings.HasSuffix(path, "/") {
		return fmt.Errorf("path %q is a folder, and the nexo format has files only", path)
	}
	return checkNexoKind(path, kind)
}

// nexoOrder is the order of the archive: databases and state in their places, then notes, then git, each by path.
func nexoOrder(a, b Source) int {
	return cmp.Or(cmp.Compare(nexoRank(a), nexoRank(b)), strings.Compare(a.Path, b.Path))
}

func nexoRank(s Source) int {
	for i, p := range nexoPlaces {
		if p.kind == s.Kind {
			return i
		}
	}
	if s.Kind == kindMemory {
		return len(nexoPlaces)
	}
	return len(nexoPlaces) + 1
}

// nexo writes the other format.
func (w *writing) nexo(ctx context.Context, c NexoContents, list []Source) (info wire.BundleInfo, err error) {
	m, err := w.nexoManifest(ctx, c, list)
	if err != nil {
		return info, err
	}
	manifest, err := m.encode()
	if err != nil {
		return info, err
	}
	if w.shell, err = newShell(w.file, 0, w.o); err != nil {
		return info, err
	}
	err = w.compressed(func(tar io.Writer) error {
		a := newArchive(tar, gnuHeader, 0)
		if err := a.addBytes(ctx, manifestName, kindManifest, manifest); err != nil {
			return err
		}
		for i, s := range list {
			s.Mode = 0o600
			if err := a.add(ctx, s); err != nil {
				return err
			}
			if a.entries[i+1].SHA256 != m.Artifacts[i].SHA256 {
				return amber.Errorf(amber.KindConflict, "write bundle", s.Path, "the file changed while it was read")
			}
		}
		own, err := innerOf(ctx, c.Contents, a.entries, w.o.Signer)
		if err == nil {
			err = cmp.Or(checkManifest(own), checkManifest(manifest))
		}
		if err == nil {
			err = a.addBytes(ctx, amberManifestName, kindManifest, own)
		}
		if err != nil {
			return err
		}
		return a.close()
	})
	if err != nil {
		return info, err
	}
	info = infoOf(wire.FormatNexo, &c.Contents)
	info.GitOID = m.GitOID()
	for _, s := range list {
		info.Entries++
		info.Expanded += s.Size
	}
	return w.finish(ctx, info, nil)
}

// nexoManifest reads every source for its digest.
func (w *writing) nexoManifest(ctx context.Context, c NexoContents, list []Source) (*NexoManifest, error) {
	m := &NexoManifest{
		ManifestVersion: nexoVersion, BundleFormat: nexoFormat, SnapshotID: string(c.ID), AgentID: string(c.Agent),
		Tenant: string(c.Tenant), Label: c.Label, CreatedAtMS: c.CreatedAt.UnixMilli(), CreatedBy: "amber",
		SchemaVersions: NexoSchemas{1, 1, 1, 1, nexoVersion}, Git: c.Git, Artifacts: []NexoArtifact{},
		// The original reads these and does nothing with them; none of its tools was at work.
		ToolVersions: NexoTools{Nexo: "amber", Git2: "none", SQLx: "none"},
	}
	if m.Git.HeadOID == "" {
		m.Git = NexoGit{HeadOID: noCommit, HeadSubject: noSubject, HeadAuthor: noAuthor}
	}
	if w.o.Signer != nil {
		m.AmberSigner = w.o.Signer.KeyID()
	}
	buf := make([]byte, copyBytes)
	for _, s := range list {
		if s.Size > maxOctal {
			return nil, amber.Errorf(amber.KindQuota, "write bundle", s.Path, "the file has %d bytes, the limit of the nexo format is %d", s.Size, int64(maxOctal))
		}
		digest, err := s.copyTo(ctx, io.Discard, buf)
		if err != nil {
			return nil, err
		}
		m.Artifacts = append(m.Artifacts, NexoArtifact{Path: s.Path, Kind: s.Kind, Size: s.Size, SHA256: digest})
	}
	m.Redactions, m.Encryption = nexoRedactions(c), w.nexoEncryption()
	m.Seal = m.seal()
	if err := m.check(); err != nil {
		return nil, amber.Errorf(amber.KindInvalid, "write bundle", "", "%w", err)
	}
	return m, nil
}

func nexoRedactions(c NexoContents) *NexoRedactions {
	if c.Redactions == nil {
		return nil
	}
	const most = 1<<32 - 1 // the original reads 32 bits
	r := &NexoRedactions{Policy: c.Redactions.Policy, Rules: []string{}, Matches: min(c.Redactions.Matches, most), Touched: append([]string{}, c.Touched...)}
	for _, rule := range c.Redactions.Rules {
		r.Rules = append(r.Rules, rule.Rule)
	}
	slices.Sort(r.Touched)
	return r
}

// nexoEncryption tells the end of every recipient, as the original does.
func (w *writing) nexoEncryption() *NexoEncryption {
	if !w.o.encrypts() {
		return nil
	}
	e := &NexoEncryption{Scheme: "age", Fingerprints: []string{}}
	for _, r := range w.o.Recipients {
		e.Fingerprints = append(e.Fingerprints, r.Text[max(0, len(r.Text)-nexoSuffix):])
	}
	return e
}
