package op

import (
	"context"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Paging is in the input of every listing.
type Paging struct {
	Limit  int          `query:"limit" doc:"the most items; default 50, at most 1000"`
	Cursor amber.Cursor `query:"cursor" doc:"the field next of the previous page"`
}

// paged is implemented by inputs that embed a [Paging].
type paged interface{ page() Paging }

func (p Paging) page() Paging { return p }

func (p Paging) paging() amber.Paging { return amber.Paging(p) }

// PageOf returns the page that an input asks for; ok is false for an input that is not paged, or pages in its own way.
func PageOf(in any) (p Paging, ok bool) {
	l, ok := in.(paged)
	if !ok {
		return Paging{}, false
	}
	return l.page(), true
}

// eachPage emits the items of a page and of those behind it, as many as the limit says, or all of them without one.
func eachPage[T any](ctx context.Context, p Paging, read func(Paging) (amber.Page[T], error), emit func(any) error) error {
	left, bounded := p.Limit, p.Limit > 0
	if left < 0 {
		return Invalid("limit is negative, want 0 or more")
	}
	for {
		p.Limit = amber.MaxPageSize
		if bounded {
			p.Limit = min(left, amber.MaxPageSize)
		}
		page, err := read(p)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := emit(item); err != nil {
				return err
			}
		}
		left -= len(page.Items)
		if page.Next == "" || bounded && left <= 0 {
			return ctx.Err()
		}
		p.Cursor = page.Next
	}
}

// items is a listing without pages.
func items[T any](list []T, err error) (amber.Page[T], error) {
	if list == nil {
		list = []T{}
	}
	return amber.Page[T]{Items: list}, err
}

// orElse is the value of a parameter, or its default where it is not there.
func orElse[T any](v *T, def T) T {
	if v == nil {
		return def
	}
	return *v
}

// atMost is how many are asked for at one time: none is not the same as no limit.
func atMost(limit *int) int { return min(orElse(limit, amber.DefaultPageSize), amber.MaxPageSize) }

// requestOp is the name of what fails where a request cannot be read.
const requestOp = "read request"

// Invalid is the error of a request that cannot be read.
func Invalid(format string, args ...any) error {
	return amber.Errorf(amber.KindInvalid, requestOp, "", format, args...)
}

// unsupported is the error of what this server cannot do.
func unsupported(op, why string) error {
	return amber.Errorf(amber.KindUnsupported, op, "", "%s", why)
}

// revision is the entity tag of a revision or version.
func revision(n int64) string { return strconv.FormatInt(n, 10) }

// quoted makes an entity tag as it stands in a header.
func quoted(tag string) string { return `"` + tag + `"` }

// Matches reports whether a header of entity tags names a tag.
func Matches(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		if t == "*" || t == quoted(tag) {
			return true
		}
	}
	return false
}

// ifMatch returns the tag of an If-Match header, "" for none and for "*". Errors: invalid for several, for an empty one, and for what is
// no tag.
func ifMatch(header string) (string, error) {
	switch header = strings.TrimSpace(header); {
	case header == "" || header == "*":
		return "", nil
	case len(header) < 3 || header[0] != '"' || strings.Index(header[1:], `"`) != len(header)-2:
		return "", Invalid("If-Match is %s, want one entity tag in quotes", clip.Name(header))
	}
	return header[1 : len(header)-1], nil
}

// expected returns the revision that If-Match or the body asks for, 0 for any. Errors: invalid when they differ; conflict for a tag that
// is no revision, so it is not the one that is stored.
func expected(header string, body int64) (int64, error) {
	tag, err := ifMatch(header)
	if err != nil || tag == "" {
		return body, err
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	switch {
	case err != nil || n <= 0:
		return 0, amber.Errorf(amber.KindConflict, requestOp, "", "If-Match differs from the tag of the stored memory")
	case body != 0 && body != n:
		return 0, Invalid("If-Match and the body expect different revisions")
	}
	return n, nil
}

// expectedExactly is expected where any version will not do.
func expectedExactly(header string, body int64) (int64, error) {
	if Matches(header, "*") {
		return 0, Invalid("If-Match must name one tag")
	}
	return expected(header, body)
}

// expectedRevision is the revision that a change is based on, "" for any. Errors: invalid when header and request disagree.
func expectedRevision(header, request string) (string, error) {
	if Matches(header, "*") {
		return "", Invalid("If-Match must name one tag")
	}
	tag, err := ifMatch(header)
	switch {
	case err != nil || tag == "":
		return request, err
	case request != "" && request != tag:
		return "", Invalid("If-Match and if_revision name different revisions")
	}
	return tag, nil
}
