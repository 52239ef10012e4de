package home

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
)

// record is the form of the small files that steer an agent's folder. They are
// text: a magic line with a version, one "key value" line per field in a fixed
// order, and a line with the CRC-32C of everything before it.
type record struct {
	name    string // of the file
	magic   string
	version int
	keys    []string
}

// maxRecord bounds what is read of such a file.
const maxRecord = 4096

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// marshal returns the bytes of a record with one value per key.
func (r record) marshal(values ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d\n", r.magic, r.version)
	for i, key := range r.keys {
		fmt.Fprintf(&b, "%s %s\n", key, values[i])
	}
	fmt.Fprintf(&b, "crc32c %08x\n", crc32.Checksum(b.Bytes(), castagnoli))
	return b.Bytes()
}

// values splits what marshal writes. The caller checks the values, writes them
// again and compares whole files: that checks the CRC and leaves no byte
// unchecked. Errors: too_new for a later version, damaged for anything else.
func (r record) values(b []byte) ([]string, error) {
	head, _, _ := strings.Cut(string(b), "\n")
	version, ok := strings.CutPrefix(head, r.magic+" ")
	if !ok {
		return nil, r.damaged("the file does not begin with " + r.magic)
	}
	if n, err := strconv.Atoi(version); err == nil && n > r.version {
		return nil, amber.Errorf(amber.KindTooNew, "read "+r.name, "", "the file has version %d, this Amber knows %d", n, r.version).WithHint("use a newer amber")
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) != len(r.keys)+3 {
		return nil, r.damaged(fmt.Sprintf("the file does not have %d lines", len(r.keys)+2))
	}
	values := make([]string, 0, len(r.keys))
	for i, key := range r.keys {
		v, ok := strings.CutPrefix(lines[i+1], key+" ")
		if !ok {
			return nil, r.damaged(fmt.Sprintf("line %d is not the %s", i+2, key))
		}
		values = append(values, v)
	}
	return values, nil
}

func (r record) damaged(why string) error {
	return amber.Errorf(amber.KindDamaged, "read "+r.name, "", "%s", why)
}

// parseGeneration reads the number of a generation.
func parseGeneration(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 1 && strconv.FormatInt(n, 10) == s
}
