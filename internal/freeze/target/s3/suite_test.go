package s3_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/freeze/target/targettest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/some/prefix"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			c := must.Get(s3.ParseURL("s3:" + s.url + "/bucket" + prefix))(t)
			checkPromises(t, c, options())
		})
	}
}

// checkPromises runs the suite.
func checkPromises(t *testing.T, c s3.Config, o s3.Options) {
	t.Helper()
	passed, err := targettest.Run(t.Context(), func() (target.Target, error) {
		target, err := s3.Open(t.Context(), c, o)
		if err == nil {
			t.Cleanup(func() { _ = target.Close() })
		}
		return target, err
	})
	must.NoError(t, err)
	must.Equal(t, "checks that passed", len(passed), len(targettest.Checks()))
}

func TestTwoPrefixesOfABucketAreTwoTargets(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, prefix := range []string{"", "/a", "/a/b", "/ab"} {
		c := must.Get(s3.ParseURL("s3:" + s.url + "/bucket" + prefix))(t)
		target := must.Get(s3.Open(t.Context(), c, options()))(t)
		t.Cleanup(func() { _ = target.Close() })
		put(t, target, "own"+prefix, "x")
	}
	c := s.config(t)
	c.Prefix = "a"
	target := must.Get(s3.Open(t.Context(), c, options()))(t)
	t.Cleanup(func() { _ = target.Close() })
	if names := must.Get(list(t, target, ""))(t); len(names) != 2 || names[0] != "b/own/a/b" || names[1] != "own/a" {
		t.Errorf("got %q", names)
	}
}
