package journal

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Held returns one file in quarantine, by its name. The payload is that of the
// entry, or all bytes of a file that is no entry or a damaged one. Errors:
// invalid, not_found, and those of the disk.
func (j *Journal) Held(key Key, name string) (Held, error) {
	if err := checkKey(key); err != nil {
		return Held{}, err
	}
	h, err := j.heldNamed("read quarantine", key, name)
	if err != nil {
		return Held{}, err
	}
	return j.heldFile(key, h)
}

// heldNamed finds a file in the quarantine of a session. Errors: not_found, and those of the disk.
func (j *Journal) heldNamed(op string, key Key, name string) (Held, error) {
	files, err := j.held(key)
	if err != nil {
		return Held{}, err
	}
	for _, h := range files {
		if h.Name == name { // so it is no path
			return h, nil
		}
	}
	return Held{}, amber.Errorf(amber.KindNotFound, op, name, "no such file in quarantine")
}

// heldFile reads a file in quarantine, whatever it is.
func (j *Journal) heldFile(key Key, h Held) (Held, error) {
	b, err := fsx.ReadFile(j.o.FS, j.path(key, quarantineName, h.Name), j.o.MaxSessionBytes)
	if err != nil {
		return h, diskerr.Own("read quarantine", string(key), err)
	}
	h.Payload = b
	if strings.HasSuffix(h.Name, heldSuffix) {
		h.parse(b)
	}
	return h, nil
}
