package foreigntest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
)

// Conversations writes the conversations.json of a ChatGPT export of about so many bytes. It is the same each time.
// Conversations have what real ones have: branches, code, output, hidden messages, thoughts, saved memories, and more
// metadata than text.
func Conversations(w io.Writer, bytes int64) error {
	b := &bulkChat{w: bufio.NewWriterSize(w, 1<<20), rand: rand.New(rand.NewPCG(20, 26)), at: 1_735_689_600}
	b.text("[")
	for n := 0; b.n < bytes && b.err == nil; n++ {
		if n > 0 {
			b.text(", ")
		}
		b.conversation(n)
	}
	b.text("]")
	if b.err != nil {
		return b.err
	}
	return b.w.Flush()
}

type bulkChat struct {
	w     *bufio.Writer
	rand  *rand.Rand
	n     int64
	err   error
	at    float64 // seconds since 1970
	facts []string
}

func (b *bulkChat) text(s string) {
	if b.err == nil {
		var n int
		n, b.err = b.w.WriteString(s)
		b.n += int64(n)
	}
}

func (b *bulkChat) json(v any) {
	raw, err := json.Marshal(v)
	if err != nil && b.err == nil {
		b.err = err
	}
	var ascii strings.Builder // as Python writes it
	for _, r := range string(raw) {
		if r < 0x80 {
			ascii.WriteByte(byte(r))
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&ascii, "\\u%04x", unit)
		}
	}
	b.text(ascii.String())
}

type object = map[string]any

// conversation writes one of 4 to 60 messages.
func (b *bulkChat) conversation(n int) {
	id, from := b.uuid(), b.at
	mapping, parent := object{}, b.uuid()
	mapping[parent] = object{"id": parent, "message": nil, "parent": nil, "children": []string{}}
	for range 2 + b.rand.IntN(29) {
		for _, m := range b.exchange() {
			node := m["id"].(string)
			mapping[node] = object{"id": node, "message": m, "parent": parent, "children": []string{}}
			if m["abandoned"] == nil {
				parent = node
			}
			delete(m, "abandoned")
		}
	}
	b.text(`{"title": `)
	b.json(b.words(4))
	b.text(fmt.Sprintf(`, "create_time": %f, "update_time": %f, "mapping": `, from, b.at))
	b.json(mapping)
	b.text(`, "moderation_results": [], "current_node": `)
	b.json(parent)
	b.text(`, "plugin_ids": null, "conversation_id": "` + id + `", "gizmo_id": null, "is_archived": false, "safe_urls": [], `)
	b.text(fmt.Sprintf(`"default_model_slug": "gpt-5", "is_do_not_remember": %v, "id": %q}`, n%97 == 96, id))
}

// exchange returns a question and its answer, at times with more around them.
func (b *bulkChat) exchange() (out []object) {
	out = append(out, b.message("user", "text", object{"parts": []string{b.words(5 + b.rand.IntN(60))}}))
	switch b.rand.IntN(12) {
	case 0:
		out = append(out, b.message("assistant", "code", object{"language": "python", "text": b.code()}))
		out = append(out, b.message("tool", "execution_output", object{"text": b.words(40)}))
	case 1, 2:
		out = append(out, b.message("assistant", "thoughts", object{"thoughts": []object{{"summary": b.words(5), "content": b.words(120)}}}))
	case 3:
		out = append(out, b.saves()...)
	case 4:
		given := b.message("assistant", "text", object{"parts": []string{b.words(150)}})
		given["abandoned"] = true
		out = append(out, given)
	}
	return append(out, b.message("assistant", "text", object{"parts": []string{b.words(60+b.rand.IntN(300)) + "\ue200cite\ue202turn0search1\ue201"}}))
}

// saves returns a call that saves a memory, and at times the list of all.
func (b *bulkChat) saves() []object {
	fact := "User " + b.words(8) + "."
	if b.facts = append(b.facts, fmt.Sprintf("[2025-01-%02d]. %s", 1+b.rand.IntN(28), fact)); len(b.facts) > 50 {
		b.facts = b.facts[1:]
	}
	call := b.message("assistant", "text", object{"parts": []string{fact}})
	call["recipient"] = "bio"
	if b.rand.IntN(4) > 0 {
		return []object{call}
	}
	var list strings.Builder
	for i, f := range b.facts {
		fmt.Fprintf(&list, "%d. %s\n\n", i+1, f)
	}
	return []object{call, b.message("assistant", "model_editable_context", object{"model_set_context": list.String()})}
}

func (b *bulkChat) message(role, kind string, content object) object {
	b.at += 1 + b.rand.Float64()*30
	content["content_type"] = kind
	return object{
		"id": b.uuid(), "author": object{"role": role, "name": nil, "metadata": object{}}, "create_time": b.at, "update_time": nil,
		"content": content, "status": "finished_successfully", "end_turn": role == "assistant", "weight": 1.0, "recipient": "all", "channel": nil,
		"metadata": object{
			"request_id": b.uuid(), "message_type": "next", "model_slug": "gpt-5", "default_model_slug": "auto", "parent_id": b.uuid(),
			"timestamp_": "absolute", "citations": []any{}, "content_references": []object{{"matched_text": " ", "start_idx": 0, "end_idx": b.rand.IntN(900), "safe_urls": []any{}, "refs": []any{}, "alt": nil, "type": "hidden"}},
			"finish_details": object{"type": "stop", "stop_tokens": []int{200002}}, "is_complete": true, "turn_exchange_id": b.uuid(),
		},
	}
}

func (b *bulkChat) uuid() string {
	x, y := b.rand.Uint64(), b.rand.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(x), uint16(x>>32), x>>52, y>>52, y&0xffffffffffff)
}

var chatWords = strings.Fields(`the a of and to in is that for it with as on be this are from at or an by not can will if
	invoice rounding coupon tea oolong garden kernel scheduler latency index vector memory agent “quoted” naïve Straße 日本語 don’t
	function returns value error because between people month price half even once build release review 🎉 "said" back\slash`)

func (b *bulkChat) words(n int) string {
	var s strings.Builder
	for i := range n {
		switch {
		case i > 0 && i%23 == 0:
			s.WriteString("\n\n")
		case i > 0:
			s.WriteByte(' ')
		}
		s.WriteString(chatWords[b.rand.IntN(len(chatWords))])
	}
	return s.String()
}

func (b *bulkChat) code() string {
	return strings.Repeat("for i in range(10):\n    total += round(price * \"1.19\")\n", 1+b.rand.IntN(20))
}
