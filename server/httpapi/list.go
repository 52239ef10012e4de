package httpapi

import (
	"context"
	"net/http"
	"reflect"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
)

// paging is in the input of every listing.
type paging struct {
	Limit  int          `query:"limit" doc:"the most items; default 50, at most 1000"`
	Cursor amber.Cursor `query:"cursor" doc:"the field next of the previous page"`
}

func (p paging) page() paging { return p }

func (p paging) paging() amber.Paging { return amber.Paging{Limit: p.Limit, Cursor: p.Cursor} }

// handleList adds a listing. It answers one page, or every item on a line of
// its own when application/x-ndjson is asked for.
func handleList[In interface{ page() paging }, Item any](a *API, o operation, fn func(ctx context.Context, ag *server.Agent, in In, p paging) (amber.Page[Item], error)) {
	o.in, o.out, o.list = reflect.TypeFor[In](), reflect.TypeFor[Item](), true
	o.serve = func(a *API, o *operation, w http.ResponseWriter, r *http.Request) {
		var in In
		_, err := a.bind(r, o, &in)
		_, none := any(in).(interface{ most(p paging) int }) // may be asked for nothing
		if err == nil && !none && in.page().Limit == 0 && r.URL.Query().Has("limit") {
			err = invalid("limit is 0, want 1 or more; leave limit out for the default")
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		if wantsLines(r) {
			a.streamLines(w, r, o, func(ctx context.Context, ag *server.Agent, emit func(any) error) error {
				return eachPage(ctx, in.page(), func(p paging) (amber.Page[Item], error) { return fn(ctx, ag, in, p) }, emit)
			})
			return
		}
		a.once(w, r, o, asked{}, func(ctx context.Context) (response, error) {
			var page amber.Page[Item]
			err := a.do(ctx, o, a.job(r, o), func(ctx context.Context, ag *server.Agent) (_ []string, _ string, err error) {
				page, err = fn(ctx, ag, in, in.page())
				return nil, "", err
			})
			if err != nil {
				return response{}, err
			}
			if page.Items == nil {
				page.Items = []Item{} // a list is never null in JSON
			}
			return newResponse(0, "", page)
		})
	}
	a.add(o)
}

// items is a listing without pages.
func items[T any](list []T, err error) (answer[amber.Page[T]], error) {
	if list == nil {
		list = []T{}
	}
	return answer[amber.Page[T]]{body: amber.Page[T]{Items: list}}, err
}
