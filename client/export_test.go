package client

import "github.com/amber-memory/amber"

// Everything returns every contract, whatever the server can do.
func (a *Agent) Everything() amber.Store { return amber.NewStore(a.Parts()) }
