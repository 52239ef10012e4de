package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/amber-memory/amber"
)

// maxDocument bounds a JSON document on stdin: the largest payload, escaped,
// and what is around it.
const maxDocument = 8 * amber.MaxStateBytes

// readJSON reads one JSON document from stdin. Fields it does not know are
// refused: a misspelt one would be lost without a word.
func (a *app) readJSON(what string, into any) error {
	text, err := a.text("-", maxDocument)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
		}
	}
	if err != nil {
		return &amber.Error{Op: "parse " + what, Kind: amber.KindInvalid, Err: err}
	}
	return nil
}
