package location

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Repository is one that was added to a home.
type Repository struct {
	Name    string     `json:"name"`
	URL     string     `json:"url"` // without credentials
	AddedAt amber.Time `json:"added_at"`
}

// knownFile is repositories.json, which lies in the home with mode 0600.
type knownFile struct {
	Format       string       `json:"format"`
	Repositories []Repository `json:"repositories"` // by name
}

const (
	knownName   = "repositories.json"
	knownLock   = "repositories.lock"
	knownPrefix = "amber repositories "
	knownFormat = knownPrefix + "1"
	maxKnown    = 1000
	maxBytes    = 1 << 20
)

// Known is the list of repositories that were added to a home. Safe for concurrent
// use, also by several processes. The format is in docs/format/home.md.
type Known struct {
	Home string // its folder
	Env  Env
}

func (k Known) path() string { return filepath.Join(k.Home, knownName) }

// ParseName checks the name of a repository by the rule of tenants and agents. The
// error is of kind invalid.
func ParseName(s string) (string, error) {
	_, err := amber.ParseTenantID(s)
	if wrong, ok := errors.AsType[*amber.Error](err); ok {
		wrong.Op = "parse name of repository"
	}
	return s, err
}

// List returns the repositories by name. Errors: damaged; too_new; refused.
func (k Known) List() ([]Repository, error) {
	const op = "read repositories"
	b, err := fsx.ReadFile(fsx.OS(), k.path(), maxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, &amber.Error{Op: op, Kind: amber.KindRefused, ID: k.path(), Err: err}
	case err == nil:
		var file knownFile
		if file, err = k.parse(b); err == nil {
			return file.Repositories, nil
		}
	}
	if amber.KindOf(err) == amber.KindTooNew {
		return nil, err
	}
	// The text alone: the kind of what is wrong with an entry is not that of the file.
	return nil, &amber.Error{
		Op: op, Kind: amber.KindDamaged, ID: k.path(), Err: errors.New(err.Error()),
		Hint: "rm " + k.path() + ", then amber repo add NAME URL for each repository",
	}
}

func (k Known) parse(b []byte) (file knownFile, err error) {
	if err = json.Unmarshal(b, &struct{ Format *string }{&file.Format}); err != nil {
		return file, err
	}
	if version, ok := strings.CutPrefix(file.Format, knownPrefix); ok && file.Format != knownFormat {
		return file, amber.Errorf(amber.KindTooNew, "read repositories", k.path(), "the file has version %.20q, this program reads version 1", version)
	}
	if file.Format != knownFormat {
		return file, fmt.Errorf("the format is %.40q, want %q", file.Format, knownFormat)
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err = d.Decode(&file); err != nil {
		return file, err
	}
	if n := len(file.Repositories); n > maxKnown {
		return file, fmt.Errorf("the file names %d repositories, want at most %d", n, maxKnown)
	}
	for i, r := range file.Repositories {
		if _, err := ParseName(r.Name); err != nil {
			return file, err
		}
		if i > 0 && file.Repositories[i-1].Name >= r.Name {
			return file, fmt.Errorf("entry %d is not in the order of names", i)
		}
		l, err := Parse(r.URL, k.Env)
		if err == nil && l.String() != r.URL {
			err = fmt.Errorf("the URL of entry %d is not in its one form", i)
		}
		if err != nil {
			return file, err
		}
	}
	return file, nil
}

// Find returns the location of the repository of a name. Errors: invalid;
// not_found; those of List.
func (k Known) Find(name string) (Location, error) {
	if _, err := ParseName(name); err != nil {
		return Location{}, err
	}
	all, err := k.List()
	if err != nil {
		return Location{}, err
	}
	for _, r := range all {
		if r.Name == name {
			return Parse(r.URL, k.Env)
		}
	}
	return Location{}, unknown(name)
}

func unknown(name string) error {
	return amber.Errorf(amber.KindNotFound, "find repository", name, "no repository of this name was added").WithHint("amber repo list, or amber repo add " + name + " URL")
}

// Add remembers a repository and returns it as it is stored. Adding the same again
// is no error. Errors: conflict when the name has another URL; quota; those of
// List.
func (k Known) Add(ctx context.Context, fresh Repository) (stored Repository, err error) {
	const op = "add repository"
	err = k.change(ctx, op, func(all []Repository) ([]Repository, error) {
		at, found := slices.BinarySearchFunc(all, fresh.Name, func(r Repository, name string) int { return strings.Compare(r.Name, name) })
		switch {
		case found && all[at].URL == fresh.URL:
			stored = all[at]
			return all, nil
		case found:
			return nil, amber.Errorf(amber.KindConflict, op, fresh.Name, "the name belongs to %s", all[at].URL).WithHint("amber repo remove " + fresh.Name)
		case len(all) >= maxKnown:
			return nil, amber.Errorf(amber.KindQuota, op, fresh.Name, "the home has %d repositories, which is the limit", maxKnown)
		}
		stored = fresh
		return slices.Insert(all, at, fresh), nil
	})
	return stored, err
}

// Remove forgets a repository; its snapshots stay. Errors: not_found; those of List.
func (k Known) Remove(ctx context.Context, name string) (gone Repository, err error) {
	if _, err := os.Lstat(k.Home); errors.Is(err, fs.ErrNotExist) {
		return gone, unknown(name) // without a home there is nothing to lock
	}
	err = k.change(ctx, "remove repository", func(all []Repository) ([]Repository, error) {
		at := slices.IndexFunc(all, func(r Repository) bool { return r.Name == name })
		if at < 0 {
			return nil, unknown(name)
		}
		gone = all[at]
		return slices.Delete(all, at, at+1), nil
	})
	return gone, err
}

// change replaces the file under its lock.
func (k Known) change(ctx context.Context, op string, edit func([]Repository) ([]Repository, error)) error {
	lock, err := fsx.AcquireLock(ctx, filepath.Join(k.Home, knownLock), fsx.Exclusive)
	if err != nil {
		kind := amber.KindInternal
		if ctx.Err() != nil {
			kind = amber.KindUnreachable
		}
		return &amber.Error{Op: op, Kind: kind, Err: err}
	}
	defer lock.Unlock()
	all, err := k.List()
	if err == nil {
		all, err = edit(all)
	}
	if err != nil {
		return err
	}
	if all == nil {
		all = []Repository{} // [] in JSON, not null
	}
	b, err := json.MarshalIndent(knownFile{knownFormat, all}, "", "  ")
	if err == nil {
		err = fsx.Replace(fsx.OS(), k.path(), 0o600, append(b, '\n'))
	}
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindInternal, ID: k.path(), Err: err}
	}
	return nil
}
