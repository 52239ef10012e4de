package setup

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/capture/settings"
)

// memory is what cannot be seen in a file once Amber's entries are in it. It
// is part of the record.
type memory struct {
	Blank   *string           `json:"blank,omitempty"`   // the whole text, when it was blank
	Empty   map[string]string `json:"empty,omitempty"`   // what was inside containers that held nothing
	Version bool              `json:"version,omitempty"` // the version was added
}

// draft is a JSON document that is being changed.
type draft struct {
	json   *settings.JSON
	memory memory
}

// pointer names a path in a memory.
func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

// remember notes what the container at path looks like when it is empty.
func (d *draft) remember(path ...string) {
	if interior, blank := d.json.Interior(path...); blank {
		if d.memory.Empty == nil {
			d.memory.Empty = map[string]string{}
		}
		d.memory.Empty[pointer(path)] = interior
	}
}

// ensure makes sure that there is a container at path, whose parent is there.
func (d *draft) ensure(kind settings.Kind, path ...string) error {
	if len(path) == 0 {
		return nil // the root is made when something is added
	}
	n := d.json.Get(path...)
	if n == nil {
		open := map[settings.Kind]string{settings.Object: "{}", settings.Array: "[]"}[kind]
		return d.add(path[:len(path)-1], path[len(path)-1], []byte(open))
	}
	if n.Kind != kind {
		return fmt.Errorf("%s is of type %s where an %s should be", strings.Join(path, "."), n.Kind, kind)
	}
	d.remember(path...)
	return nil
}

func (d *draft) add(path []string, key string, value []byte) error {
	return d.become(d.json.Add(path, key, value))
}

// set sets a string that is not what it should be.
func (d *draft) set(want, have string, path []string) error {
	if want == have {
		return nil
	}
	text, err := strictjson.Line(want)
	if err != nil {
		return err
	}
	return d.become(d.json.Set(text, path...))
}

// cut removes an item, and then its container if that holds nothing any more
// and was not there as an empty one before.
func (d *draft) cut(path ...string) error {
	if err := d.cutAlone(path...); err != nil {
		return err
	}
	for outer := path[:len(path)-1]; ; outer = outer[:len(outer)-1] {
		if _, blank := d.json.Interior(outer...); !blank {
			return nil
		}
		if interior, was := d.memory.Empty[pointer(outer)]; was {
			return d.become(d.json.Refill(interior, outer...))
		}
		if len(outer) == 0 {
			return nil
		}
		if err := d.cutAlone(outer...); err != nil {
			return err
		}
	}
}

func (d *draft) cutAlone(path ...string) error { return d.become(d.json.Delete(path...)) }

func (d *draft) become(j *settings.JSON, err error) error {
	if err == nil {
		d.json = j
	}
	return err
}
