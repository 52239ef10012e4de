package inmem_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
)

func Example() {
	ctx := context.Background()
	s, err := inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		panic(err)
	}
	scout, err := s.Agent(amber.DefaultTenant, "scout")
	if err == nil {
		err = scout.Make()
	}
	if err == nil {
		err = scout.WriteNote("plan", "walk\n")
	}
	if err != nil {
		panic(err)
	}

	// What is tested needs no more than an amber.Snapshotter.
	m, err := s.Snapshot(ctx, amber.SnapshotRequest{Tenant: amber.DefaultTenant, Agent: "scout", Label: "before the storm"})
	if err == nil {
		err = scout.DeleteNote("plan")
	}
	if err != nil {
		panic(err)
	}
	ref := amber.SnapshotRef{Tenant: m.Tenant, Agent: m.Agent, ID: m.ID}
	if _, err = s.Restore(ctx, amber.RestoreRequest{SnapshotRef: ref}); err != nil {
		panic(err)
	}

	c, err := scout.Contents()
	fmt.Printf("%q %v\n", c.Notes["plan"], err)
	// Output: "walk\n" <nil>
}
