package bundle_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	sampleID = "0190b8a0-1111-7222-8333-444455556666"
	oid      = "e43bb8262f4e6cbb529ebdade095a5bee19fc14f"
)

// signer signs with a key made of one byte.
type signer struct{ key ed25519.PrivateKey }

func newSigner(b byte) signer {
	return signer{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))}
}

func (s signer) KeyID() sign.KeyID { return sign.NewKeyID(s.key.Public().(ed25519.PublicKey)) }

func (s signer) Sign(_ context.Context, message []byte) (sign.Signature, error) {
	return sign.SignWith(s.key, message), nil
}

// text is a source that holds text.
func text(path, kind, s string) bundle.Source {
	return bundle.Source{Path: path, Kind: kind, Mode: 0o600, Size: int64(len(s)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(s))), nil
	}}
}

// sample returns a small agent.
func sample() (bundle.Contents, []bundle.Source) {
	c := bundle.Contents{
		ID: sampleID, Tenant: "default", Agent: "ana", Device: "laptop", Label: "before the trip",
		CreatedAt: amber.At(time.Date(2026, 3, 4, 5, 6, 7, 890e6, time.UTC)), Incarnation: "inc-1", Generation: 3,
		GitHead: "refs/heads/main", GitOID: oid, Refs: []bundle.Ref{{Name: "refs/heads/main", OID: oid}},
		Databases: []bundle.Database{{Path: "db/memory.db", Name: "memory.db", ApplicationID: 7, Schema: 4}},
		Marks:     []bundle.Mark{{Key: "k1", Host: "claude", SessionID: "s1", Drained: 4, Last: 5, Frames: 1}},
		Skipped:   []wire.Skipped{{Part: "notes", Path: "big.bin", Reason: wire.SkipTooLarge}},
	}
	run := text("notes/tools/run.sh", "note", "#!/bin/sh\n")
	run.Mode = 0o700
	return c, []bundle.Source{
		text("state/cursor.json", "state", "{}"),
		text("notes/MEMORY.md", "note", "# Ana\n\nlikes tea & <herbs>\n"),
		text("notes/größe.md", "note", "ü"),
		text("notes/"+string(bytes.Repeat([]byte("d"), 60))+"/"+string(bytes.Repeat([]byte("f"), 60))+".md", "note", "long"),
		text("notes/empty.md", "note", ""),
		run,
		{Path: "notes/drafts/", Kind: "folder", Mode: 0o700},
		text("git/memdir.bundle", "git", "# v2 git bundle\n"),
		text("db/memory.db", "database", string(bytes.Repeat([]byte("SQLite format 3\x00"), 40))),
		text("journal/k1", "journal", "frame"),
	}
}

// nexoSample returns a small agent of the other format.
func nexoSample() (bundle.NexoContents, []bundle.Source) {
	c, _ := sample()
	return bundle.NexoContents{Contents: c, Git: bundle.NexoGit{HeadOID: oid, HeadSubject: "s", HeadAuthor: "A <a@b>", HeadTimeMS: 1000}},
		[]bundle.Source{
			text("git/HEAD", "git_bundle", "ref: refs/heads/main\n"),
			text("memory_files/MEMORY.md", "memory_file", "# Ana\n"),
			text("memory_files/"+string(bytes.Repeat([]byte("x"), 110))+".md", "memory_file", "long"),
			text("state/dream_run.json", "state_dream_run", "{}"),
			text("sqlite/long_term.sqlite", "sqlite_long_term", "SQLite"),
		}
}

func write(t testing.TB, file string, o bundle.WriteOptions) wire.BundleInfo {
	t.Helper()
	c, sources := sample()
	return must.Get(bundle.Write(t.Context(), file, c, sources, o.Cheap()))(t)
}

func writeNexo(t testing.TB, file string, o bundle.WriteOptions) wire.BundleInfo {
	t.Helper()
	c, sources := nexoSample()
	return must.Get(bundle.WriteNexo(t.Context(), file, c, sources, o.Cheap()))(t)
}

// extract reads a bundle into a new folder.
func extract(t testing.TB, file string, o bundle.ReadOptions) (*bundle.Extracted, error) {
	t.Helper()
	b, err := bundle.Read(t.Context(), file, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return b.Extract(t.Context(), private(t))
}

// private returns a new folder that no other user may read.
func private(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "x")
	must.Do(t, os.Mkdir(dir, 0o700))
	return dir
}

func verify(t testing.TB, file string, o bundle.ReadOptions) (wire.BundleReport, error) {
	t.Helper()
	b, err := bundle.Read(t.Context(), file, o)
	if err != nil {
		return wire.BundleReport{}, err
	}
	defer b.Close()
	return b.Verify(t.Context())
}

// mustVerify is verify for a bundle that can be looked at.
func mustVerify(t testing.TB, file string, o bundle.ReadOptions) wire.BundleReport {
	t.Helper()
	return must.Get(verify(t, file, o))(t)
}

func readFile(t testing.TB, file string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(file))(t)
}

// put writes a file and the sidecar that belongs to it.
func put(t testing.TB, file string, b []byte) {
	t.Helper()
	sum := sha256.Sum256(b)
	for name, content := range map[string][]byte{file: b, file + ".sha256": []byte(hex.EncodeToString(sum[:]))} {
		must.Do(t, os.WriteFile(name, content, 0o600))
	}
}

type keyPair struct {
	recipient agekey.Recipient
	identity  age.Identity
}

func newKey(t testing.TB, kind agekey.Kind) keyPair {
	t.Helper()
	var id age.Identity
	var err error
	if kind == agekey.Hybrid {
		id, err = age.GenerateHybridIdentity()
	} else {
		id, err = age.GenerateX25519Identity()
	}
	must.Do(t, err)
	r, ok := agekey.RecipientOf(id)
	if !ok {
		t.Fatal("no recipient")
	}
	return keyPair{r, id}
}

func recipients(keys ...keyPair) (list []agekey.Recipient) {
	for _, k := range keys {
		list = append(list, k.recipient)
	}
	return list
}

func passphrase(t testing.TB, s string) age.Identity {
	t.Helper()
	_, id, err := agekey.Passphrase(s)
	must.Do(t, err)
	return id
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

type ctxType = context.Context

func where(b []byte, i int) string { return fmt.Sprintf("byte %d of %d", i, len(b)) }
