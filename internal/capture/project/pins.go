package project

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/strictjson"
)

// The file of the folders that a home knows.
const (
	pinsName   = "projects.json"
	lockName   = "projects.lock"
	pinsSchema = 1
	maxPins    = 8192
	maxBytes   = 16 << 20
	lockWait   = 2 * time.Second
)

// pin is a folder that a home knows.
type pin struct {
	Place    string     `json:"place"`              // see claim
	Owner    int64      `json:"owner"`              // user id; -1 where the system has none
	Identity string     `json:"identity,omitempty"` // of the place
	Says     string     `json:"says,omitempty"`     // see claim
	Name     string     `json:"name"`               // what it claimed
	Project  string     `json:"project"`            // what it has
	Asks     string     `json:"asks,omitempty"`     // what it is given once the user confirms it
	At       amber.Time `json:"at"`
}

// pins is the file.
type pins struct {
	Schema int `json:"schema"`
	// Since is when a home of an earlier version began to keep the file; zero for a home that began
	// with it.
	Since   amber.Time `json:"since,omitzero"`
	Folders []pin      `json:"folders"`
}

var (
	pinsRules = strictjson.Rules{Space: true, MaxDepth: 4, MaxElements: maxPins}
	pinsShape = sync.OnceValue(func() *strictjson.Shape { return strictjson.Of(reflect.TypeFor[pins]()) })
)

func (r *Registry) path() string { return filepath.Join(r.Home, pinsName) }

// load reads the file. Where there is none, a home that has agents is of an earlier version.
func (r *Registry) load() (*pins, error) {
	p := &pins{Schema: pinsSchema, Folders: []pin{}}
	b, err := fsx.ReadFile(fsx.OS(), r.path(), maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(filepath.Join(r.Home, "tenants")); err == nil {
			p.Since = amber.At(r.Clock())
		}
		return p, nil
	}
	if err != nil {
		return nil, r.damaged(err)
	}
	if !ownFile(r.path()) {
		return nil, r.damaged(errors.New("belongs to another user"))
	}
	var version struct {
		Schema int `json:"schema"`
	}
	if json.Unmarshal(b, &version) == nil && version.Schema > pinsSchema {
		return nil, amber.Errorf(amber.KindTooNew, "read projects", r.path(), "the file has schema %d, this Amber knows %d", version.Schema, pinsSchema)
	}
	if err := pinsRules.Decode(b, pinsShape(), p); err != nil {
		return nil, r.damaged(err)
	}
	for _, one := range p.Folders {
		if !filepath.IsAbs(one.Place) || amber.CheckID("project id", one.Project) != nil {
			return nil, r.damaged(errors.New("a folder has no path, or no project"))
		}
	}
	return p, nil
}

func (r *Registry) damaged(err error) error {
	e := &amber.Error{Op: "read projects", Kind: amber.KindDamaged, ID: r.path(), Err: err}
	e.Hint = "no folder is given a project until the file is mended; moved away, it is made again, and each folder asks again"
	return e
}

// change changes the file while no other process does.
func (r *Registry) change(ctx context.Context, fn func(*pins) (changed bool)) error {
	if r.Look {
		p, err := r.load()
		if err == nil {
			fn(p)
		}
		return err
	}
	if err := fsx.MkdirAll(fsx.OS(), r.Home, 0o700); err != nil {
		return r.unwritten(err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := fsx.AcquireLock(ctx, filepath.Join(r.Home, lockName), fsx.Exclusive)
	if err != nil {
		return r.unwritten(err)
	}
	defer lock.Unlock()
	p, err := r.load()
	if err != nil || !fn(p) {
		return err
	}
	p.drop()
	if len(p.Folders) > maxPins {
		return amber.Errorf(amber.KindQuota, "write projects", r.path(), "the home knows %d folders, no more fit", maxPins)
	}
	b, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = fsx.Replace(fsx.OS(), r.path(), 0o600, append(b, '\n'))
	}
	if err != nil {
		return r.unwritten(err)
	}
	return nil
}

func (r *Registry) unwritten(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &amber.Error{Op: "write projects", Kind: amber.KindBusy, ID: r.path(), Err: err}
	}
	return diskerr.Own("write projects", r.path(), err)
}

// drop makes room: folders that are gone go.
func (p *pins) drop() {
	if len(p.Folders) > maxPins {
		p.Folders = slices.DeleteFunc(p.Folders, func(one pin) bool {
			_, err := os.Lstat(one.Place)
			return errors.Is(err, fs.ErrNotExist)
		})
	}
}

// at returns the pin of a place.
func (p *pins) at(place string) *pin {
	for i := range p.Folders {
		if p.Folders[i].Place == place {
			return &p.Folders[i]
		}
	}
	return nil
}

// find returns the pin of a folder that is as it was pinned.
func (p *pins) find(c claim) *pin {
	one := p.at(c.place)
	if one == nil || one.Owner != owner(c.place) {
		return nil
	}
	if one.Says == c.says || one.Identity != "" && one.Identity == identity(c.place) {
		return one
	}
	return nil
}

// stands reports whether the folder of a pin is there and as it was pinned.
func (p *pins) stands(one pin, userHome string) bool {
	if c := claimOf(one.Place, userHome); c.place == one.Place {
		found := p.find(c)
		return found != nil && *found == one
	}
	return one.Identity != "" && one.Identity == identity(one.Place) && one.Owner == owner(one.Place) // a git folder in another one, as of a submodule
}

// moved returns the pin of a folder that was elsewhere, and is not there any more.
func (p *pins) moved(c claim) *pin {
	id := identity(c.place)
	for i, one := range p.Folders {
		if id != "" && one.Identity == id && one.Place != c.place && one.Owner == owner(c.place) && identity(one.Place) != id {
			return &p.Folders[i]
		}
	}
	return nil
}

// put pins a folder, in the place of what was pinned there.
func (p *pins) put(one pin) {
	p.Folders = slices.DeleteFunc(p.Folders, func(old pin) bool { return old.Place == one.Place })
	p.Folders = append(p.Folders, one)
}

// holder returns the project of the folders that have a name, or claimed it first; "" for none.
func (p *pins) holder(name string) string {
	for _, one := range p.Folders {
		if one.Project == name {
			return name
		}
	}
	for _, one := range p.Folders {
		if one.Name == name && usable(one.Project) {
			return one.Project
		}
	}
	return ""
}

// folders returns where the folders are that have a project.
func (p *pins) folders(project string) (places []string) {
	for _, one := range p.Folders {
		if one.Project == project {
			places = append(places, one.Place)
		}
	}
	return places
}
