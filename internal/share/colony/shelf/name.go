package shelf

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/intake"
)

// MaxNameChars bounds a name, in characters.
const MaxNameChars = 255

// checkName returns nil for a name that a file may have: 1 to 255 characters of
// valid UTF-8 without control characters and backslashes, whose parts between
// slashes are neither empty nor "." nor "..". Errors: invalid, ErrName.
func checkName(op, name string) error {
	why := ""
	switch {
	case name == "":
		why = "name is empty, want 1 character or more"
	case !utf8.ValidString(name):
		why = "name is not UTF-8"
	case utf8.RuneCountInString(name) > MaxNameChars:
		why = fmt.Sprintf("name has more than %d characters", MaxNameChars)
	case strings.ContainsFunc(name, unicode.IsControl):
		why = "name contains a control character"
	case strings.Contains(name, `\`):
		why = "name contains a backslash"
	case slices.ContainsFunc(strings.Split(name, "/"), noElement):
		why = `name has a part that is empty, "." or ".."`
	}
	if why == "" {
		return nil
	}
	return &amber.Error{Op: op, Kind: amber.KindInvalid, Err: fmt.Errorf("%w: %s", ErrName, why)}
}

func noElement(e string) bool { return e == "" || e == "." || e == ".." }

// mayBeNew returns nil for a name that a new file may have. Errors: invalid,
// ErrName or ErrExtension.
func (l Limits) mayBeNew(op, name string) error {
	if err := checkName(op, name); err != nil {
		return err
	}
	if err := intake.CheckNames("file name", name); err != nil {
		return err
	}
	ext := path.Ext(name)
	if l.Extensions == nil || slices.ContainsFunc(l.Extensions, func(e string) bool { return strings.EqualFold(e, ext) }) {
		return nil
	}
	err := fmt.Errorf("%w: only %s", ErrExtension, strings.Join(l.Extensions, " "))
	return &amber.Error{Op: op, Kind: amber.KindInvalid, ID: name, Err: err}
}
