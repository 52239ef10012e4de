package amber_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// README begin
func remember(ctx context.Context, dir string) (string, error) {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return "", err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return "", err
	}
	db, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return "", err
	}
	defer db.Close()
	store := db.Store() // every contract in one value

	_, err = store.LongTerm.Write(ctx, amber.WriteRequest{
		Kind:       amber.ProjectFact,
		Scope:      amber.ScopeProject,
		Identities: amber.Identities{ProjectID: "acme/shop"},
		Content:    "We chose PostgreSQL for JSONB.",
	})
	if err != nil {
		return "", err
	}
	found, err := store.LongTerm.Recall(ctx, amber.Query{
		Text:   "which database did we pick and why",
		Filter: amber.Filter{Identities: amber.Identities{ProjectID: "acme/shop"}},
	})
	if err != nil || len(found.Hits) == 0 {
		return "", err
	}
	return found.Hits[0].Content, nil
}

// README end

func Example_embed() {
	dir, err := os.MkdirTemp("", "amber-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	answer, err := remember(context.Background(), filepath.Join(dir, "home"))
	fmt.Println(answer, err)
	// Output: We chose PostgreSQL for JSONB. <nil>
}

// TestREADME keeps the code in the README equal to the code above, which
// compiles and runs.
func TestREADME(t *testing.T) {
	source, err := os.ReadFile("example_embed_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "// README begin\n")
	code, _, _ = strings.Cut(code, "\n// README end")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+code+"```") {
		t.Error("the Go code of README.md differs from example_embed_test.go")
	}
}
