package snapshot

import (
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// withChecksum returns the content of a small file: some lines, and their checksum
// behind them. A reader scans the lines, writes them again and compares whole
// files: that leaves no byte unchecked.
func withChecksum(form string, values ...any) []byte {
	b := fmt.Appendf(nil, form, values...)
	return fmt.Appendf(b, "crc32c %08x\n", crc32.Checksum(b, castagnoli))
}
