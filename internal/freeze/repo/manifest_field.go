package repo

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/freeze/envelope"
)

// checkName is checkLine for what must not be empty.
func checkName(what, s string, most int) error {
	if s == "" {
		return fmt.Errorf("%s is empty", what)
	}
	return envelope.CheckLine(what, s, most)
}

// clean makes s fit for checkText: characters that it may not have are replaced, and text that is too long is cut.
func clean(s string, most int) string {
	return clip.Bytes(strings.ToValidUTF8(s, "\uFFFD"), most)
}
