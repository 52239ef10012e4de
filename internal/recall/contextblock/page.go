package contextblock

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// entry is one item of a page: a memory, a passage, a session.
type entry struct {
	heading string // of the section it is in; "" for none
	label   string // "- [constraint, project, 2026-01-01] "
	body    string // one line or more, harmless
	most    int    // bytes of the body; 0: as many as there is room for
	tail    string // said where the body is cut
	item    wire.ContextItem
	hit     *amber.Hit
	session *amber.Session
}

// page is what a block holds, best first.
type page struct {
	size    int
	entries []entry
}

func (p *page) add(e entry) { p.entries = append(p.entries, e) }

// minContextPart is how much of a memory is worth showing: what would be cut
// to less is left out.
const minContextPart = 160

// render writes what fits, in order. An entry that is too large is cut, to half of
// what is left where others follow.
func (p *page) render(b *wire.ContextBlock, nonce string) {
	begin := "<amber-memory " + nonce + ">\n" + contextHeader + "\n"
	end := "</amber-memory " + nonce + ">\n"
	room := p.size - len(begin) - len(end)
	var body strings.Builder
	heading := "none yet"
	for i, e := range p.entries {
		before := ""
		if e.heading != heading {
			before = "\n"
			if e.heading != "" {
				before = "\n" + e.heading + "\n"
			}
		}
		left := room - body.Len() - len(before)
		part := left
		if i < len(p.entries)-1 {
			part /= 2
		}
		text, cut := e.fit(left, part)
		if text == "" {
			if e.hit != nil {
				b.Omitted++
			}
			continue
		}
		heading = e.heading
		body.WriteString(before + text)
		e.into(b, cut)
	}
	if body.Len() > 0 {
		b.Text = begin + body.String() + end
	}
}

// into says what is in the block.
func (e entry) into(b *wire.ContextBlock, cut bool) {
	if e.item.Owner != "" {
		b.Items = append(b.Items, e.item)
	}
	if e.session != nil {
		b.Sessions = append(b.Sessions, *e.session)
	}
	if e.hit == nil {
		return
	}
	b.Memories = append(b.Memories, *e.hit)
	if cut && e.hit.ID != "" {
		b.Cut = append(b.Cut, e.hit.ID)
	}
}

// fit renders an entry: whole where that takes at most room bytes, else cut to at
// most part bytes. It is empty where neither is possible.
func (e entry) fit(room, part int) (text string, cut bool) {
	body := indented(e.body)
	if text := e.label + body + "\n"; len(text) <= room && (e.most == 0 || len(body) <= e.most) {
		return text, false
	}
	if e.most > 0 {
		part = min(part, len(e.label)+e.most+len(e.tail)+1)
	}
	shown := cutText(body, part-len(e.label)-len(e.tail)-1)
	if len(shown) < minContextPart && len(shown) < len(body)/2 {
		return "", false
	}
	return e.label + shown + e.tail + "\n", true
}

// memoryEntry is the entry of a memory.
func memoryEntry(heading string, h amber.Hit, why string) entry {
	body := harmless(h.Content)
	if title := strings.TrimSpace(harmless(h.Title)); title != "" && !saysTitle(title, body) {
		body = "**" + title + "** " + body
	}
	return entry{
		heading: heading, label: label(h), body: body, hit: &h,
		tail: fmt.Sprintf("\n  [cut: this is the beginning of %d bytes; the whole is memory %s]", len(h.Content), h.ID),
		item: itemOf(amber.LayerMemory, string(h.ID), h.Title+"\x00"+h.Content, why),
	}
}

// saysTitle reports whether a text says what its title says: rules name what they
// found by its beginning.
func saysTitle(title, text string) bool {
	if _, after, found := strings.Cut(title, ": "); found {
		title = after
	}
	title = strings.TrimSuffix(title, "…")
	return len(title) > 0 && strings.Contains(plainLine(text), plainLine(title))
}

// plainLine is a text on one line without marks of bold letters, which titles do not have.
func plainLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "**", "")), " ")
}

// label describes a passage: its scope and the day it is from, or the day of the session that it
// was found in.
func label(h amber.Hit) string {
	what := string(h.Kind)
	switch h.Layer {
	case amber.LayerExchange:
		what = "said"
	case amber.LayerSession:
		what = "summary"
	case amber.LayerNote:
		what = "note"
	}
	if h.Trust == amber.TrustDerived || h.Layer == amber.LayerExchange || h.Layer == amber.LayerSession {
		if name, ok := itemName(h); ok {
			what = name
		}
		return fmt.Sprintf("- [%s, %s, session] ", what, day(h.CreatedAt))
	}
	if h.Trust == amber.TrustAgent {
		return fmt.Sprintf("- [%s, %s, %s, said by an agent] ", what, h.Scope, day(h.UpdatedAt))
	}
	return fmt.Sprintf("- [%s, %s, %s] ", what, h.Scope, day(h.UpdatedAt))
}

// itemName is what the rule that found a memory calls it, as "decision" or "unfinished":
// the first word of its title.
func itemName(h amber.Hit) (string, bool) {
	name, _, found := strings.Cut(h.Title, ": ")
	name = strings.ToLower(name)
	switch name {
	case itemConstraint, itemPreference, itemDecision, itemCause, itemCommand, itemUnfinished:
		return name, found && h.Layer != amber.LayerExchange
	}
	return "", false
}

// The names that digests give their items.
const (
	itemConstraint = "constraint"
	itemPreference = "preference"
	itemDecision   = "decision"
	itemCause      = "cause"
	itemCommand    = "command that works"
	itemUnfinished = "unfinished"
)

func day(t amber.Time) string { return t.Time().Format("2006-01-02") }
