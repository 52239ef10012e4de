package s3_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
)

// many fills a bucket with names for more than one page.
func many(t *testing.T, s *server, n int) (names []string) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("packs/%02x/%04d", i/100, i)
		s.store(t, "some/prefix/"+name, "x")
		names = append(names, name)
	}
	return names
}

func TestListHasPages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	want := many(t, s, 2001)
	target := s.open(t)
	s.forget()
	got := must.Get(list(t, target, "packs/"))(t)
	must.Equal(t, "list", got, want)
	must.Equal(t, "pages", s.asked("list-type"), 3)
}

// TestListThatEndsBetweenPagesSaysSo ends the context with the last name of a
// page, where minio-go just stops.
func TestListThatEndsBetweenPagesSaysSo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	many(t, s, 1001)
	bucket := s.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	err := bucket.List(ctx, "", func(target.Object) error {
		if n++; n == 1000 {
			cancel()
		}
		return nil
	})
	wantKind(t, "list", err, amber.KindUnreachable)
	must.Equal(t, "names", n, 1000)
}

func TestListGoesOnAfterALostPage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fault fault
	}{
		{"dropped", drops},
		{"broken off", breaks(5000)},
		{"cut", cuts(5000)},
		{"something else", says("<html><body>log in</body></html>")},
		{"nothing", says("")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			want := many(t, s, 1100)
			target := s.open(t)
			pages := 0
			s.set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if pages++; pages%2 == 0 {
					tt.fault(w, r, next)
					return
				}
				next.ServeHTTP(w, r)
			})
			got := must.Get(list(t, target, ""))(t)
			must.Equal(t, "list", got, want)
		})
	}
}

// page is a page of a list with the keys.
func page(more string, keys ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name>` + more)
	for _, key := range keys {
		fmt.Fprintf(&b, "<Contents><Key>some/prefix/%s</Key><LastModified>2025-11-15T12:00:00.000Z</LastModified><Size>3</Size></Contents>", key)
	}
	return b.String() + "</ListBucketResult>"
}

func TestListsThatAreNoneAreNotBelieved(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       amber.Kind
	}{
		{"cut off", page("", "a", "b")[:200], amber.KindUnreachable},
		{"a page to log in", "<html><body>welcome</body></html>", amber.KindUnreachable},
		{"no XML", "\x00\xff<<<", amber.KindUnreachable},
		{"another element", "<ListAllMyBucketsResult></ListAllMyBucketsResult>", amber.KindUnreachable},
		{"empty", "", amber.KindUnreachable},
		{"endless", "<ListBucketResult>" + strings.Repeat(" ", 17<<20), amber.KindUnreachable},
		{"more without saying where", page("<IsTruncated>true</IsTruncated>", "a"), amber.KindUnreachable},
		{"pages without end", page("<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>"), amber.KindUnreachable},
		{"the same page again", page("<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>", "a"), amber.KindDamaged},
		{"out of order", page("", "b", "a"), amber.KindDamaged},
		{"twice", page("", "a", "a"), amber.KindDamaged},
		{"not asked for", page("", "../other/a"), amber.KindDamaged},
		{"negative size", strings.Replace(page("", "a"), ">3<", ">-3<", 1), amber.KindDamaged},
		{"a size that is not a number", strings.Replace(page("", "a"), ">3<", ">x<", 1), amber.KindUnreachable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, target := served(t)
			body := tt.body
			if tt.name == "not asked for" {
				body = strings.ReplaceAll(body, "some/prefix/../", "")
			}
			s.set(always(lists, says(body)))
			_, err := list(t, target, "")
			wantKind(t, "list", err, tt.want)
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("the error is long: %.400s", err)
			}
		})
	}
}

func TestStraysAreNotListed(t *testing.T) {
	t.Parallel()
	s, target := served(t)
	put(t, target, "a/b", "x")
	for _, key := range []string{
		"other", "some/prefixes", "some/prefix/.hidden", "some/prefix/a/.hidden", "some/prefix/Large", "some/prefix/folder/",
		"some/prefix/a b", "some/prefix/ä", "some/prefix/a//b", "some/prefix/" + strings.Repeat("x", 201), "some/prefix/../up",
	} {
		s.store(t, key, "stray")
	}
	got := must.Get(list(t, target, ""))(t)
	must.Equal(t, "list", got, []string{"a/b"})
}
