package location

import (
	"context"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
)

// Location is where repositories lie, one below it for each tenant: a folder or a
// part of a bucket. It holds no credentials.
type Location struct {
	folder string // "" for a bucket
	bucket s3.Config
}

// Env is what locations are read and opened with.
type Env struct {
	Getenv   func(string) string               // credentials and defaults of buckets
	Absolute func(path string) (string, error) // of a relative path; nil: filepath.Abs
	Random   io.Reader                         // for retries
}

// IsBucket reports whether text names a bucket and not a folder.
func IsBucket(text string) bool {
	return strings.HasPrefix(text, "s3:") || strings.HasPrefix(text, "s3+")
}

// Parse reads a URL or the path of a folder. No error shows the text, which
// may hold credentials by mistake. Errors: invalid; those of [s3.ParseURL].
func Parse(text string, env Env) (Location, error) {
	if IsBucket(text) {
		bucket, err := s3.ParseURL(text)
		if err == nil {
			// Resolved now, so that another environment does not lead elsewhere.
			bucket, err = bucket.Resolve(env.Getenv)
		}
		return Location{bucket: bucket}, err
	}
	path, err := folderOf(text)
	if err != nil {
		return Location{}, err
	}
	absolute := env.Absolute
	if absolute == nil {
		absolute = filepath.Abs
	}
	folder, err := absolute(path)
	return Location{folder: folder}, err
}

// folderOf returns the path that a path or a file URL names.
func folderOf(text string) (string, error) {
	bad := func(why string) (string, error) {
		return "", amber.Errorf(amber.KindInvalid, "read URL", "", "%s", why)
	}
	if rest, ok := strings.CutPrefix(text, "file:"); ok {
		u, err := url.Parse("file:" + rest)
		if err != nil || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") {
			return bad("a file URL has the form file:///path/of/a/folder")
		}
		text = u.Path
		if runtime.GOOS == "windows" {
			text = strings.TrimPrefix(text, "/") // file:///C:/folder
		}
		text = filepath.FromSlash(text)
	}
	switch {
	case text == "":
		return bad("the URL is empty")
	case strings.Contains(text, "://"):
		return bad("want the path of a folder, file:///path or s3://bucket/prefix")
	case strings.ContainsRune(text, 0):
		return bad("the URL contains a zero byte")
	}
	return text, nil
}

// Folder returns the path of a folder; "" for a bucket.
func (l Location) Folder() string { return l.folder }

// String returns the one URL that [Parse] reads the same location from.
func (l Location) String() string {
	if l.folder == "" {
		return l.bucket.String()
	}
	path := filepath.ToSlash(l.folder)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// ErrNoTenant is the cause when a folder has no repository of a tenant.
var ErrNoTenant = errors.New("the folder has no repository of this tenant yet")

// Open opens the repository of a tenant. With create it makes a folder for the
// tenant, but not the one that all tenants lie in: its disk may not be mounted. A
// target that implements io.Closer is to be closed. Errors: not_found;
// unreachable; refused.
func (l Location) Open(ctx context.Context, tenant amber.TenantID, create bool, env Env) (target.Target, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	if l.folder == "" {
		c := l.bucket
		c.Prefix = strings.TrimPrefix(c.Prefix+"/"+string(tenant), "/")
		t, err := s3.Open(ctx, c, s3.Options{Getenv: env.Getenv, Random: env.Random})
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	if _, err := dir.Open(l.folder, dir.Options{}); err != nil {
		return nil, err
	}
	t, err := dir.Open(filepath.Join(l.folder, string(tenant)), dir.Options{Create: create})
	if amber.KindOf(err) == amber.KindNotFound {
		err = &amber.Error{Op: "open repository of tenant " + string(tenant), Kind: amber.KindNotFound, ID: l.String(), Err: ErrNoTenant}
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}
