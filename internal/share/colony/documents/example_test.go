package documents_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/share/colony/documents"
)

// A program backs a folder up to a vault and restores it elsewhere. With api.New in
// place of the double it does so over HTTP. The witness makes it notice a vault
// that was put back to an older state.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	memory, then := filepath.Join(dir, "memory"), filepath.Join(dir, "then")
	check(os.Mkdir(memory, 0o700))
	check(os.WriteFile(filepath.Join(memory, "MEMORY.md"), []byte("We chose PostgreSQL."), 0o600))

	witness := colony.NewFileWitness(filepath.Join(dir, "vaults"), colony.VaultOf{URL: "https://example.org/api/v1", Tenant: "default", Agent: "default"}, "laptop")
	vault, err := colony.Open(&colonytest.Fake{Clock: time.Now}, colony.Options{Label: "laptop", Clock: time.Now, Random: rand.Reader, Witness: witness})
	check(err)

	set, err := documents.ReadFolder(ctx, memory, documents.Own{})
	check(err)
	check(set.Redact(documents.PartFolder, documents.Own{}))
	_, err = vault.Backup(ctx, set.Documents, colony.BackupOptions{})
	check(err)

	got, err := vault.Restore(ctx, "")
	check(err)
	folder, err := documents.OpenFolder(then, "", nil)
	check(err)
	defer folder.Close()
	plan, err := documents.NewPlan(ctx, folder, got.Documents)
	check(err)
	check(plan.Write(ctx, folder))

	text, err := os.ReadFile(filepath.Join(then, "MEMORY.md"))
	fmt.Println(plan.Written, string(text), err)
	// Output: [MEMORY.md] We chose PostgreSQL. <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
