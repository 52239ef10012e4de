package home

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

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

// The file is text: a magic line, one "key value" line per field in this
// order, and a line with the CRC-32C of everything before it.
//
//	amber-current 1
//	generation 1
//	incarnation 0193c5a8-…
//	device 0193c5a8-…
//	clock 2026-01-02T03:04:05.678Z-0000
//	crc32c 1a2b3c4d
const (
	currentMagic   = "amber-current"
	currentVersion = 1
	// maxCurrent bounds what is read; a valid file has at most 521 bytes.
	maxCurrent = 4096
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// marshal returns the bytes of CURRENT.
func (c Current) marshal() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d\n", currentMagic, currentVersion)
	fmt.Fprintf(&b, "generation %d\n", c.Generation)
	fmt.Fprintf(&b, "incarnation %s\n", c.Incarnation)
	fmt.Fprintf(&b, "device %s\n", c.Device)
	fmt.Fprintf(&b, "clock %s\n", c.Clock)
	fmt.Fprintf(&b, "crc32c %08x\n", crc32.Checksum(b.Bytes(), castagnoli))
	return b.Bytes()
}

// parseCurrent reads what marshal writes, every byte of it checked. Errors:
// too_new for a later version, damaged for anything else.
func parseCurrent(b []byte) (Current, error) {
	fail := func(why string) (Current, error) {
		return Current{}, amber.Errorf(amber.KindDamaged, "read CURRENT", "", why)
	}
	head, _, _ := strings.Cut(string(b), "\n")
	version, ok := strings.CutPrefix(head, currentMagic+" ")
	if !ok {
		return fail("it does not begin with " + currentMagic)
	}
	if n, err := strconv.Atoi(version); err == nil && n > currentVersion {
		e := amber.Errorf(amber.KindTooNew, "read CURRENT", "", fmt.Sprintf("it has version %d, this Amber knows %d", n, currentVersion))
		e.Hint = "use a newer amber"
		return Current{}, e
	}
	var c Current
	fields := strings.Split(string(b), "\n")
	if len(fields) != 7 {
		return fail("it does not have six lines")
	}
	values := make([]string, 0, 4)
	for i, key := range []string{"generation", "incarnation", "device", "clock"} {
		v, ok := strings.CutPrefix(fields[i+1], key+" ")
		if !ok {
			return fail("line " + strconv.Itoa(i+2) + " is not its " + key)
		}
		values = append(values, v)
	}
	var err error
	if c.Generation, err = strconv.ParseInt(values[0], 10, 64); err != nil || c.Generation < 1 {
		return fail("its generation is not a positive number")
	}
	if c.Clock, err = amber.ParseStamp(values[3]); err != nil {
		return fail("its clock is not a stamp")
	}
	c.Incarnation, c.Device = values[1], values[2]
	if err := errors.Join(amber.CheckID("incarnation", c.Incarnation), amber.CheckID("device", c.Device)); err != nil {
		return fail(err.Error())
	}
	// Comparing whole files checks the CRC and leaves no byte unchecked.
	if !bytes.Equal(b, c.marshal()) {
		return fail("its checksum does not match")
	}
	return c, nil
}
