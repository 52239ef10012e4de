package location

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func none(string) string { return "" }

// known is the list of a home that exists.
func known(t *testing.T) Known {
	t.Helper()
	return Known{Home: t.TempDir(), Env: Env{Getenv: none}}
}

func TestLocationsHaveOneURL(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a folder", "ü#?%")
	for _, tc := range []struct {
		text, want string
		kind       amber.Kind
	}{
		{folder, Location{folder: folder}.String(), ""},
		{Location{folder: folder}.String(), Location{folder: folder}.String(), ""},
		{"s3://bucket/prefix", "s3+https://s3.amazonaws.com/bucket/prefix", ""},
		{"s3+https://s3.example.org/bucket/a/b?region=x", "s3+https://s3.example.org/bucket/a/b?region=x", ""},
		{"s3://127.0.0.1:9000/bucket", "s3+http://127.0.0.1:9000/bucket", ""},
		{"", "", amber.KindInvalid},
		{"file:", "", amber.KindInvalid},
		{"file://host/x", "", amber.KindInvalid},
		{"file:relative", "", amber.KindInvalid},
		{"file:///x?y", "", amber.KindInvalid},
		{"https://user:hunter2@example.org", "", amber.KindInvalid},
		{"s3://user:hunter2@bucket/x", "", amber.KindInvalid},
		{"s3+http://example.org/hunter2", "", amber.KindRefused},
		{"a\x00b", "", amber.KindInvalid},
	} {
		l, err := Parse(tc.text, Env{Getenv: none})
		must.Kind(t, fmt.Sprintf("%q", tc.text), err, tc.kind)
		if err != nil {
			must.Hold(t, !strings.Contains(err.Error(), "hunter2"), "%q: the error shows it: %v", tc.text, err)
			continue
		}
		must.Equal(t, fmt.Sprintf("%q", tc.text), l.String(), tc.want)
		if again, err := Parse(l.String(), Env{Getenv: none}); err != nil || again != l {
			t.Errorf("%s is read as %s, %v", l, again, err)
		}
	}
}

func TestConcurrentAddsLoseNoRepository(t *testing.T) {
	t.Parallel()
	k := known(t)
	const many = 8
	var work sync.WaitGroup
	for n := range many {
		work.Go(func() {
			must.NoError(t, must.Err(k.Add(t.Context(), Repository{Name: fmt.Sprintf("r%d", n), URL: "file:///x"})))
		})
	}
	work.Wait()
	all := must.Get(k.List())(t)
	must.Equal(t, "", len(all), many)
	info, err := os.Stat(k.path())
	must.Do(t, err)
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("its mode is %v", info.Mode())
	}
	for _, r := range all[1:] {
		must.Get(k.Remove(t.Context(), r.Name))(t)
	}
	if all, err = k.List(); err != nil || len(all) != 1 || all[0].Name != "r0" || all[0].URL != "file:///x" {
		t.Errorf("what is left is %+v, %v", all, err)
	}
}

func TestDamagedListOfRepositoriesIsRefused(t *testing.T) {
	t.Parallel()
	k := known(t)
	one := func(name, url string) string {
		return fmt.Sprintf(`{"name":%q,"url":%q,"added_at":"2026-01-01T00:00:00.000Z"}`, name, url)
	}
	file := func(items ...string) string {
		return `{"format":"amber repositories 1","repositories":[` + strings.Join(items, ",") + `]}`
	}
	for name, tc := range map[string]struct {
		content string
		kind    amber.Kind
	}{
		"fine":          {file(one("a", "file:///a"), one("b", "s3+https://s3.amazonaws.com/bucket")), ""},
		"none":          {file(), ""},
		"empty":         {"", amber.KindDamaged},
		"something":     {"[]", amber.KindDamaged},
		"no format":     {`{"repositories":[]}`, amber.KindDamaged},
		"newer":         {`{"format":"amber repositories 9","x":1}`, amber.KindTooNew},
		"unknown field": {`{"format":"amber repositories 1","repositories":[],"x":1}`, amber.KindDamaged},
		"more":          {file() + file(), amber.KindDamaged},
		"bad name":      {file(one("../x", "file:///a")), amber.KindDamaged},
		"twice":         {file(one("a", "file:///a"), one("a", "file:///b")), amber.KindDamaged},
		"no order":      {file(one("b", "file:///a"), one("a", "file:///b")), amber.KindDamaged},
		"bad URL":       {file(one("a", "https://example.org")), amber.KindDamaged},
		"other form":    {file(one("a", "/a")), amber.KindDamaged},
		"credentials":   {file(one("a", "s3://k:s@bucket")), amber.KindDamaged},
		"too long":      {strings.Repeat(" ", maxBytes+1), amber.KindDamaged},
	} {
		must.Do(t, os.WriteFile(k.path(), []byte(tc.content), 0o600))
		must.Fail(k.List())(t, name, tc.kind)
		must.Fail(k.Add(t.Context(), Repository{Name: "new", URL: "file:///n"}))(t, name+": add", tc.kind)
	}
}
