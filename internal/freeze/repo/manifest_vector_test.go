package repo_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	vectorID     = amber.SnapshotID("019b7ca9-8c88-7000-8000-000000000002")
	vectorParent = amber.SnapshotID("019b7ca9-8c88-7000-8000-000000000001")
	unreadableID = amber.SnapshotID("019b7ca9-8c88-7000-8000-000000000003")
)

func vectorManifest() repo.Manifest {
	return repo.Manifest{
		ID: vectorID, Tenant: tenant, Agent: ada, Device: "0193c5a8-0000-7000-8000-000000000009", Counter: 2,
		Parent: strings.Repeat("ab", 32), ParentID: vectorParent, CreatedAt: amber.At(epoch.Add(678 * time.Millisecond)),
		Label: `vor dem Aufräumen <"\>`, Inner: repo.BlobID(repo.KindManifest, []byte("{}")), BytesTotal: 360 << 20, BytesNew: 1 << 20,
		GitOID: strings.Repeat("0123456789", 4), FenceMS: 3.042, Skipped: 2, Warnings: 1,
		Incarnation: "0193c5a8-0000-7000-8000-00000000000a", Generation: 4,
	}
}

// vectorRecords makes one record of each kind.
func vectorRecords(t *testing.T) map[string]string {
	t.Helper()
	target, s := storeOn(t, newMemory())
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	_, err := s.catalog.Publish(ctx, may(), vectorManifest())
	must(err)
	must(s.catalog.SetPin(ctx, may(), ada, vectorID, true, s.at()))
	records := map[string]string{
		"manifest": string(target.objects["snapshots/ada/"+string(vectorID)+".json"]),
		"pin":      string(target.objects["pins/ada/"+string(vectorID)+".json"]),
	}
	target.objects["snapshots/ada/"+string(unreadableID)+".json"] = nil
	must(s.catalog.Delete(ctx, may(), ada, vectorID, "pruned", s.at()))
	must(s.catalog.Delete(ctx, may(), ada, unreadableID, "deleted", s.at()))
	records["stub"] = string(target.objects["stubs/ada/"+string(vectorID)+".json"])
	records["stub-unreadable"] = string(target.objects["stubs/ada/"+string(unreadableID)+".json"])
	fill(t, s.repo, vector()...)
	s.gc(t)
	records["condemned"] = string(target.objects[target.names("condemned/")[0]])
	inner, err := repo.EncodeInner(full())
	must(err)
	records["inner"] = string(inner)
	return records
}

// TestRecordVectors compares what is written with what an earlier Amber wrote.
func TestRecordVectors(t *testing.T) {
	t.Parallel()
	for name, got := range vectorRecords(t) {
		golden.Check(t, *update, "records/"+name, got)
	}
}

// TestRecordsOfAnEarlierAmberAreRead reads the files.
func TestRecordsOfAnEarlierAmberAreRead(t *testing.T) {
	t.Parallel()
	target := newMemory()
	put := func(name, file string) {
		t.Helper()
		b := must.Get(os.ReadFile("testdata/records/" + file + ".golden"))(t)
		target.objects[name] = []byte(strings.ReplaceAll(string(b), "\r\n", "\n"))
	}
	put("snapshots/ada/"+string(vectorID)+".json", "manifest")
	put("pins/ada/"+string(vectorID)+".json", "pin")
	s := newStore(t, target)
	e, err := s.catalog.Get(ctx, ada, vectorID)
	want := vectorManifest()
	want.Format, want.Version = "amber-snapshot", 1
	must.Hold(t, err == nil && e.Manifest == want && e.Pinned, "manifest: %v, %+v", err, e)
	put("stubs/ada/"+string(vectorID)+".json", "stub")
	put("stubs/ada/"+string(unreadableID)+".json", "stub-unreadable")
	put("condemned/"+digestOfFile(t, "condemned")+".json", "condemned")
	must.Fail(s.catalog.Get(ctx, ada, vectorID))(t, "stub", amber.KindNotFound)
	must.Equal(t, "condemned", len(must.Get(s.repo.Condemned(ctx))(t)), 1)
	report := must.Get(s.repo.Audit(ctx, tenant, true, nil))(t)
	for _, d := range report.Damaged {
		if !strings.HasPrefix(d.Object, "chain ") { // its parent is not there
			t.Errorf("%+v", d)
		}
	}
	b := must.Get(os.ReadFile("testdata/records/inner.golden"))(t)
	must.Kind(t, "inner", must.Err(repo.DecodeInner(b)), "")
}

func digestOfFile(t *testing.T, file string) string {
	t.Helper()
	return digestIn(string(must.Get(os.ReadFile("testdata/records/" + file + ".golden"))(t)))
}

// TestDocumentShowsTheRecords compares the records in docs/format/repository.md
// with the vectors.
func TestDocumentShowsTheRecords(t *testing.T) {
	t.Parallel()
	b := must.Get(os.ReadFile("../../../docs/format/repository.md"))(t)
	doc := strings.ReplaceAll(string(b), "\r\n", "\n")
	for name, record := range vectorRecords(t) {
		if name != "inner" && name != "stub-unreadable" && !strings.Contains(doc, record) {
			t.Errorf("the document does not show\n%s", record)
		}
	}
}
