package client

import "github.com/amber-memory/amber"

// Everything returns every contract, whatever the server can do.
func (a *Agent) Everything() amber.Store {
	all := amber.Capabilities{
		Memories: true, Batch: true, Edit: true, Erase: true, Relations: true, Concepts: true,
		Compactions: true, Stats: true, Changes: true, Turns: true, Loops: true, Sessions: true, States: true,
		Notes: true, Control: true, Ingest: true, Documents: true,
	}
	return amber.NewStore(a.parts(all))
}
