package httpapi

import (
	"net/http"
	"strings"
)

// VaultPath is below what the vaults of agents are served.
const VaultPath = "/api/v1/"

// Vault serves the vaults of agents. It finds out who asks by itself, and speaks
// of errors in its own words.
type Vault interface {
	http.Handler
	// Routes returns the patterns of its routes. Route returns that of a
	// request, "other" for none, and whether the answer may take long.
	Routes() []string
	Route(r *http.Request) (pattern string, long bool)
	// Fail answers a request with an error that came up before it got there.
	Fail(w http.ResponseWriter, r *http.Request, err error)
}

// vault serves a request for a vault and reports whether it is one. The router
// is not asked: it takes escapes and dots in the names of files for something
// else.
func (a *API) vault(w http.ResponseWriter, r *http.Request) bool {
	if !a.forVault(r) {
		return false
	}
	route, long := a.o.Vault.Route(r)
	note(w, route)
	limit := a.o.Timeout
	if long {
		limit = LongTimeout
	}
	defer hurry(w, limit)()
	a.o.Vault.ServeHTTP(w, r)
	_ = http.NewResponseController(w).Flush() // the caller may be gone
	return true
}

// forVault reports whether a request is for a vault.
func (a *API) forVault(r *http.Request) bool {
	return a.o.Vault != nil && strings.HasPrefix(r.URL.EscapedPath(), VaultPath)
}

// failOutside answers with an error from before the API knew whose request it is, in the words of the handler that
// serves the path.
func (a *API) failOutside(w http.ResponseWriter, r *http.Request, err error) {
	if !a.forVault(r) {
		a.fail(w, r, err)
		return
	}
	defer hurry(w, a.o.Timeout)()
	a.o.Vault.Fail(w, r, err)
	_ = http.NewResponseController(w).Flush() // the caller may be gone
}
