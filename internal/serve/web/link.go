package web

import (
	"net/url"
	"strings"
)

// addQuery is an address with values put into its query; an empty value takes a name
// out.
func addQuery(address string, pairs ...string) string {
	path, raw, _ := strings.Cut(address, "?")
	q, _ := url.ParseQuery(raw) // what cannot be read is left out
	q.Del("as")
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
