package httpapi

import "github.com/amber-memory/amber"

// Operation is a row of the table as tests see it.
type Operation struct {
	ID, Method, Path string
	Scope            amber.TokenScope
	Mutates, List    bool
	HasBody          bool
}

// Operations returns the table of routes.
func (a *API) Operations() []Operation {
	var all []Operation
	for _, o := range a.ops {
		row := Operation{ID: o.id, Method: o.method, Path: o.path, Scope: o.scope, Mutates: o.mutates, List: o.list}
		for i := range o.in.NumField() {
			row.HasBody = row.HasBody || o.in.Field(i).Tag.Get("body") != ""
		}
		all = append(all, row)
	}
	return all
}
