package vaultapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/amber-memory/amber/wire"
)

// operation is one thing that may be asked for.
type operation struct {
	method, path string // in the path, {name} is the name of a file
	action       string // for the audit log; "": nothing is changed
	scope        wire.TokenScope
	bucket       bucket
	body         bool // a JSON document is expected
	open         bool // no token is needed
	long         bool // the answer may be as large as the vault
	repeatable   bool // doing it twice is doing it once, without a condition
	first        bool // it may make a file, and so the agent
	conditional  bool // it takes a condition
	do           func(ctx context.Context, c *call) (answer, error)
}

const (
	filesPath = "/vault/files/"
	nameVar   = "{name}"
)

func (h *Handler) operations() []*operation {
	read := func(path string, b bucket, do func(context.Context, *call) (answer, error)) *operation {
		return &operation{method: http.MethodGet, path: path, scope: wire.TokenRead, bucket: b, do: do}
	}
	change := func(method, path, action string, do func(context.Context, *call) (answer, error)) *operation {
		return &operation{method: method, path: path, action: action, scope: wire.TokenWrite, bucket: operations, body: method != http.MethodDelete, do: do}
	}
	export := read("/vault/export", exports, h.export)
	export.long = true
	put := change(http.MethodPut, filesPath+nameVar, "vault.put", h.put)
	put.repeatable, put.conditional, put.first = true, true, true
	more := change(http.MethodPost, filesPath+nameVar+"/append", "vault.append", h.appendTo)
	more.first = true
	return []*operation{
		{method: http.MethodPost, path: "/auth/token", open: true},
		read("/me/capabilities", free, h.capabilities),
		read("/vault/status", free, h.status),
		read("/vault/files", free, h.list),
		read("/vault/search", searches, h.search),
		read("/vault/folders", free, h.folders),
		export,
		read(filesPath+nameVar, free, h.get),
		put,
		change(http.MethodDelete, filesPath+nameVar, "vault.delete", h.remove),
		more,
		change(http.MethodPost, filesPath+nameVar+"/move", "vault.move", h.move),
		change(http.MethodPost, filesPath+nameVar+"/copy", "vault.copy", h.copyTo),
	}
}

// base is what every path begins with.
const base = "/api/v1"

// match reports whether a path below the base, still escaped, is one of the
// operation, and returns the name in it, escaped too.
func (o *operation) match(path string) (name string, ok bool) {
	before, after, named := strings.Cut(o.path, nameVar)
	if !named {
		return "", path == o.path
	}
	rest, ok := strings.CutPrefix(path, before)
	if ok {
		rest, ok = strings.CutSuffix(rest, after)
	}
	return rest, ok && rest != ""
}

// find returns the operation of a request, and the name of the file in its path.
// A file may be called x/append: only POST appends.
func (h *Handler) find(r *http.Request) (*operation, string, error) {
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), base)
	if !ok {
		return nil, "", nowhere()
	}
	var allowed []string
	for _, o := range h.routes {
		name, ok := o.match(path)
		if !ok {
			continue
		}
		if o.method == r.Method {
			name, err := url.PathUnescape(name)
			if err != nil {
				return nil, "", badInput("the file name in the path is not escaped correctly")
			}
			return o, name, nil
		}
		if !slices.Contains(allowed, o.method) {
			allowed = append(allowed, o.method)
		}
	}
	if allowed != nil {
		return nil, "", wrongMethod(allowed)
	}
	return nil, "", nowhere()
}

// Route returns the pattern of the route of a request, and whether its answer may be as large as the vault. A path
// without a route has the pattern "other".
func (h *Handler) Route(r *http.Request) (pattern string, long bool) {
	o, _, err := h.find(r)
	if err != nil {
		return "other", false
	}
	return base + o.path, o.long
}

// Routes returns the patterns of all routes.
func (h *Handler) Routes() (patterns []string) {
	for _, o := range h.routes {
		if p := base + o.path; !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	return patterns
}
