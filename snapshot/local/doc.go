// Package local ties the snapshot engine to what an agent consists of on this
// machine: SQLite databases, notes under git, the crash journal, and a
// repository in a folder.
//
//	engine, err := local.Open(local.Options{Home: h, Clock: time.Now, Random: rand.Reader})
//	meta, err := engine.Snapshot(ctx, amber.SnapshotRequest{Tenant: "default", Agent: "default"})
package local
