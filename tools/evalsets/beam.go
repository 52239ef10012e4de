package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// beamFile is one conversation of BEAM, as a row of the published tables has it. The
// chat is batches of messages at any depth; the questions are an object, or text that
// holds one as JSON or as Python writes it.
type beamFile struct {
	Chat    []json.RawMessage `json:"chat"`
	Probing json.RawMessage   `json:"probing_questions"`
}

// beamMessage is one utterance, or a group of them.
type beamMessage struct {
	Role    string          `json:"role"`
	ID      *int            `json:"id"`
	Content string          `json:"content"`
	Time    string          `json:"time_anchor"`
	Turns   json.RawMessage `json:"turns"`
}

// beamQuestion is one probing question.
type beamQuestion struct {
	Question string `json:"question"`
	Sources  any    `json:"source_chat_ids"`
}

const (
	beamTime  = "January-2-2006"
	beamDepth = 16 // of lists around messages
)

// beamStart is when a conversation begins that does not say so.
var beamStart = amber.At(time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC))

func parseBEAM(raw json.RawMessage) (*set, error) {
	var f beamFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	return f.conversation()
}

// readBEAMFolder reads a conversation of BEAM as its repository has it: chat.json, and
// probing_questions/probing_questions.json.
func readBEAMFolder(dir string) (*set, error) {
	var f beamFile
	for _, part := range []struct {
		path string
		into any
	}{
		{filepath.Join(dir, "chat.json"), &f.Chat},
		{filepath.Join(dir, "probing_questions", "probing_questions.json"), &f.Probing},
	} {
		b, err := os.ReadFile(part.path)
		if err == nil {
			err = json.Unmarshal(b, part.into)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.path, err)
		}
	}
	return f.conversation()
}

func (f beamFile) conversation() (*set, error) {
	c := &set{}
	b := beamReader{c: c, ids: map[int]int{}, at: beamStart}
	for i, batch := range f.Chat {
		b.begin()
		if err := b.messages(batch, 0); err != nil {
			return nil, fmt.Errorf("batch %d: %w", i+1, err)
		}
	}
	b.begin()
	questions, err := beamQuestions(f.Probing)
	if err != nil {
		return nil, fmt.Errorf("probing_questions: %w", err)
	}
	for _, class := range slices.Sorted(maps.Keys(questions)) {
		for _, q := range questions[class] {
			c.Questions = append(c.Questions, b.question(class, q))
		}
	}
	return c, nil
}

// beamReader collects the messages of a conversation.
type beamReader struct {
	c     *set
	batch session
	at    amber.Time  // of the next batch, unless its time is told
	ids   map[int]int // how many messages have an id
	count int
}

// begin ends a batch and begins the next, a day later unless its time is told.
func (b *beamReader) begin() {
	if len(b.batch.Turns) > 0 {
		b.c.Sessions = append(b.c.Sessions, b.batch)
		b.at = b.batch.StartedAt.Add(24 * time.Hour)
	}
	b.batch = session{ID: fmt.Sprintf("batch_%d", len(b.c.Sessions)+1), StartedAt: b.at}
}

// messages adds the messages of a value: a message, a group, or a list of either.
func (b *beamReader) messages(raw json.RawMessage, depth int) error {
	if depth > beamDepth {
		return fmt.Errorf("lists are nested deeper than %d", beamDepth)
	}
	if list := []json.RawMessage(nil); json.Unmarshal(raw, &list) == nil {
		for _, item := range list {
			if err := b.messages(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	var m beamMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	if m.Turns != nil {
		b.begin()
		b.time(m.Time)
		return b.messages(m.Turns, depth+1)
	}
	b.time(m.Time)
	switch {
	case m.Role == "":
		return b.groups(raw, depth)
	case m.ID == nil:
		return errors.New("a message has no id")
	case strings.TrimSpace(m.Content) == "":
		return nil
	}
	b.count++
	id := beamID(*m.ID)
	if b.ids[*m.ID]++; b.ids[*m.ID] > 1 { // in chats that were joined, ids begin again
		id = fmt.Sprintf("%s/%d", id, b.count)
	}
	b.batch.Turns = append(b.batch.Turns, turn{ID: id, Role: roleOf(m.Role), Content: m.Content})
	return nil
}

// groups adds the messages of an object whose values are lists of them, as in the
// longest chats.
func (b *beamReader) groups(raw json.RawMessage, depth int) error {
	var groups map[string]json.RawMessage
	if err := json.Unmarshal(raw, &groups); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if v := groups[name]; len(v) > 0 && v[0] == '[' {
			if err := b.messages(v, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// time takes the time of a batch from the first message that has one.
func (b *beamReader) time(text string) {
	if at, err := time.Parse(beamTime, text); err == nil && len(b.batch.Turns) == 0 {
		b.batch.StartedAt = amber.At(at)
	}
}

func beamID(n int) string { return fmt.Sprintf("m%d", n) }
