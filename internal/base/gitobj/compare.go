package gitobj

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

const (
	maxHistory   = 1_000_000 // commits that are looked at
	maxTreeSteps = 1_000_000 // entries of trees that are looked at
	maxTreeDepth = 256
)

// ObjectGetter returns an object by its id, as [Objects] hands it out. The getter checks the id.
type ObjectGetter func(oid string) (raw []byte, err error)

// Compare counts what happened from one commit to another; "" is the time before the first. Commits counts those
// that are reachable from to and not from from. Files and lines are those of git diff --numstat without renames: a binary
// file counts as changed, with no lines. Lines of two texts that have next to nothing in common are counted without
// regard to their order. Errors: damaged for objects that are no history; quota beyond a million commits or
// entries of folders; unreachable when ctx ends; those of get.
func Compare(ctx context.Context, get ObjectGetter, from, to string) (wire.GitDiff, error) {
	c := &comparison{get: get, diff: wire.GitDiff{From: from, To: to}}
	err := c.run(ctx, from, to)
	if err != nil {
		return wire.GitDiff{}, wrap("compare commits", err)
	}
	return c.diff, nil
}

type comparison struct {
	get   ObjectGetter
	diff  wire.GitDiff
	steps int
}

func (c *comparison) run(ctx context.Context, from, to string) error {
	if from == to {
		return nil
	}
	old := map[string]bool{}
	if err := c.ancestors(ctx, from, old, nil); err != nil {
		return err
	}
	added := map[string]bool{}
	if err := c.ancestors(ctx, to, added, old); err != nil {
		return err
	}
	c.diff.Commits = int64(len(added))
	a, err := c.treeOf(from)
	if err != nil {
		return err
	}
	b, err := c.treeOf(to)
	if err != nil {
		return err
	}
	return c.trees(ctx, a, b, 0)
}

// ancestors adds a commit and all before it to seen, but nothing that is in stop.
func (c *comparison) ancestors(ctx context.Context, oid string, seen, stop map[string]bool) error {
	var todo []string
	push := func(oid string) error {
		if stop[oid] || seen[oid] {
			return nil
		}
		if len(seen) == maxHistory {
			return amberError(amber.KindQuota, "", fmt.Errorf("more than %d commits", maxHistory))
		}
		seen[oid] = true
		todo = append(todo, oid)
		return nil
	}
	if oid == "" {
		return nil
	}
	if err := push(oid); err != nil {
		return err
	}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		oid, todo = todo[len(todo)-1], todo[:len(todo)-1]
		commit, err := c.commit(oid)
		if err != nil {
			return err
		}
		for _, parent := range commit.Parents {
			if err := push(parent); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit reads a commit.
func (c *comparison) commit(oid string) (Commit, error) {
	raw, err := c.get(oid)
	if err != nil {
		return Commit{}, err
	}
	return ReadCommit(oid, raw)
}

func (c *comparison) treeOf(commit string) (string, error) {
	if commit == "" {
		return "", nil
	}
	head, err := c.commit(commit)
	return head.Tree, err
}

// object returns the content of an object of the given type.
func (c *comparison) object(oid, want string) ([]byte, error) {
	raw, err := c.get(oid)
	if err != nil {
		return nil, err
	}
	return contentOf(oid, raw, want)
}

// tree reads a tree; "" is the empty one.
func (c *comparison) tree(oid string) ([]TreeEntry, error) {
	if oid == "" {
		return nil, nil
	}
	raw, err := c.get(oid)
	if err != nil {
		return nil, err
	}
	entries, err := ReadTree(oid, raw)
	if err != nil {
		return nil, err
	}
	c.steps += len(entries)
	if c.steps > maxTreeSteps {
		return nil, amberError(amber.KindQuota, "", fmt.Errorf("the trees have more than %d entries", maxTreeSteps))
	}
	return entries, nil
}

// trees counts what differs between two trees.
func (c *comparison) trees(ctx context.Context, a, b string, depth int) error {
	if a == b {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxTreeDepth {
		return amberError(amber.KindQuota, "", errors.New("the trees are nested too deep"))
	}
	before, err := c.tree(a)
	if err != nil {
		return err
	}
	after, err := c.tree(b)
	if err != nil {
		return err
	}
	old := make(map[string]TreeEntry, len(before))
	for _, e := range before {
		old[e.Name] = e
	}
	for _, e := range after {
		was := old[e.Name]
		delete(old, e.Name)
		if err := c.entries(ctx, was, e, depth); err != nil {
			return err
		}
	}
	for _, e := range old {
		if err := c.entries(ctx, e, TreeEntry{}, depth); err != nil {
			return err
		}
	}
	return nil
}

// entries counts what differs between two entries of one name; a zero one is none.
func (c *comparison) entries(ctx context.Context, a, b TreeEntry, depth int) error {
	if a.OID == b.OID && a.Mode == b.Mode {
		return nil
	}
	var treeA, treeB string
	if a.IsTree() {
		treeA, a = a.OID, TreeEntry{}
	}
	if b.IsTree() {
		treeB, b = b.OID, TreeEntry{}
	}
	if err := c.trees(ctx, treeA, treeB, depth+1); err != nil {
		return err
	}
	if a == b {
		return nil
	}
	c.diff.FilesChanged++
	if a.OID == b.OID {
		return nil
	}
	textA, err := c.text(a)
	if err != nil {
		return err
	}
	textB, err := c.text(b)
	if err != nil {
		return err
	}
	insertions, deletions := diffLines(textA, textB)
	c.diff.Insertions += insertions
	c.diff.Deletions += deletions
	return nil
}

// text returns what an entry holds.
func (c *comparison) text(e TreeEntry) ([]byte, error) {
	switch {
	case e.OID == "":
		return nil, nil
	case e.isLink():
		return []byte("Subproject commit " + e.OID + "\n"), nil
	}
	return c.object(e.OID, typeBlob)
}
