package gitsync

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
)

// engramNames finds the memory that a sync_id names when its row is in another
// chunk than the relation or the deletion that speaks of it. Most names say it
// by themselves; those of rows with a topic do not. The folder is read when the
// first name is asked for, and once.
type engramNames struct {
	s       *Sync
	entries []engram.Entry
	found   map[string]amber.Memory // nil before the folder was read
}

func (n *engramNames) named(sync string) (amber.Memory, bool) {
	if n.found == nil {
		n.read()
	}
	m, ok := n.found[sync]
	return m, ok
}

// read keeps the names that do not say by themselves which memory they mean. A
// chunk that cannot be read names nothing.
func (n *engramNames) read() {
	n.found = map[string]amber.Memory{}
	for _, e := range n.entries {
		c, _, err := n.s.engramChunk(e.ID)
		if err != nil {
			continue
		}
		for sync, m := range engram.Names(c, n.s.engramRead(e.CreatedBy, nil)) {
			if !engram.PlainName(sync, m.ID) {
				n.found[sync] = m
			}
		}
	}
}

// engramIndex is what the chunks of a folder know memories and relations by.
type engramIndex struct {
	s         *Sync
	names     map[amber.MemoryID]string // the sync_id of their last row
	rows      map[string]bool           // every sync_id of a row
	removed   map[string]bool           // names of rows that are gone for good
	relations map[string]engram.FolderRelation
}

// index reads the folder once for an export that has relations to write. From then on the exporter adds every chunk
// that it writes.
func (e *engramExporter) index(ctx context.Context) (*engramIndex, error) {
	if e.indexed != nil {
		return e.indexed, nil
	}
	x := &engramIndex{s: e.s, names: map[amber.MemoryID]string{}, rows: map[string]bool{}, removed: map[string]bool{}, relations: map[string]engram.FolderRelation{}}
	for _, entry := range e.folder.entries() { // the next manifest lists all of them
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c, _, err := e.s.engramChunk(entry.ID); err == nil {
			x.add(c, entry.CreatedBy)
		}
	}
	e.indexed = x
	return x, nil
}

// add takes a chunk in, which comes after those that were taken in before.
func (x *engramIndex) add(c engram.Chunk, createdBy string) {
	for sync, m := range engram.Names(c, x.s.engramRead(createdBy, nil)) {
		x.names[m.ID], x.rows[sync] = sync, true
	}
	for _, sync := range engram.Removed(c) {
		x.removed[sync] = true
	}
	for _, m := range c.Mutations {
		if r, ok := engram.ReadFolderRelation(m); ok {
			if was, there := x.relations[r.ID]; !there || r.Origin.After(was.Origin) {
				x.relations[r.ID] = r
			}
		}
	}
}

// nameOf returns the sync_id that the folder knows a memory by: that of a row,
// or that of a row which is linked to the memory under another name.
func (x *engramIndex) nameOf(id amber.MemoryID, links []amber.SyncLink) (string, bool) {
	if sync, ok := x.names[id]; ok && !x.removed[sync] {
		return sync, true
	}
	for _, l := range links {
		if sync, ok := engram.LinkName(l); ok && x.rows[sync] && !x.removed[sync] {
			return sync, true
		}
	}
	return "", false
}
