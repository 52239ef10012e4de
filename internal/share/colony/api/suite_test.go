package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// kept lets connections be used again.
func kept(t *testing.T) func(*api.Options) {
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	return func(o *api.Options) { o.HTTP = &http.Client{Transport: transport} }
}

func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*vault){
		"as the service": func(*vault) {},
		"wrapped":        func(v *vault) { v.wrap, v.page, v.shape = true, 50, "files" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			colonytest.Run(t, func(t *testing.T) colony.Backend {
				c, _ := newVault(t, change).open(t, kept(t))
				return c
			})
		})
	}
}

// Only the shape of the listing differs between these vaults, so that only checks that read a listing run.
func TestKeepsEveryPromiseOfListings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*vault){
		"files":           func(v *vault) { v.shape = "files" },
		"strings":         func(v *vault) { v.shape = "strings" },
		"objects":         func(v *vault) { v.shape = "objects" },
		"names":           func(v *vault) { v.shape = "names" },
		"wrapped items":   func(v *vault) { v.wrap = true },
		"wrapped strings": func(v *vault) { v.wrap, v.shape = true, "strings" },
		"pages":           func(v *vault) { v.page = 7 },
	} {
		for _, check := range colonytest.Checks() {
			if !strings.HasPrefix(check.Name, "list/") && check.Name != "delete/removes" && check.Name != "put/replaces" {
				continue
			}
			t.Run(name+"/"+check.Name, func(t *testing.T) {
				t.Parallel()
				c, _ := newVault(t, change).open(t, kept(t))
				must.Do(t, check.Run(t.Context(), c))
			})
		}
	}
}

// In a vault without versions and conditions, several writers of one file may all believe that they won. The checks of
// that promise are left out; the client keeps all other promises.
func TestKeepsEveryPromiseWithoutVersions(t *testing.T) {
	t.Parallel()
	for _, check := range colonytest.Checks() {
		switch check.Name {
		case "if-absent/one-of-many-wins", "if-version/one-of-many-wins", "if-version/no-write-is-lost":
			continue
		}
		t.Run(check.Name, func(t *testing.T) {
			t.Parallel()
			c, _ := newVault(t, func(v *vault) { v.bare = true }).open(t, kept(t))
			must.Do(t, check.Run(t.Context(), c))
		})
	}
}
