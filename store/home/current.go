package home

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/amber-memory/amber"
)

// Current is what CURRENT holds.
type Current struct {
	// Generation is the number of the live folder under gen/, from 1.
	Generation int64
	// Incarnation is the id of this generation's history; positions in its
	// change log carry it. Every generation gets a new one.
	Incarnation string
	// Device is the id this folder writes records under. A restore keeps it.
	Device string
	// Clock is the high-water mark when the generation became live: no stamp
	// issued before it is later, so the clock never goes back across a
	// restore.
	Clock amber.Stamp
}

// currentRecord is the form of CURRENT; a valid file has at most 521 bytes.
//
//	amber-current 1
//	generation 1
//	incarnation 0193c5a8-…
//	device 0193c5a8-…
//	clock 2026-01-02T03:04:05.678Z-0000
//	crc32c 1a2b3c4d
var currentRecord = record{
	name: currentName, magic: "amber-current", version: 1,
	keys: []string{"generation", "incarnation", "device", "clock"},
}

// marshal returns the bytes of CURRENT.
func (c Current) marshal() []byte {
	return currentRecord.marshal(strconv.FormatInt(c.Generation, 10), c.Incarnation, c.Device, c.Clock.String())
}

// valid reports whether the file of c can be read again.
func (c Current) valid() bool {
	again, err := parseCurrent(c.marshal())
	return err == nil && again == c
}

// parseCurrent reads what marshal writes, every byte of it checked. Errors:
// too_new for a later version, damaged for anything else.
func parseCurrent(b []byte) (Current, error) {
	values, err := currentRecord.values(b)
	if err != nil {
		return Current{}, err
	}
	var c Current
	var ok bool
	if c.Generation, ok = parseGeneration(values[0]); !ok {
		return Current{}, currentRecord.damaged("the generation is not a positive number")
	}
	if c.Clock, err = amber.ParseStamp(values[3]); err != nil {
		return Current{}, currentRecord.damaged("the clock is not a valid stamp")
	}
	c.Incarnation, c.Device = values[1], values[2]
	if err := errors.Join(amber.CheckID("incarnation", c.Incarnation), amber.CheckID("device", c.Device)); err != nil {
		return Current{}, currentRecord.damaged(err.Error())
	}
	if !bytes.Equal(b, c.marshal()) {
		return Current{}, currentRecord.damaged("the checksum does not match")
	}
	return c, nil
}
