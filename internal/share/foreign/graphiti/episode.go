package graphiti

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxHeld bounds the texts of conversations that are held at once, unless one alone has more.
const maxHeld = 64 << 20

// group is a conversation: the messages of a group_id.
type group struct {
	size   int
	span   foreign.Span
	latest string // uuid
}

// episode is what an episode says.
type episode struct {
	uuid, group, content string
	at                   amber.Time
}

func (r *reader) episode(o foreign.Object) (e episode, why string) {
	e = episode{uuid: o.Text("uuid"), group: o.Text("group_id"), content: strings.TrimSpace(o.Text("content")), at: r.file.ModifiedAt()}
	if source := o.Text("source"); source != "message" {
		return e, "the episode is " + strconv.Quote(source[:min(len(source), 20)]) + ", want a message"
	}
	if text := o.Text("valid_at", "created_at"); text != "" {
		at, err := foreign.Text(text)
		if err != nil {
			return e, "valid_at: " + err.Error()
		}
		e.at = at
	}
	if e.content == "" {
		return e, "the episode is empty"
	}
	return e, ""
}

// count notes an episode for the second pass.
func (r *reader) count(at foreign.Place, o foreign.Object) error {
	e, why := r.episode(o)
	if why != "" {
		r.to.Skip(at, "%s", why)
		return nil
	}
	r.seen[e.uuid] = true
	g := r.groups[e.group]
	if g == nil {
		g = &group{}
		r.groups[e.group] = g
	}
	g.size += len(e.content)
	if g.span.Add(e.at); g.span.Last == e.at {
		g.latest = e.uuid
	}
	return nil
}

// giveGroups gives out the conversations, in several passes over the dump if they are large.
func (r *reader) giveGroups() error {
	sizes := map[string]int{}
	for id, g := range r.groups {
		sizes[id] = g.size
	}
	return foreign.Gather(sizes, maxHeld, r.collect, r.giveGroup)
}

// collect holds the turns of some groups.
func (r *reader) collect(held map[string][]foreign.Turn) error {
	given := map[string]bool{}
	return r.file.EachElement(r.ctx, foreign.Quiet, func(list string, n int64, raw []byte) error {
		if !slices.Contains(episodes, list) {
			return nil
		}
		o, err := foreign.ParseObject(raw)
		if err != nil || given[o.Text("uuid")] || !r.seen[o.Text("uuid")] {
			return nil
		}
		e, why := r.episode(o)
		if turns, wanted := held[e.group]; wanted && why == "" {
			given[e.uuid] = true
			for _, t := range e.turns() {
				t.Place = r.file.Place(list + " " + strconv.FormatInt(n, 10))
				turns = append(turns, t)
			}
			held[e.group] = turns
		}
		return nil
	})
}

func (r *reader) giveGroup(id string, turns []foreign.Turn) error {
	g, name := r.groups[id], cmp.Or(id, "default")
	return foreign.Tell(r.to, foreign.Session{
		Place: r.file.Place("group " + name), ID: foreign.SessionID("graphiti", name), Name: name, Project: r.o.Project,
		StartedAt: g.span.First, EndedAt: g.span.Last, Turns: int64(len(turns)), State: g.latest + " " + strconv.Itoa(g.size),
	}, turns)
}

// speaker begins a message: a role, or a name with the kind of role in brackets.
var speaker = pattern.Of(`^(?:(?i:(user|human|assistant|ai|agent|bot|system|tool|function))|[^:()\n]{0,80}\((?i:(user|assistant|system|tool|function))\)) ?: ?`)

var roles = map[string]amber.Role{
	"user": amber.RoleUser, "human": amber.RoleUser, "assistant": amber.RoleAssistant, "ai": amber.RoleAssistant,
	"agent": amber.RoleAssistant, "bot": amber.RoleAssistant, "system": amber.RoleSystem, "tool": amber.RoleTool, "function": amber.RoleTool,
}

// turns returns the messages of an episode. Text without a role is the user's.
func (e episode) turns() []foreign.Turn {
	var out []foreign.Turn
	begin, role, at := 0, amber.RoleUser, 0
	end := func(to int) {
		text := strings.TrimSpace(e.content[begin:to])
		if text == "" {
			return
		}
		key := foreign.Key{e.uuid}
		if len(out) > 0 {
			key = append(key, strconv.Itoa(len(out)))
		}
		out = append(out, foreign.Turn{Key: key, Role: role, Content: text, At: e.at})
	}
	for line := range strings.Lines(e.content) {
		if m := speaker().FindStringSubmatch(line); m != nil {
			end(at)
			begin, role = at+len(m[0]), roles[strings.ToLower(m[1]+m[2])]
		}
		at += len(line)
	}
	end(len(e.content))
	return out
}
