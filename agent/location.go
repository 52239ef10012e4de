package agent

import (
	"context"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/target/dir"
	"github.com/amber-memory/amber/target/s3"
)

// Location is where repositories lie, one below it for each tenant: a folder
// or a part of a bucket. It holds no credentials.
type Location struct {
	folder string // "" for a bucket
	bucket s3.Config
}

// IsBucket reports whether text names an object store and not a folder.
func IsBucket(text string) bool {
	return strings.HasPrefix(text, "s3:") || strings.HasPrefix(text, "s3+")
}

// IsPath reports whether text is the path of a folder and not a URL.
func IsPath(text string) bool {
	return text != "" && !IsBucket(text) && !strings.HasPrefix(text, "file:") && !strings.Contains(text, "://") && !strings.ContainsRune(text, 0)
}

// ParseLocation reads a URL or the absolute path of a folder. No error shows the text:
// it may hold credentials that do not belong there. Errors: invalid; those of
// [s3.ParseURL].
func ParseLocation(text string, getenv func(string) string) (Location, error) {
	const op = "read URL"
	if IsBucket(text) {
		bucket, err := s3.ParseURL(text)
		if err == nil {
			// Named now, so that another environment does not make it another place.
			bucket, err = bucket.Resolve(getenv)
		}
		return Location{bucket: bucket}, err
	}
	if rest, ok := strings.CutPrefix(text, "file:"); ok {
		u, err := url.Parse("file:" + rest)
		if err != nil || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") {
			return Location{}, amber.Errorf(amber.KindInvalid, op, "", "it is not of the form file:///path/of/a/folder")
		}
		text = u.Path
		if runtime.GOOS == "windows" {
			text = strings.TrimPrefix(text, "/") // file:///C:/folder
		}
		text = filepath.FromSlash(text)
	}
	switch {
	case text == "":
		return Location{}, amber.Errorf(amber.KindInvalid, op, "", "it is empty")
	case strings.Contains(text, "://"):
		return Location{}, amber.Errorf(amber.KindInvalid, op, "", "it is neither the path of a folder, file:///path nor s3://bucket/prefix")
	case strings.ContainsRune(text, 0):
		return Location{}, amber.Errorf(amber.KindInvalid, op, "", "it contains a zero byte")
	case !filepath.IsAbs(text):
		return Location{}, amber.Errorf(amber.KindInvalid, op, "", "the path of the folder is not absolute")
	}
	return Location{folder: filepath.Clean(text)}, nil
}

// String returns the one URL that [ParseLocation] reads the same location
// from.
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

// errNoTenant is the cause where a folder of repositories has none of a tenant.
var errNoTenant = errors.New("there is none yet")

// TargetOptions are what opening a target needs.
type TargetOptions struct {
	Getenv func(name string) string
	Random io.Reader
}

// Target opens the repository of a tenant; the caller closes it where it is an
// [io.Closer]. With create a folder is made for the tenant, but not the one that all
// lie in: its disk may not be plugged in. Errors: not_found; unreachable; refused.
func (l Location) Target(ctx context.Context, tenant amber.TenantID, create bool, o TargetOptions) (amber.Target, error) {
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
	t, err := s3.Open(ctx, c, s3.Options{Getenv: o.Getenv, Random: o.Random})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// RepositoryContent says what a repository holds of a tenant.
type RepositoryContent struct {
	Snapshots int
	Encrypted bool
}

// LookInto looks what of the tenant is in a repository. An empty one is fine.
func (a *Agent) LookInto(ctx context.Context, l Location) (found RepositoryContent, err error) {
	t, err := a.OpenTarget(ctx, l, a.Tenant(), false)
	switch {
	case errors.Is(err, errNoTenant):
		return found, nil
	case err != nil:
		return found, err
	}
	// The names are those of docs/format/repository.md. To open the repository
	// would mean to read its whole index.
	err = t.List(ctx, "snapshots/", func(amber.Object) error { found.Snapshots++; return nil })
	if err == nil {
		err = t.List(ctx, "keys/", func(amber.Object) error { found.Encrypted = true; return nil })
	}
	return found, err
}
