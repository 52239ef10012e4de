package main

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/target/dir"
	"github.com/amber-memory/amber/target/s3"
)

// location is where repositories lie, one below it for each tenant: a folder
// or a part of a bucket. It holds no credentials.
type location struct {
	folder string // "" for a bucket
	bucket s3.Config
}

// isBucket reports whether text names an object store and not a folder.
func isBucket(text string) bool {
	return strings.HasPrefix(text, "s3:") || strings.HasPrefix(text, "s3+")
}

// parseLocation reads a URL or the path of a folder. No error shows it: it may
// hold credentials that do not belong there. Errors: invalid; those of
// [s3.ParseURL].
func (a *app) parseLocation(text string) (location, error) {
	const op = "read URL"
	if isBucket(text) {
		bucket, err := s3.ParseURL(text)
		if err == nil {
			// Named now, so that another environment does not make it another place.
			bucket, err = bucket.Resolve(a.getenv)
		}
		return location{bucket: bucket}, err
	}
	if rest, ok := strings.CutPrefix(text, "file:"); ok {
		u, err := url.Parse("file:" + rest)
		if err != nil || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") {
			return location{}, amber.Errorf(amber.KindInvalid, op, "", "it is not of the form file:///path/of/a/folder")
		}
		text = u.Path
		if runtime.GOOS == "windows" {
			text = strings.TrimPrefix(text, "/") // file:///C:/folder
		}
		text = filepath.FromSlash(text)
	}
	switch {
	case text == "":
		return location{}, amber.Errorf(amber.KindInvalid, op, "", "it is empty")
	case strings.Contains(text, "://"):
		return location{}, amber.Errorf(amber.KindInvalid, op, "", "it is neither the path of a folder, file:///path nor s3://bucket/prefix")
	case strings.ContainsRune(text, 0):
		return location{}, amber.Errorf(amber.KindInvalid, op, "", "it contains a zero byte")
	}
	folder, err := a.absolute(text)
	return location{folder: folder}, err
}

// String returns the one URL that [app.parseLocation] reads the same location
// from.
func (l location) String() string {
	if l.folder == "" {
		return l.bucket.String()
	}
	path := filepath.ToSlash(l.folder)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// options makes an engine work on the repositories there.
func (l location) options(a *app, o *snapshot.Options) {
	if l.bucket == (s3.Config{}) {
		o.Root = l.folder
		return
	}
	var mu sync.Mutex
	opened := map[amber.TenantID]amber.Target{} // under mu
	o.Remote = &snapshot.Remote{Name: l.String(), Open: func(ctx context.Context, tenant amber.TenantID) (amber.Target, error) {
		mu.Lock()
		defer mu.Unlock()
		if t := opened[tenant]; t != nil {
			return t, nil
		}
		t, err := l.target(ctx, a, tenant, true)
		if err == nil {
			opened[tenant] = t
		}
		return t, err
	}}
}

// errNoTenant is the cause where a folder of repositories has none of a tenant.
var errNoTenant = errors.New("there is none yet")

// target opens the repository of a tenant. With create a folder is made for the
// tenant, but not the one that all lie in: its disk may not be plugged in.
// Errors: not_found; unreachable; refused.
func (l location) target(ctx context.Context, a *app, tenant amber.TenantID, create bool) (amber.Target, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	if l.folder != "" {
		if _, err := dir.Open(l.folder, dir.Options{}); err != nil {
			return nil, err
		}
		t, err := dir.Open(filepath.Join(l.folder, string(tenant)), dir.Options{Create: create})
		if amber.KindOf(err) == amber.KindNotFound {
			err = &amber.Error{Op: "open repository of tenant " + string(tenant), Kind: amber.KindNotFound, ID: l.String(), Err: errNoTenant}
		}
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	c := l.bucket
	c.Prefix = strings.TrimPrefix(c.Prefix+"/"+string(tenant), "/")
	t, err := s3.Open(ctx, c, s3.Options{Getenv: a.getenv, Random: a.random})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, t.Close)
	return t, nil
}

// close lets go what was opened on the way.
func (a *app) close() (err error) {
	for _, c := range a.closers {
		err = errors.Join(err, c())
	}
	a.closers = nil
	return err
}
