package gitobj

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/amber-memory/amber"
)

// objectWalk goes through a history, from its newest commits to the older ones, and hands out each object once.
type objectWalk struct {
	ctx     context.Context
	objects *Folder
	fn      func(oid string, raw []byte) error
	known   map[string]bool // objects that were handed out, or are not to be
	commits map[string]*walkedCommit
	queue   []*walkedCommit // the newest last
	fresh   int             // how many in the queue are not old
}

// walkedCommit is a commit that the walk has met.
type walkedCommit struct {
	oid, tree string
	parents   []string
	seconds   int64
	old       bool // what the caller has needs it
	waits     bool // in the queue
}

// run hands out what want needs and have does not. Objects of have that are not there are passed over.
func (w *objectWalk) run(want, have []string) error {
	for _, oid := range have {
		if _, err := w.begin(oid, true); err != nil && amber.KindOf(err) != amber.KindDamaged {
			return err
		}
	}
	var others []string
	for _, oid := range want {
		other, err := w.begin(oid, false)
		if err != nil {
			return err
		}
		others = append(others, other...)
	}
	commits, err := w.paint()
	if err != nil {
		return err
	}
	for _, c := range commits {
		for _, parent := range c.parents {
			if err := w.mark(w.commits[parent]); err != nil {
				return err
			}
		}
	}
	for _, c := range commits {
		if err := w.hand(c.oid); err != nil {
			return err
		}
		if err := w.tree(c.tree, 0); err != nil {
			return err
		}
	}
	for _, oid := range others {
		if err := w.tree(oid, 0); err != nil {
			return err
		}
	}
	return nil
}

// begin begins at what a ref names. It hands out the tags on the way, and returns what is no commit.
func (w *objectWalk) begin(oid string, old bool) (others []string, err error) {
	for {
		raw, err := w.objects.Get(oid)
		if err != nil {
			return nil, err
		}
		o, err := w.read(oid, raw)
		if err != nil {
			return nil, err
		}
		switch o.Type {
		case typeCommit:
			return nil, w.meet(oid, old)
		case typeTag:
			named, err := o.Named()
			if err == nil && !old {
				err = w.hand(oid)
			}
			if err != nil {
				return nil, err
			}
			w.known[oid], oid = true, named[0]
		default:
			w.known[oid] = w.known[oid] || old
			return []string{oid}, nil
		}
	}
}

func (w *objectWalk) read(oid string, raw []byte) (Object, error) {
	kind, _, err := splitRaw(oid, raw)
	return Object{OID: oid, Type: kind, Raw: raw}, err
}

// meet puts a commit into the queue, and again when it becomes old afterwards: then those before it do, too.
func (w *objectWalk) meet(oid string, old bool) error {
	c := w.commits[oid]
	switch {
	case c == nil:
		if len(w.commits) == maxHistory {
			return amberError(amber.KindQuota, "", fmt.Errorf("more than %d commits", maxHistory))
		}
		raw, err := w.objects.Get(oid)
		if err != nil {
			return err
		}
		said, err := ReadCommit(oid, raw)
		if err != nil {
			return err
		}
		c = &walkedCommit{oid: oid, tree: said.Tree, parents: said.Parents, seconds: said.Seconds, old: old}
		w.commits[oid] = c
	case c.old || !old:
		return nil
	case c.waits:
		c.old = true
		w.fresh--
		return nil
	default:
		c.old = true
	}
	at, _ := slices.BinarySearchFunc(w.queue, c, func(a, b *walkedCommit) int { return cmp.Compare(a.seconds, b.seconds) })
	w.queue = slices.Insert(w.queue, at, c)
	if c.waits = true; !c.old {
		w.fresh++
	}
	return nil
}

// paint goes back until all that is left is old and older than what is not, and returns the commits that are not old, the newest first.
// Commits whose clocks were wrong may come although they are old.
func (w *objectWalk) paint() (commits []*walkedCommit, err error) {
	oldest := int64(math.MaxInt64) // of commits
	for len(w.queue) > 0 && (w.fresh > 0 || w.queue[len(w.queue)-1].seconds >= oldest) {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		c := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		if c.waits = false; !c.old {
			w.fresh--
			oldest = min(oldest, c.seconds)
			commits = append(commits, c)
		}
		for _, parent := range c.parents {
			err := w.meet(parent, c.old)
			if err != nil && (!c.old || amber.KindOf(err) != amber.KindDamaged) {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(commits, func(c *walkedCommit) bool { return c.old }), nil
}

// mark makes the files of an old commit known.
func (w *objectWalk) mark(c *walkedCommit) error {
	if c == nil || !c.old {
		return nil
	}
	old := objectWalk{ctx: w.ctx, objects: w.objects, known: w.known}
	if err := old.tree(c.tree, 0); amber.KindOf(err) != amber.KindDamaged {
		return err
	}
	return nil
}

// tree hands out a tree or a file, and all below it.
func (w *objectWalk) tree(oid string, depth int) error {
	if w.known[oid] {
		return nil
	}
	if depth > maxTreeDepth {
		return amberError(amber.KindQuota, "", errors.New("the trees are nested too deep"))
	}
	raw, err := w.objects.Get(oid)
	if err != nil {
		return err
	}
	o, err := w.read(oid, raw)
	if err != nil {
		return err
	}
	var entries []TreeEntry // which are read before the caller owns the bytes
	if o.Type == typeTree {
		if entries, err = ReadTree(oid, raw); err != nil {
			return err
		}
	}
	if err := w.give(oid, raw); err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.isLink():
		case e.IsTree() || w.fn != nil:
			err = w.tree(e.OID, depth+1)
		default: // marked without being read
			w.known[e.OID] = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *objectWalk) hand(oid string) error {
	raw, err := w.objects.Get(oid)
	if err != nil {
		return err
	}
	return w.give(oid, raw)
}

// give gives an object to the caller, who owns it then.
func (w *objectWalk) give(oid string, raw []byte) error {
	if err := w.ctx.Err(); err != nil || w.known[oid] {
		return err
	}
	if w.known[oid] = true; w.fn == nil {
		return nil
	}
	if err := w.fn(oid, raw); err != nil {
		return &callbackError{err}
	}
	return nil
}
