// Command evalsets converts LongMemEval and BEAM as published into sets that amber eval
// recall reads: conversations with questions, one JSON object in each line, on standard
// output. An argument is a file, or the folder of a conversation of BEAM. See docs/eval.md.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/amber-memory/amber"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := convert(os.Args[1:], out)
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "evalsets:", err)
		os.Exit(1)
	}
}

// set is one case of a set for recall.
type set struct {
	Sessions  []session  `json:"sessions"`
	Questions []question `json:"questions"`
}

// session is one conversation.
type session struct {
	ID        string     `json:"id"`
	StartedAt amber.Time `json:"started_at"`
	Turns     []turn     `json:"turns"`
}

// turn is one utterance.
type turn struct {
	ID      string     `json:"id"`
	Role    amber.Role `json:"role"`
	Content string     `json:"content"`
}

// question is one question with the turns or sessions that answer it.
type question struct {
	Text     string     `json:"q"`
	Class    string     `json:"class"`
	Keys     []string   `json:"keys,omitempty"`
	Sessions []string   `json:"sessions,omitempty"`
	At       amber.Time `json:"at,omitzero"`
}

// abstention is the class of questions without an answer.
const abstention = "abstention"

// convert writes the cases of files and folders.
func convert(paths []string, out io.Writer) error {
	if len(paths) == 0 {
		return errors.New("evalsets needs the files of LongMemEval or BEAM, or folders of conversations of BEAM")
	}
	enc := json.NewEncoder(out)
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil {
			return err
		} else if info.IsDir() {
			c, err := readBEAMFolder(path)
			if err != nil {
				return err
			}
			if err := enc.Encode(c); err != nil {
				return err
			}
			continue
		}
		if err := convertFile(path, enc); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// convertFile writes the cases of a file: a list of objects, or objects one after the other.
func convertFile(path string, enc *json.Encoder) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	dec := json.NewDecoder(in)
	if first, err := in.Peek(1); err == nil && first[0] == '[' {
		if _, err := dec.Token(); err != nil {
			return err
		}
	}
	for n := 1; dec.More(); n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("case %d: %w", n, err)
		}
		c, err := parse(raw)
		if err != nil {
			return fmt.Errorf("case %d: %w", n, err)
		}
		if err := enc.Encode(c); err != nil {
			return err
		}
	}
	return nil
}

// parse converts a case of either set.
func parse(raw json.RawMessage) (*set, error) {
	var shape struct {
		Haystack json.RawMessage `json:"haystack_sessions"`
		Chat     json.RawMessage `json:"chat"`
		Probing  json.RawMessage `json:"probing_questions"`
	}
	if err := json.Unmarshal(raw, &shape); err != nil {
		return nil, err
	}
	switch {
	case shape.Haystack != nil:
		return parseLongMemEval(raw)
	case shape.Chat != nil && shape.Probing != nil:
		return parseBEAM(raw)
	}
	return nil, errors.New("the case is neither of LongMemEval nor of BEAM, with its questions")
}
