package letta

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// writer writes an agent file: one agent, with a block for each memory and a message for everything that was said.
type writer struct {
	out   *bufio.Writer
	err   error
	name  string
	ids   []string // of messages that the agent has before it, the last ones
	count int
}

// inContext is how many messages an agent has before it when it wakes up.
const inContext = 20

func write(ctx context.Context, c foreign.Contents, o foreign.WriteOptions, to foreign.Output) error {
	return foreign.WriteFile(to, "", func(out *bufio.Writer) error {
		w := &writer{out: out, name: cmp.Or(string(o.Agent), "amber")}
		err := w.file(ctx, c, o)
		return cmp.Or(err, w.err)
	})
}

func (w *writer) file(ctx context.Context, c foreign.Contents, o foreign.WriteOptions) error {
	blocks := 0
	if err := c.Memories(ctx, func(amber.Memory) error { blocks++; return nil }); err != nil {
		return err
	}
	w.text("{\n \"agents\": [\n  {\"id\": \"agent-0\", \"name\": ")
	w.value(w.name)
	w.text(`, "system": "", "agent_type": "letta_v1_agent", "block_ids": [`)
	for i := range blocks {
		w.comma(i)
		w.value(blockID(i))
	}
	w.text(`], "tool_ids": [], "source_ids": [], "include_base_tools": false, "messages": [`)
	if err := w.messages(ctx, c); err != nil {
		return err
	}
	w.text(`], "in_context_message_ids": `)
	w.value(append([]string{}, w.ids...))
	w.text(", \"files_agents\": [], \"group_ids\": []}\n ],\n \"groups\": [],\n \"blocks\": [")
	if err := w.blocks(ctx, c); err != nil {
		return err
	}
	w.text("],\n \"files\": [],\n \"sources\": [],\n \"tools\": [],\n \"mcp_servers\": [],\n \"skills\": [],\n \"metadata\": {\"source\": \"amber\"}")
	if !o.At.IsZero() {
		w.text(",\n \"created_at\": ")
		w.value(o.At)
	}
	w.text("\n}\n")
	return nil
}

func blockID(i int) string { return fmt.Sprintf("block-%d", i) }

func (w *writer) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.out, s)
	}
}

func (w *writer) value(v any) {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.text(string(b))
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.text(", ")
	}
}

// message is one message. Amber says where it comes from; Letta ignores that.
type message struct {
	ID        string      `json:"id"`
	Type      string      `json:"type"`
	Role      amber.Role  `json:"role"`
	Content   []textPart  `json:"content"`
	AgentID   string      `json:"agent_id"`
	CreatedAt *amber.Time `json:"created_at,omitempty"`
	Amber     *saidIn     `json:"amber,omitempty"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type saidIn struct {
	Session amber.SessionID `json:"session"`
	Name    string          `json:"name,omitempty"`
}

func (w *writer) message(m message, text string) {
	if w.count > 0 {
		w.text(",")
	}
	m.ID, m.Type, m.AgentID, m.Content = fmt.Sprintf("message-%d", w.count), "message", "agent-0", []textPart{{"text", text}}
	w.text("\n   ")
	w.value(m)
	if w.ids = append(w.ids, m.ID); len(w.ids) > inContext {
		w.ids = append(w.ids[:1], w.ids[2:]...)
	}
	w.count++
}

// messages writes what was said. The first message of an agent is its system prompt, which Letta makes anew.
func (w *writer) messages(ctx context.Context, c foreign.Contents) error {
	return c.Sessions(ctx, func(s amber.Session, turns func(func(amber.Turn) error) error) error {
		return turns(func(t amber.Turn) error {
			if t.Role != amber.RoleUser && t.Role != amber.RoleAssistant || w.err != nil {
				return w.err
			}
			if w.count == 0 {
				w.message(message{Role: amber.RoleSystem, CreatedAt: &t.CreatedAt}, "The messages and memories of this agent come from Amber.")
			}
			w.message(message{Role: t.Role, CreatedAt: &t.CreatedAt, Amber: &saidIn{s.ID, s.Name}}, t.Content)
			return w.err
		})
	})
}

// memoryBlock is a block.
type memoryBlock struct {
	ID          string         `json:"id"`
	Label       string         `json:"label"`
	Value       string         `json:"value"`
	Limit       int            `json:"limit"`
	Description string         `json:"description"`
	Metadata    map[string]own `json:"metadata"`
	Tags        []string       `json:"tags,omitempty"`
}

// own is what Amber says of a memory.
type own struct {
	ID    amber.MemoryID   `json:"id"`
	Kind  amber.MemoryKind `json:"kind"`
	Scope amber.Scope      `json:"scope"`
	amber.Identities
	Title   string   `json:"title,omitempty"`
	Summary string   `json:"summary,omitempty"`
	Topic   string   `json:"topic,omitempty"`
	Tags    []string `json:"tags,omitempty"`
}

// leastLimit is what Letta gives a block of its own.
const leastLimit = 20_000

func (w *writer) blocks(ctx context.Context, c foreign.Contents) error {
	i := 0
	return c.Memories(ctx, func(m amber.Memory) error {
		w.comma(i)
		w.text("\n  ")
		w.value(memoryBlock{
			ID: blockID(i), Label: label(m), Value: m.Content, Limit: max(leastLimit, utf8.RuneCountInString(m.Content)),
			Description: cmp.Or(m.Summary, m.Title, "amber "+string(m.ID)), Tags: m.Tags,
			Metadata: map[string]own{"amber": {m.ID, m.Kind, m.Scope, m.Identities, m.Title, m.Summary, m.Topic, m.Tags}},
		})
		i++
		return w.err
	})
}

// label names a block: an agent has no two of one label.
func label(m amber.Memory) string {
	return string(m.Kind) + "/" + strings.TrimLeft(foreign.ShortSlug(cmp.Or(m.Topic, m.Title))+"-"+string(m.ID), "-")
}
