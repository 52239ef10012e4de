package formats

import (
	"archive/tar"
	"bytes"
	"io"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// nexo is the bundle of nexo, which amber bundle import makes a snapshot of, and its databases, of which nexo makes a bundle.
var nexo = foreign.Format{Name: "nexo", Title: "nexo", Detect: detectNexo, Next: nextNexo}

func detectNexo(t *foreign.Tree) foreign.Match {
	_, bundle := nexoBundle(t)
	return foreign.SureIf(bundle || nexoDatabase(t))
}

// nexoBundle returns a bundle of a tree.
func nexoBundle(t *foreign.Tree) (foreign.File, bool) {
	files := foreign.Looked(t.Nearest("*.tar.zst", "*.tar.zst.age"))
	i := slices.IndexFunc(files, isNexoBundle)
	if i < 0 {
		return foreign.File{}, false
	}
	return files[i], true
}

// isNexoBundle reports whether a file is a bundle. An encrypted one is recognised by its name.
func isNexoBundle(f foreign.File) bool {
	r, err := f.Raw()
	if err != nil {
		return false
	}
	defer r.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(r, head)
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("age-encryption.org/v1\n")):
		return f.Is(".tar.zst.age")
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return hasNexoManifest(io.MultiReader(bytes.NewReader(head), r))
	}
	return false
}

// Bounds of what is unpacked to recognise a bundle.
const (
	nexoHead   = 1 << 20
	nexoWindow = 32 << 20
)

// hasNexoManifest reports whether an archive begins with the manifest of a bundle, as nexo and Amber write it.
func hasNexoManifest(packed io.Reader) bool {
	z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(nexoWindow))
	if err != nil {
		return false
	}
	defer z.Close()
	in := tar.NewReader(io.LimitReader(z, nexoHead))
	if h, err := in.Next(); err != nil || h.Name != "manifest.json" {
		return false
	}
	manifest, _ := io.ReadAll(in) // the beginning of a long one tells as much
	return bytes.Contains(manifest, []byte(`"nexo-memory-snapshot-v1"`))
}

func nexoDatabase(t *foreign.Tree) bool {
	files := t.Nearest("long_term.sqlite", "concepts.sqlite")
	return slices.ContainsFunc(foreign.Looked(files), func(f foreign.File) bool { return holds(t, f, isNexoDatabase) })
}

func isNexoDatabase(db *foreign.Database) bool {
	return db.HasColumns("memories", "agent_id", "concept_tags", "memory_type")
}

func nextNexo(t *foreign.Tree) string {
	f, ok := nexoBundle(t)
	_, single := t.Single()
	switch {
	case ok && !single:
		return "amber bundle import " + Quoted(filepath.Join(t.Path(), filepath.FromSlash(f.Name)))
	case !ok && nexoDatabase(t):
		return "nexo memory snapshot --agent NAME, then amber bundle import FILE"
	}
	return "amber bundle import " + Quoted(t.Path())
}
