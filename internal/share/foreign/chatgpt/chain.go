package chatgpt

import (
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// chain returns the ids of the nodes from the root to the current one. Other branches are answers that were given up.
// Problem says why the beginning is missing; "" if it is there.
func (c *conversation) chain() (ids []string, problem string) {
	at := c.CurrentNode
	if c.Mapping[at] == nil {
		at = c.newestLeaf()
	}
	seen := map[string]bool{}
	for at != "" {
		n := c.Mapping[at]
		switch {
		case n == nil:
			problem = fmt.Sprintf("message %.60q is missing: messages before it are not read", at)
		case seen[at]:
			problem = fmt.Sprintf("message %.60q comes before itself: messages before it are not read", at)
		default:
			seen[at] = true
			ids = append(ids, at)
			at = n.Parent
			continue
		}
		break
	}
	slices.Reverse(ids)
	return ids, problem
}

// newestLeaf returns the newest message without an answer; where all have one, which only a circle explains, the newest.
func (c *conversation) newestLeaf() string {
	parents := make(map[string]bool, len(c.Mapping))
	for _, n := range c.Mapping {
		if n != nil {
			parents[n.Parent] = true
		}
	}
	best, bestLeaf := "", false
	for id, n := range c.Mapping {
		if n == nil || n.Message == nil {
			continue
		}
		leaf := !parents[id]
		if best == "" || leaf && !bestLeaf || leaf == bestLeaf && c.newer(id, best) {
			best, bestLeaf = id, leaf
		}
	}
	return best
}

// newer compares nodes by their own times, then by their ids, so that the order of a map does not decide.
func (c *conversation) newer(a, b string) bool {
	at, bt := c.Mapping[a].time(), c.Mapping[b].time()
	if at == bt {
		return a > b
	}
	return bt.Before(at)
}

func (n *node) time() amber.Time {
	if n.Message == nil {
		return amber.Time{}
	}
	return n.Message.CreateTime.at
}

// maxSteps bounds how far the time of a message is looked for, as each message of a long conversation may lack it.
const maxSteps = 100

// timeOf returns when a message was sent: its own time, else the nearest one before it, else that of the conversation.
func (c *conversation) timeOf(id string) amber.Time {
	for range maxSteps {
		n := c.Mapping[id]
		if n == nil {
			break
		}
		if at := n.time(); !at.IsZero() {
			return at
		}
		id = n.Parent
	}
	return c.began
}

// date sets when the conversation began and ended. Any time in it may be missing.
func (c *conversation) date(file amber.Time) {
	var said foreign.Span
	for _, n := range c.Mapping {
		if n != nil {
			said.Add(n.time())
		}
	}
	c.began, c.ended = said.Dates(c.CreateTime.at, c.UpdateTime.at, file)
}
