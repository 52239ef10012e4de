package contextblock

import (
	"fmt"
	"io"
	"strings"

	"github.com/amber-memory/amber"
)

// Notice is the line about a folder that claims a project which it is not given. It is the same for every folder:
// what a folder claims is a stranger's text.
const Notice = "This folder says that it belongs to a project which Amber already knows. Until the user confirms that with " +
	"\"amber project trust\", run in this folder, nothing of that project is given here, and what is said here is kept apart."

// WithNotice puts the notice at the top of a block, which may be empty. Random must be unpredictable.
func WithNotice(text string, random io.Reader) (string, error) {
	if text == "" {
		var nonce [16]byte
		if _, err := io.ReadFull(random, nonce[:]); err != nil {
			return "", &amber.Error{Op: "build context", Kind: amber.KindInternal, Err: err}
		}
		return fmt.Sprintf("<amber-memory %x>\n%s\n\n%s\n</amber-memory %x>\n", nonce, contextHeader, Notice, nonce), nil
	}
	return strings.Replace(text, contextHeader+"\n", contextHeader+"\n\n"+Notice+"\n", 1), nil
}
