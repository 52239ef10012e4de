package gitsync_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// forge writes a chunk that no Amber would export.
func forge(t *testing.T, c *clone, records ...amber.SyncRecord) chunk.ID {
	t.Helper()
	h := chunk.Header{Device: "mallory", Incarnation: "i1", CreatedBy: "mallory", CreatedAt: amber.At(c.clock.now())}
	id, b, err := chunk.Encode(t.Context(), h, records, nil)
	must.Do(t, err)
	c.put("chunks/"+id.FileName(), b)
	return id
}

// forged is a record of a memory.
func forged(id amber.MemoryID, content string, o amber.Origin) amber.SyncRecord {
	at := amber.UnixMilli(1_772_000_000_000)
	return amber.SyncRecord{Memory: &amber.SyncMemory{Memory: amber.Memory{
		ID: id, Kind: amber.WorkspaceFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: shop},
		Content: content, ContentDigest: amber.ContentDigest(content), Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{},
		Trust: amber.TrustOwn, Origin: o, Revision: 1, CreatedAt: at, UpdatedAt: at,
	}}}
}

func TestCounterThatJumpsIsRefusedUntilItIsExplained(t *testing.T) {
	t.Parallel()
	_, b, id := pair(t)
	jump := amber.Origin{Device: "mallory", Counter: amber.MaxCounterJump + 100, Clock: amber.StampAt(b.clock.now())}
	bad := forge(t, b, forged(id, "for ever", jump))
	b.save("another one")
	r := b.imports()
	if len(r.Quarantined) != 1 || r.Quarantined[0].ID != string(bad) || r.Quarantined[0].Kind != amber.KindInvalid {
		t.Fatalf("import: %+v", r)
	}
	wantTexts(t, b, "as it was", "another one")
	step := jump
	step.Counter = amber.MaxCounterJump / 2
	forge(t, b, forged(id, "half way", step))
	if r := b.imports(); len(r.Quarantined) != 0 || r.Chunks != 2 {
		t.Errorf("import with what explains it: %+v", r)
	}
}

func TestExpansionIsBounded(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.shares("fine")
	a.gives(b)
	w := must.Get(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression)))(t)
	bomb := w.EncodeAll([]byte(strings.Repeat("{\"format\":\"amber-sync/1\"}\n", 8<<20)), nil)
	id := must.Get(chunk.ParseID(fmt.Sprintf("%x", sha256.Sum256(bomb))))(t)
	b.put("chunks/"+id.FileName(), bomb)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := b.imports()
	runtime.ReadMemStats(&after)
	if len(r.Quarantined) != 1 || r.Quarantined[0].ID != string(id) || r.Chunks != 1 {
		t.Errorf("import of %d bytes that become 200 MB: %+v", len(bomb), r)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 150<<20 {
		t.Errorf("the import allocated %d MB", took>>20)
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.shares("to be read")
	a.gives(b)
	closed(t, b.folder)
	must.Equal(t, "import from a folder that cannot be written", b.imports().Chunks, 1)
	must.Equal(t, "chunks in the status", b.status().Local, 1)
	must.Equal(t, "verify", len(must.Get(b.sync.Verify(t.Context()))(t).Damaged), 0)
	if os.Geteuid() == 0 {
		return // nothing is closed to the superuser
	}
	b.save("not to be written")
	must.Fail(b.sync.Export(t.Context(), gitsync.ExportOptions{}))(t, "export", amber.KindRefused)
}

// closed takes write permission from a folder for the time of the test.
func closed(t *testing.T, dir string) {
	t.Helper()
	chmod := func(mode os.FileMode) {
		for _, d := range []string{dir, filepath.Join(dir, "chunks"), filepath.Join(dir, "local")} {
			if err := os.Chmod(d, mode); err != nil && !os.IsNotExist(err) {
				t.Error(err)
			}
		}
	}
	chmod(0o555)
	t.Cleanup(func() { chmod(0o755) })
}

func TestExportWaitsForTheLockAndGivesUpWithItsCaller(t *testing.T) {
	t.Parallel()
	a := newClone(t)
	a.shares("one")
	a.save("two")
	held := must.Get(fsx.AcquireLock(t.Context(), filepath.Join(a.folder, "local", "lock"), fsx.Exclusive))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	must.Fail(a.sync.Export(ctx, gitsync.ExportOptions{}))(t, "export while somebody else exports", amber.KindBusy)
	must.Do(t, held.Unlock())
	must.Equal(t, "export afterwards", a.export(gitsync.ExportOptions{}).Observations, 1)
}

func TestFirstExportToAFolderRepeatsNothing(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	a.many(3, "more")
	exchange(a, b)
	second := newClone(t) // another clone of the repository on the same machine
	a.gives(second)
	s := must.Get(gitsync.Open(a.Store, second.folder))(t)
	if r, err := s.Export(t.Context(), gitsync.ExportOptions{}); err != nil || !r.IsEmpty {
		t.Errorf("export: %+v, %v", r, err)
	}
	a.save("new")
	must.Equal(t, "export of one more", must.Get(s.Export(t.Context(), gitsync.ExportOptions{}))(t).Observations, 1)
}

func TestSecretsAreTakenOutOrRefused(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	secret := "ghp_" + "R7pQ2mXz9LkT4vBn8WcYs6HdJf3GaE1uVo5Q"
	id := a.write(amber.WriteRequest{
		Title: "token " + secret, Content: "use " + secret, Tags: []string{secret}, Metadata: map[string]string{"password": "hunter2-Zx9"},
		SourceRefs: []amber.SourceRef{{Kind: "url", Value: "https://x:" + secret + "@example.com/"}},
	})
	a.save("harmless")
	if _, err := a.sync.Export(t.Context(), gitsync.ExportOptions{RefuseSecrets: true}); amber.KindOf(err) != amber.KindRefused || strings.Contains(err.Error(), secret) {
		t.Errorf("export that refuses: %v", err)
	}
	must.Equal(t, "files", len(a.files()), 0)
	r := a.export(gitsync.ExportOptions{})
	if r.Observations != 2 || len(r.Redacted) == 0 {
		t.Errorf("export: %+v", r)
	}
	if text := plainText(t, a); strings.Contains(text, secret) || strings.Contains(text, "hunter2") {
		t.Errorf("a secret left: %s", text)
	}
	a.gives(b)
	b.imports()
	if m, err := b.Get(t.Context(), id); err != nil || !strings.HasPrefix(m.Content, "use [REDACTED:") {
		t.Errorf("what others see: %q, %v", m.Content, err)
	}
	b.gives(a)
	a.imports()
	must.Equal(t, "what the author sees", must.Get(a.Get(t.Context(), id))(t).Content, "use "+secret)
}
