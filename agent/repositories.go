package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
)

// Repository is one that was added to a home.
type Repository struct {
	Name    string     `json:"name"`
	URL     string     `json:"url"` // without credentials
	AddedAt amber.Time `json:"added_at"`
}

// repositoryFile is repositories.json, which lies in the home with mode 0600.
type repositoryFile struct {
	Format       string       `json:"format"`
	Repositories []Repository `json:"repositories"` // by name
}

const (
	repositoriesName   = "repositories.json"
	repositoriesLock   = "repositories.lock"
	repositoriesFormat = "amber repositories 1"
	maxRepositories    = 1000
	maxRepositoryBytes = 1 << 20
)

// Repositories are those that were added to a home.
type Repositories struct {
	dir    string // the home
	getenv func(string) string
}

// Repositories are those that were added to the home.
func (a *Agent) Repositories() Repositories { return Repositories{a.home.Dir(), a.o.Getenv} }

func (r Repositories) path() string { return filepath.Join(r.dir, repositoriesName) }

func (r Repositories) parse(url string) (Location, error) { return ParseLocation(url, r.getenv) }

// ParseRepositoryName checks s by the rule of tenants and agents. The error is
// of kind invalid.
func ParseRepositoryName(s string) (string, error) {
	_, err := amber.ParseTenantID(s)
	var wrong *amber.Error
	if errors.As(err, &wrong) {
		wrong.Op = "parse name of repository"
	}
	return s, err
}

// List returns those that were added, by name. Errors: damaged; too_new.
func (r Repositories) List() ([]Repository, error) {
	const op = "read repositories"
	b, err := fsx.ReadFile(fsx.OS(), r.path(), maxRepositoryBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, &amber.Error{Op: op, Kind: amber.KindRefused, ID: r.path(), Err: err}
	case err == nil:
		var file repositoryFile
		if file, err = r.decode(b); err == nil {
			return file.Repositories, nil
		}
	}
	if amber.KindOf(err) == amber.KindTooNew {
		return nil, err
	}
	// Detail: whatever a line of the file is not, the file is damaged.
	return nil, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: r.path(), Err: errors.New(err.Error()), Hint: "remove it and add the repositories again"}
}

func (r Repositories) decode(b []byte) (file repositoryFile, err error) {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err = json.Unmarshal(b, &struct{ Format *string }{&file.Format}); err != nil {
		return file, err
	}
	if after, ok := strings.CutPrefix(file.Format, "amber repositories "); ok && file.Format != repositoriesFormat {
		return file, amber.Errorf(amber.KindTooNew, "read repositories", r.path(), "it is of version %s", strconv.Quote(after[:min(len(after), 20)]))
	}
	if file.Format != repositoriesFormat {
		return file, errors.New("it is something else")
	}
	if err = d.Decode(&file); err != nil {
		return file, err
	}
	if len(file.Repositories) > maxRepositories {
		return file, fmt.Errorf("it names more than %d", maxRepositories)
	}
	for i, known := range file.Repositories {
		if _, err := ParseRepositoryName(known.Name); err != nil {
			return file, err
		}
		if i > 0 && file.Repositories[i-1].Name >= known.Name {
			return file, errors.New("the names are not in order")
		}
		l, err := r.parse(known.URL)
		if err == nil && l.String() != known.URL {
			err = errors.New("a URL is not in its one form")
		}
		if err != nil {
			return file, err
		}
	}
	return file, nil
}

// Find returns the repository of a name and where it is. Errors: invalid;
// not_found; those of List.
func (r Repositories) Find(name string) (Repository, Location, error) {
	if _, err := ParseRepositoryName(name); err != nil {
		return Repository{}, Location{}, err
	}
	all, err := r.List()
	if err != nil {
		return Repository{}, Location{}, err
	}
	for _, known := range all {
		if known.Name == name {
			l, err := r.parse(known.URL)
			return known, l, err
		}
	}
	return Repository{}, Location{}, r.unknown(name)
}

func (r Repositories) unknown(name string) error {
	e := amber.Errorf(amber.KindNotFound, "find repository", name, "there is none of that name")
	e.Hint = "amber repo list, or amber repo add " + name + " URL"
	return e
}

// Add remembers a repository. The same one again is no error. Errors: conflict
// for another one of that name; quota; those of List.
func (r Repositories) Add(ctx context.Context, fresh Repository) (stored Repository, err error) {
	const op = "add repository"
	err = r.change(ctx, op, func(all []Repository) ([]Repository, error) {
		at, found := slices.BinarySearchFunc(all, fresh.Name, func(k Repository, name string) int { return strings.Compare(k.Name, name) })
		switch {
		case found && all[at].URL == fresh.URL:
			stored = all[at]
			return all, nil
		case found:
			e := amber.Errorf(amber.KindConflict, op, fresh.Name, "there is another one of that name, %s", all[at].URL)
			e.Hint = "amber repo remove " + fresh.Name
			return nil, e
		case len(all) >= maxRepositories:
			return nil, amber.Errorf(amber.KindQuota, op, fresh.Name, "there are %d", maxRepositories)
		}
		stored = fresh
		return slices.Insert(all, at, fresh), nil
	})
	return stored, err
}

// Remove forgets a repository; what is in it stays. Errors: not_found; those of
// list.
func (r Repositories) Remove(ctx context.Context, name string) (gone Repository, err error) {
	if _, err := os.Lstat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return gone, r.unknown(name) // where there is no home there is nothing to lock
	}
	err = r.change(ctx, "remove repository", func(all []Repository) ([]Repository, error) {
		at := slices.IndexFunc(all, func(k Repository) bool { return k.Name == name })
		if at < 0 {
			return nil, r.unknown(name)
		}
		gone = all[at]
		return slices.Delete(all, at, at+1), nil
	})
	return gone, err
}

// change replaces the file; nobody else changes it meanwhile.
func (r Repositories) change(ctx context.Context, op string, edit func([]Repository) ([]Repository, error)) error {
	lock, err := fsx.AcquireLock(ctx, filepath.Join(r.dir, repositoriesLock), fsx.Exclusive)
	if err != nil {
		kind := amber.KindInternal
		if ctx.Err() != nil {
			kind = amber.KindUnreachable
		}
		return &amber.Error{Op: op, Kind: kind, Err: err}
	}
	defer lock.Unlock()
	all, err := r.List()
	if err == nil {
		all, err = edit(all)
	}
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(repositoryFile{repositoriesFormat, append([]Repository{}, all...)}, "", "  ")
	if err == nil {
		err = fsx.Replace(fsx.OS(), r.path(), 0o600, append(b, '\n'))
	}
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindInternal, ID: r.path(), Err: err}
	}
	return nil
}
