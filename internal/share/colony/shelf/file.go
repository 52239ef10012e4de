package shelf

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/share/colony"
)

const (
	formatName    = "amber-vault-file/"
	formatVersion = 1
	// maxLine bounds the first line: the longest name is some 1530 bytes of JSON.
	maxLine = 4096
)

// header is the first line of a file.
type header struct {
	Format    string     `json:"format"`
	Name      string     `json:"name"`
	Size      int64      `json:"size"`
	SHA256    string     `json:"sha256"`
	CreatedAt amber.Time `json:"created_at"`
	UpdatedAt amber.Time `json:"updated_at"`
}

// newHeader describes a content.
func newHeader(name, content string, created, updated amber.Time) header {
	return header{
		Format: formatName + strconv.Itoa(formatVersion), Name: name, Size: int64(len(content)),
		SHA256: amber.ContentDigest(content), CreatedAt: created, UpdatedAt: updated,
	}
}

// place returns where the file of a name lies below the folder of the vault.
func place(name string) string {
	sum := amber.ContentDigest(name)
	return path.Join(sum[:2], sum)
}

func (h header) info() colony.FileInfo {
	return colony.FileInfo{Name: h.Name, Size: h.Size, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt, Version: h.SHA256}
}

// The last member of the line is the checksum of the bytes before it.
const (
	sumKey  = `,"crc32c":"`
	sumTail = `"}`
	sumSize = len(sumKey) + 8 + len(sumTail)
)

// line returns the first line, with its line feed.
func (h header) line() ([]byte, error) {
	b, err := strictjson.Line(h)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	body := bytes.TrimSuffix(b, []byte("}"))
	return fmt.Appendf(body, "%s%s%s\n", sumKey, checksum(body), sumTail), nil
}

func checksum(b []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

var errTooNew = errors.New("the file was written by a newer Amber")

// parseLine reads the first line, without its line feed.
func parseLine(line []byte) (header, error) {
	if err := checkFormat(line); err != nil {
		return header{}, err
	}
	cut := len(line) - sumSize
	if cut < 0 {
		return header{}, errors.New("the first line is cut off")
	}
	body, tail := line[:cut], line[cut:]
	if string(tail) != sumKey+checksum(body)+sumTail {
		return header{}, errors.New("the checksum of the first line is wrong")
	}
	d := json.NewDecoder(io.MultiReader(bytes.NewReader(body), strings.NewReader("}")))
	d.DisallowUnknownFields()
	var h header
	if err := d.Decode(&h); err != nil {
		return header{}, fmt.Errorf("the first line: %w", err)
	}
	if err := checkName("read file", h.Name); err != nil {
		return header{}, err
	}
	if h.Size < 0 || h.Size > MaxFileLimit || len(h.SHA256) != 2*sha256.Size {
		return header{}, errors.New("size or sha256 of the first line is out of range")
	}
	return h, nil
}

// checkFormat looks at what is the same in every version: the first member.
func checkFormat(line []byte) error {
	rest, ok := bytes.CutPrefix(line, []byte(`{"format":"`+formatName))
	version, _, end := bytes.Cut(rest, []byte(`"`))
	n, err := strconv.ParseUint(string(version), 10, 31)
	switch {
	case !ok || !end || err != nil || n == 0 || strconv.FormatUint(n, 10) != string(version):
		return errors.New("this is not a file of a vault")
	case n > formatVersion:
		return errTooNew
	}
	return nil
}

// encode returns a file as it lies on disk.
func encode(h header, content string) ([]byte, error) {
	line, err := h.line()
	if err != nil {
		return nil, err
	}
	return append(line, content...), nil
}

// decode reads a whole file and checks everything it says.
func decode(b []byte) (header, string, error) {
	line, content, ok := bytes.Cut(b, []byte("\n"))
	if !ok || len(line) >= maxLine {
		return header{}, "", errors.New("the first line has no end")
	}
	h, err := parseLine(line)
	if err != nil {
		return header{}, "", err
	}
	text := string(content)
	switch {
	case int64(len(text)) != h.Size:
		return header{}, "", fmt.Errorf("the content has %d bytes, want %d", len(text), h.Size)
	case amber.ContentDigest(text) != h.SHA256:
		return header{}, "", errors.New("the digest of the content is wrong")
	case !utf8.ValidString(text):
		return header{}, "", errors.New("the content is not UTF-8")
	}
	return h, text, nil
}
