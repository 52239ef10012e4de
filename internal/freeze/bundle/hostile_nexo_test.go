package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// nexoForgery is a bundle of the other format with the right seal and sizes, after changes.
type nexoForgery struct {
	files    []forged
	change   func(*NexoManifest)       // after the seal is made
	fields   func(map[string]any)      // of the JSON
	manifest func([]byte) []byte       // its bytes
	tar      func([]tarFile) []tarFile // manifest first
	raw      func([]byte) []byte       // the whole archive
	own      bool                      // with Amber's manifest
	key      byte                      // who signs that
	ownBytes func([]byte) []byte
}

type tarFile struct {
	path, body string
	header     []byte
}

func (f nexoForgery) forge(t testing.TB) []byte {
	t.Helper()
	m := &NexoManifest{
		ManifestVersion: 1, BundleFormat: nexoFormat, SnapshotID: string(forgedContents().ID), AgentID: "ana", Tenant: "default",
		CreatedAtMS: forgedContents().CreatedAt.UnixMilli(), CreatedBy: "cli", SchemaVersions: NexoSchemas{1, 1, 1, 1, 1},
		Git: NexoGit{HeadOID: noCommit}, Artifacts: []NexoArtifact{}, ToolVersions: NexoTools{"0.1.0", "0.19", "0.8"},
	}
	files := []tarFile{{path: manifestName}}
	for _, e := range f.files {
		files = append(files, tarFile{e.path, e.body, e.header})
		if !e.unlisted {
			m.Artifacts = append(m.Artifacts, NexoArtifact{e.path, e.kind, int64(len(e.body)), envelope.Digest([]byte(e.body))})
		}
	}
	m.Seal = m.seal()
	if f.key != 0 {
		m.AmberSigner = signerOf(f.key).KeyID()
	}
	if f.change != nil {
		f.change(m)
	}
	files[0].body = string(f.encode(t, m))
	if f.own {
		files = append(files, tarFile{amberManifestName, string(f.ownManifest(t, files)), nil})
	}
	if f.tar != nil {
		files = f.tar(files)
	}
	raw := rawTar(files)
	if f.raw != nil {
		raw = f.raw(raw)
	}
	return zstdOf(t, raw)
}

func (f nexoForgery) encode(t testing.TB, m *NexoManifest) []byte {
	t.Helper()
	b := must.Get(m.encode())(t)
	if f.fields != nil {
		var fields map[string]any
		must.Do(t, json.Unmarshal(b, &fields))
		f.fields(fields)
		b = must.Get(json.Marshal(fields))(t)
	}
	if f.manifest != nil {
		b = f.manifest(b)
	}
	return b
}

func (f nexoForgery) ownManifest(t testing.TB, files []tarFile) []byte {
	t.Helper()
	in := &inner{Format: innerFormat, Version: innerVersion, Contents: forgedContents(), Entries: []entry{}}
	for _, e := range files {
		in.Entries = append(in.Entries, entry{Path: e.path, Kind: "x", Mode: "0600", Size: int64(len(e.body)), SHA256: envelope.Digest([]byte(e.body))})
		in.ExpandedBytes += int64(len(e.body))
	}
	if f.key != 0 {
		in.Signer = signerOf(f.key).KeyID()
	}
	b := append(sealed(t, in, f.key), '\n')
	if f.ownBytes != nil {
		b = f.ownBytes(b)
	}
	return b
}

func rawTar(files []tarFile) (out []byte) {
	for _, e := range files {
		h := e.header
		if h == nil {
			h = gnuHeader(header{path: e.path, mode: 0o600, size: int64(len(e.body))})
		}
		out = append(append(out, h...), e.body...)
		out = append(out, make([]byte, padding(int64(len(e.body))))...)
	}
	return append(out, make([]byte, tarEnd)...)
}

func memoryFile(path, body string) forged {
	return forged{path: notesFolder + path, kind: kindMemory, body: body}
}

func TestWhatTheOriginalToleratesIsTolerated(t *testing.T) {
	t.Parallel()
	files := []forged{memoryFile("a.md", "1"), {path: "git/HEAD", kind: kindGitFile, body: "ref"}}
	for name, f := range map[string]nexoForgery{
		"as it is":             {files: files},
		"the manifest last":    {files: files, tar: func(l []tarFile) []tarFile { return append(l[1:], l[0]) }},
		"other fields":         {files: files, fields: func(m map[string]any) { m["later"] = []int{1} }},
		"compact JSON":         {files: files, fields: func(map[string]any) {}},
		"older schemas":        {files: files, change: func(m *NexoManifest) { m.SchemaVersions = NexoSchemas{0, 0, 0, 0, 1} }},
		"no end of the record": {files: files, raw: func(b []byte) []byte { return append(b, make([]byte, 9216)...) }},
		"long label":           {files: files, change: func(m *NexoManifest) { m.Label = strings.Repeat("ü\n", 300) }},
		"nothing in it":        {},
		"null label":           {files: files, fields: func(m map[string]any) { m["label"] = nil }},
		"typeflag 0": {files: files, tar: func(l []tarFile) []tarFile {
			l[1].header = gnuChanged(l[1], func(b []byte) { b[typeOffset] = typeFile; fieldUID.octal(b, 1000); fieldMode.octal(b, 0o644) })
			return l
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, verr, xerr := try(t, f.forge(t), Limits{})
			if verr != nil || xerr != nil || !r.OK() {
				t.Fatalf("got %v, %v, %v", verr, xerr, r.Damaged)
			}
			must.Hold(t, len(r.Label) <= wire.MaxLabelBytes && !strings.Contains(r.Label, "\n"), "the label is %q", r.Label)
			must.Equal(t, "the git id without a repository", r.GitOID, "")
		})
	}
}

func gnuChanged(f tarFile, change func([]byte)) []byte {
	b := gnuHeader(header{path: f.path, mode: 0o600, size: int64(len(f.body))})
	change(b)
	fieldSum.octal(b, checksum(b))
	return b
}

func TestTooNewNamesTheField(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*NexoManifest){
		"schema_versions.long_term":   func(m *NexoManifest) { m.SchemaVersions.LongTerm = 2 },
		"schema_versions.vector":      func(m *NexoManifest) { m.SchemaVersions.Vector = 3 },
		"schema_versions.concepts":    func(m *NexoManifest) { m.SchemaVersions.Concepts = 4 },
		"schema_versions.compactions": func(m *NexoManifest) { m.SchemaVersions.Compactions = 5 },
		"schema_versions.manifest":    func(m *NexoManifest) { m.SchemaVersions.Manifest = 6 },
		"manifest_version":            func(m *NexoManifest) { m.ManifestVersion = 7 },
	} {
		b := nexoForgery{change: change}.forge(t)
		refuses(t, b, Limits{}, amber.KindTooNew)
		if _, verr, _ := try(t, b, Limits{}); !strings.Contains(fmt.Sprint(verr), field) {
			t.Errorf("%s: the error is %v", field, verr)
		}
	}
}

func TestTheOtherFormatIsReadStrictly(t *testing.T) {
	t.Parallel()
	a := memoryFile("a.md", "1")
	unlisted := memoryFile("b.md", "2")
	unlisted.unlisted = true
	files := []forged{a}
	kind := func(path, kind string) nexoForgery {
		return nexoForgery{files: []forged{{path: path, kind: kind, body: "1"}}}
	}
	typed := func(c byte) nexoForgery {
		return nexoForgery{files: files, tar: func(l []tarFile) []tarFile {
			l[1].header = gnuChanged(l[1], func(b []byte) { b[typeOffset] = c })
			return l
		}}
	}
	for name, f := range map[string]nexoForgery{
		"unlisted":            {files: []forged{a, unlisted}},
		"twice":               {files: files, tar: func(l []tarFile) []tarFile { return append(l, l[1]) }},
		"two manifests":       {files: files, tar: func(l []tarFile) []tarFile { return append(l, l[0]) }},
		"twice in the list":   {files: []forged{a, a}, tar: func(l []tarFile) []tarFile { return l[:2] }},
		"missing":             {files: files, tar: func(l []tarFile) []tarFile { return l[:1] }},
		"no manifest":         {files: files, tar: func(l []tarFile) []tarFile { return l[1:] }},
		"size":                {files: files, change: func(m *NexoManifest) { m.Artifacts[0].Size = 2 }},
		"negative size":       {files: files, change: func(m *NexoManifest) { m.Artifacts[0].Size = -1 }},
		"seal":                {files: files, change: func(m *NexoManifest) { m.Seal = envelope.Digest(nil) }},
		"upper seal":          {files: files, change: func(m *NexoManifest) { m.Seal = strings.ToUpper(m.Seal) }},
		"format":              {files: files, change: func(m *NexoManifest) { m.BundleFormat = "nexo-memory-snapshot-v2" }},
		"version 0":           {files: files, change: func(m *NexoManifest) { m.ManifestVersion = 0 }},
		"negative schema":     {files: files, change: func(m *NexoManifest) { m.SchemaVersions.Vector = -1 }},
		"time":                {files: files, change: func(m *NexoManifest) { m.CreatedAtMS = -5 }},
		"head":                {files: files, change: func(m *NexoManifest) { m.Git.HeadOID = "main" }},
		"no head":             {files: files, change: func(m *NexoManifest) { m.Git.HeadOID = "" }},
		"no git":              {files: files, fields: func(m map[string]any) { delete(m, "git") }},
		"null git":            {files: files, fields: func(m map[string]any) { m["git"] = nil }},
		"no tools":            {files: files, fields: func(m map[string]any) { delete(m, "tool_versions") }},
		"a number as text":    {files: files, fields: func(m map[string]any) { m["created_at_ms"] = "1" }},
		"a field twice":       {files: files, manifest: func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte(`{"tenant":"other",`), 1) }},
		"twice in other case": {files: files, manifest: func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte(`{"TENANT":"other",`), 1) }},
		"two values":          {files: files, manifest: func(b []byte) []byte { return append(b, "{}"...) }},
		"no JSON":             {files: files, manifest: func([]byte) []byte { return []byte("hello") }},
		"a deep one":          {files: files, manifest: func(b []byte) []byte { return []byte(strings.Repeat("[", 5000)) }},
		"our manifest":        {files: files, manifest: func([]byte) []byte { return []byte(`{"body":{}}`) }},
		"a byte order mark":   {files: files, manifest: func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) }},
		"unknown kind":        kind("memory_files/a", "amber_journal"),
		"no kind":             kind("memory_files/a", ""),
		"another place":       kind("sqlite/other.sqlite", "sqlite_long_term"),
		"a wrong place":       kind("git/HEAD", kindMemory),
		"git as a note":       kind("memory_files/.git/hooks/post-commit", kindMemory),
		"GIT as a note":       kind("memory_files/a/.GIT/config", kindMemory),
		"escape":              kind("memory_files/../x", kindMemory),
		"absolute":            kind("memory_files//etc/passwd", kindMemory),
		"backslash":           kind(`memory_files/a\b`, kindMemory),
		"line end":            kind("memory_files/a\nb", kindMemory),
		"a folder":            kind("git/refs/", kindGitFile),
		"a link":              typed('2'),
		"a hard link":         typed('1'),
		"a directory":         typed('5'),
		"a device":            typed('3'),
		"sparse":              typed('S'),
		"PAX":                 typed('x'),
		"global PAX":          typed('g'),
		"long link":           typed('K'),
		"posix": {files: files, tar: func(l []tarFile) []tarFile {
			l[1].header = posixHeader(header{l[1].path, 0o600, 1, 0})
			return l
		}},
		"bad sum": {files: files, tar: func(l []tarFile) []tarFile {
			l[1].header = gnuHeader(header{path: l[1].path, mode: 0o600, size: 1})
			l[1].header[fieldSum.at+3] ^= 1
			return l
		}},
		"behind the archive": {files: files, raw: func(b []byte) []byte { return append(b, 'x') }},
		"endless zeros":      {files: files, raw: func(b []byte) []byte { return append(b, make([]byte, maxTrailing+1)...) }},
		"no end":             {files: files, raw: func(b []byte) []byte { return b[:len(b)-tarEnd] }},
		"two long names": {files: []forged{memoryFile(strings.Repeat("x", 120), "1")}, raw: func(b []byte) []byte {
			i := bytes.Index(b, []byte(gnuLongName))
			return slices.Concat(b[:i], b[i:i+2*blockBytes], b[i:])
		}},
		"a long name of another": {files: files, raw: func(b []byte) []byte {
			long := gnuHeader(header{path: strings.Repeat("x", 120), mode: 0o600, size: 1})[:2*blockBytes]
			i := bytes.Index(b, []byte("memory_files/a.md\x00"))
			return slices.Concat(b[:i], long, b[i:])
		}},
		"a long name of nothing": {files: files, raw: func(b []byte) []byte {
			long := gnuHeader(header{path: strings.Repeat("x", 120), mode: 0o600, size: 1})[:2*blockBytes]
			return slices.Concat(b[:len(b)-tarEnd], long, b[len(b)-tarEnd:])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, f.forge(t), Limits{}, amber.KindDamaged)
		})
	}
	t.Run("odd names of the original", func(t *testing.T) {
		t.Parallel()
		b := must.Get(os.ReadFile("testdata/nexo/odd-names.tar.zst"))(t)
		refuses(t, b, Limits{}, amber.KindDamaged)
	})
}

func TestIdsOfTheOtherFormatAreChecked(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*NexoManifest){
		"tenant":       func(m *NexoManifest) { m.Tenant = "../../other" },
		"empty tenant": func(m *NexoManifest) { m.Tenant = "" },
		"agent":        func(m *NexoManifest) { m.AgentID = "a/../b" },
		"id":           func(m *NexoManifest) { m.SnapshotID = "../x" },
		"upper id":     func(m *NexoManifest) { m.SnapshotID = strings.ToUpper("0190b8a0-1111-7222-8333-44445555aaaa") },
		"signer":       func(m *NexoManifest) { m.AmberSigner = "did:key:zNobody" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, nexoForgery{change: change}.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}

func TestOurManifestCoversTheOtherFormat(t *testing.T) {
	t.Parallel()
	files := []forged{memoryFile("a.md", "1"), memoryFile("b.md", "2")}
	editManifest := func(from, to string) func([]tarFile) []tarFile {
		return func(l []tarFile) []tarFile {
			if !strings.Contains(l[0].body, from) {
				panic("nothing to change")
			}
			l[0].body = strings.Replace(l[0].body, from, to, 1)
			return l
		}
	}
	good := nexoForgery{files: files, own: true, key: 1}
	if r, verr, xerr := try(t, good.forge(t), Limits{}); verr != nil || xerr != nil || !r.OK() || r.Signature.Status != sign.SignatureValid {
		t.Fatalf("the forgery itself is not fine: %v, %v, %v", verr, xerr, r.Damaged)
	}
	for name, tt := range map[string]struct {
		tar  func([]tarFile) []tarFile
		kind amber.Kind
	}{
		"tenant": {editManifest(`"tenant": "default"`, `"tenant": "other"`), amber.KindDamaged},
		"agent":  {editManifest(`"agent_id": "ana"`, `"agent_id": "ben"`), amber.KindDamaged},
		"time":   {editManifest(`"created_at_ms": 1`, `"created_at_ms": 2`), amber.KindDamaged},
		"author": {editManifest(`"created_by": "cli"`, `"created_by": "tool"`), amber.KindDamaged},
		"paths change places, the seal still holds": {func(l []tarFile) []tarFile {
			m := strings.NewReplacer("a.md", "b.md", "b.md", "a.md").Replace(l[0].body)
			l[0].body, l[1].path, l[2].path = m, l[2].path, l[1].path
			return l
		}, amber.KindDamaged},
		"our manifest is taken away": {func(l []tarFile) []tarFile { return l[:len(l)-1] }, amber.KindUntrusted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := good
			f.tar = tt.tar
			refuses(t, f.forge(t), Limits{}, tt.kind)
		})
	}
	t.Run("the signature is changed", func(t *testing.T) {
		t.Parallel()
		f := good
		f.ownBytes = changeSignature
		refuses(t, f.forge(t), Limits{}, amber.KindUntrusted)
	})
	t.Run("a later version", func(t *testing.T) {
		t.Parallel()
		f := nexoForgery{files: files, own: true, ownBytes: func(b []byte) []byte {
			e := must.Get(envelope.Open(bytes.TrimSuffix(b, []byte("\n")), innerFormat, innerVersion))(t)
			later := bytes.Replace(e.Body, []byte(`"version":1`), []byte(`"version":2`), 1)
			b = bytes.Replace(b, e.Body, later, 1)
			return bytes.Replace(b, []byte(e.Digest), []byte(envelope.Digest(later)), 1)
		}}
		refuses(t, f.forge(t), Limits{}, amber.KindTooNew)
	})
}
