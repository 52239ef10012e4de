package home

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// vector reads a CURRENT as it was written by the version named in its path.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", "current", name)))(t)
}

// vectorV1 is what v1.txt says.
var vectorV1 = Current{
	Generation:  3,
	Incarnation: "019b7ccd-f1ae-7a1b-8c2d-3e4f5a6b7c8d",
	Device:      "019b7cc0-0000-7000-8000-0123456789ab",
	Clock:       0x019b7ca98f2e002a,
}

func TestCurrentVector(t *testing.T) {
	t.Parallel()
	b := vector(t, "v1.txt")
	got := must.Get(parseCurrent(b))(t)
	must.Equal(t, "fields", got, vectorV1)
	must.Equal(t, "written again", string(got.marshal()), string(b))
}

// TestCurrentVectorIsDocumented keeps the page about the format true.
func TestCurrentVectorIsDocumented(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "format", "home.md")))(t)
	block := "```\n" + string(vector(t, "v1.txt")) + "```\n"
	// A checkout may turn the line ends of the page into CR LF.
	if !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), block) {
		t.Errorf("the page does not show v1.txt:\n%s", block)
	}
}

func TestCurrentRoundTrip(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", amber.MaxIDBytes)
	last := amber.StampAt(time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)) + 0xffff
	tests := []struct {
		name string
		c    Current
	}{
		{"plain", vectorV1},
		{"no clock", Current{Generation: 1, Incarnation: "a", Device: "b"}},
		{"ids with spaces and letters of all sorts", Current{Generation: 1, Incarnation: "a b  c", Device: "gerät-7"}},
		{"largest", Current{Generation: math.MaxInt64, Incarnation: longest, Device: longest, Clock: last}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := tt.c.marshal()
			must.Hold(t, len(b) <= 521, "%d bytes, more than the format allows", len(b))
			got := must.Get(parseCurrent(b))(t)
			must.Equal(t, "", got, tt.c)
		})
	}
}

// checkMangled expects an error: too_new where the first line still names a version, a later one, and
// damaged otherwise.
func checkMangled(t *testing.T, what string, b []byte) {
	t.Helper()
	head, _, _ := strings.Cut(string(b), "\n")
	var version int
	_, err := fmt.Sscanf(head, "amber-current %d", &version)
	want := amber.KindDamaged
	if err == nil && version > 1 && head == fmt.Sprintf("amber-current %d", version) {
		want = amber.KindTooNew
	}
	c, err := parseCurrent(b)
	if got := amber.KindOf(err); got != want {
		t.Errorf("%s: got kind %q (%v), want %q, for %q", what, got, err, want, b)
	}
	must.Hold(t, c == (Current{}), "%s: %+v beside an error", what, c)
}

func TestCurrentNoticesEveryByte(t *testing.T) {
	t.Parallel()
	good := vector(t, "v1.txt")
	for at := range good {
		for v := range 256 {
			if flipped := bytes.Clone(good); flipped[at] != byte(v) {
				flipped[at] = byte(v)
				checkMangled(t, fmt.Sprintf("byte %d set to %#02x", at, v), flipped)
			}
		}
		removed := append(bytes.Clone(good[:at]), good[at+1:]...)
		checkMangled(t, fmt.Sprintf("byte %d removed", at), removed)
		checkMangled(t, fmt.Sprintf("cut to %d bytes", at), good[:at])
		if t.Failed() {
			return
		}
	}
	for at := range len(good) + 1 {
		for v := range 256 {
			inserted := append(bytes.Clone(good[:at]), byte(v))
			inserted = append(inserted, good[at:]...)
			checkMangled(t, fmt.Sprintf("%#02x put in at %d", v, at), inserted)
		}
		if t.Failed() {
			return
		}
	}
}

// withCRC ends the lines with the checksum that fits them.
func withCRC(lines string) []byte {
	return fmt.Appendf(nil, "%scrc32c %08x\n", lines, crc32.Checksum([]byte(lines), castagnoli))
}

// TestCurrentChecksItsFields mangles what a checksum does not protect against: a file that is wrong from
// the start.
func TestCurrentChecksItsFields(t *testing.T) {
	t.Parallel()
	const magic, generation, incarnation, device, clock = "amber-current 1\n", "generation 1\n", "incarnation a\n", "device b\n",
		"clock 2026-01-02T03:04:05.678Z-0000\n"
	if _, err := parseCurrent(withCRC(magic + generation + incarnation + device + clock)); err != nil {
		t.Fatalf("the file the cases are made from: %v", err)
	}
	tests := []struct{ name, lines string }{
		{"nothing", ""},
		{"another magic", "amber-corrent 1\n" + generation + incarnation + device + clock},
		{"version 0", "amber-current 0\n" + generation + incarnation + device + clock},
		{"version -1", "amber-current -1\n" + generation + incarnation + device + clock},
		{"version 01", "amber-current 01\n" + generation + incarnation + device + clock},
		{"generation 0", magic + "generation 0\n" + incarnation + device + clock},
		{"generation -1", magic + "generation -1\n" + incarnation + device + clock},
		{"generation +1", magic + "generation +1\n" + incarnation + device + clock},
		{"generation 01", magic + "generation 01\n" + incarnation + device + clock},
		{"generation past 63 bits", magic + "generation 9223372036854775808\n" + incarnation + device + clock},
		{"generation as a path", magic + "generation ../1\n" + incarnation + device + clock},
		{"no incarnation", magic + generation + "incarnation \n" + device + clock},
		{"incarnation too long", magic + generation + "incarnation " + strings.Repeat("x", 201) + "\n" + device + clock},
		{"incarnation with a control character", magic + generation + "incarnation a\tb\n" + device + clock},
		{"no device", magic + generation + incarnation + "device \n" + clock},
		{"device that is not UTF-8", magic + generation + incarnation + "device \xff\n" + clock},
		{"device that ends with a space", magic + generation + incarnation + "device b \n" + clock},
		{"clock without a counter", magic + generation + incarnation + device + "clock 2026-01-02T03:04:05.678Z\n"},
		{"clock of another zone", magic + generation + incarnation + device + "clock 2026-01-02T03:04:05.678+01:00-0000\n"},
		{"clock with capital digits", magic + generation + incarnation + device + "clock 2026-01-02T03:04:05.678Z-00AB\n"},
		{"clock with a comma", magic + generation + incarnation + device + "clock 2026-01-02T03:04:05,678Z-0000\n"},
		{"clock of the 30th of February", magic + generation + incarnation + device + "clock 2026-02-30T03:04:05.678Z-0000\n"},
		{"clock before 1970", magic + generation + incarnation + device + "clock 1969-12-31T23:59:59.999Z-0000\n"},
		{"another order", magic + generation + device + incarnation + clock},
		{"a line twice", magic + generation + generation + incarnation + device + clock},
		{"a line missing", magic + generation + incarnation + device},
		{"a line more", magic + generation + incarnation + device + clock + "colour green\n"},
		{"an empty line more", magic + generation + incarnation + device + clock + "\n"},
		{"line ends of Windows", strings.ReplaceAll(magic+generation+incarnation+device+clock, "\n", "\r\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkMangled(t, tt.name, withCRC(tt.lines))
		})
	}
}

func TestCurrentOfALaterVersion(t *testing.T) {
	t.Parallel()
	for _, b := range [][]byte{
		bytes.Replace(vector(t, "v1.txt"), []byte("amber-current 1\n"), []byte("amber-current 2\n"), 1),
		[]byte("amber-current 2\nno line of it is known\n"),
		[]byte("amber-current 17"),
	} {
		_, err := parseCurrent(b)
		must.Hold(t, amber.KindOf(err) == amber.KindTooNew, "got %v, want too_new, for %q", err, b)
		if !strings.Contains(amber.HintOf(err), "newer amber") {
			t.Errorf("got hint %q, want the advice to use a newer amber", amber.HintOf(err))
		}
	}
}

func FuzzCurrent(f *testing.F) {
	good := vector(f, "v1.txt")
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(bytes.Replace(good, []byte("current 1"), []byte("current 2"), 1))
	f.Add(Current{Generation: 1, Incarnation: "a", Device: "b"}.marshal())
	f.Add([]byte("amber-current 1\n\n\n\n\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		// A fuzzer does not find checksums: half of what it tries gets the right one.
		for _, b := range [][]byte{b, withCRC(string(b))} {
			c, err := parseCurrent(b)
			kind := amber.KindOf(err)
			if err != nil && kind != amber.KindDamaged && kind != amber.KindTooNew {
				t.Fatalf("got %v, want damaged or too_new", err)
			}
			if err == nil && !bytes.Equal(c.marshal(), b) {
				t.Fatalf("%q is read as %+v, which is written %q", b, c, c.marshal())
			}
		}
	})
}
