package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/amber-memory/amber/op"
)

// The router takes an element of a path that is nothing but an escaped slash for
// the end of the path. An id may be a slash, so in the router it goes by another
// name, which no path can have: NUL is in none.
const (
	loneSlash = "\x00slash"
	nul       = "%00"
)

// checkPath renames elements that are a slash. The error is of kind invalid.
func checkPath(u *url.URL) error {
	path := u.EscapedPath()
	if strings.Contains(path, nul) {
		return op.Invalid("the path holds a NUL character")
	}
	elements := strings.Split(path, "/")
	renamed := false
	for i, e := range elements {
		if strings.EqualFold(e, "%2F") {
			elements[i], renamed = url.PathEscape(loneSlash), true
		}
	}
	if renamed {
		u.RawPath = strings.Join(elements, "/")
		u.Path, _ = url.PathUnescape(u.RawPath) // it was one before
	}
	return nil
}

// pathValue is the variable of a path.
func pathValue(r *http.Request, name string) string {
	if v := r.PathValue(name); v != loneSlash {
		return v
	}
	return "/"
}
