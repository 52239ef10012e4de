package transfer

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxRelations bounds the relations of one import: they are held until all memories are stored.
const maxRelations = 1_000_000

// related is a relation that waits for both its ends.
type related struct {
	at       foreign.Place
	from, to amber.MemoryID
	typ      string
	strength float64
	created  amber.Time
	whole    *amber.Relation // as a record of Amber says it; nil otherwise
}

// Relation implements [foreign.Sink].
func (c *carrier) Relation(r foreign.Relation) error {
	if !c.o.wants(Memories) {
		return nil
	}
	c.hold(related{
		at: r.Place, from: foreign.MemoryID(c.format, c.rowKey(r.From)), to: foreign.MemoryID(c.format, c.rowKey(r.To)),
		typ: c.relationType(r.Type), strength: cmp.Or(r.Strength, 1), created: r.CreatedAt,
	})
	return nil
}

// hold keeps a relation until all memories are there.
func (c *carrier) hold(r related) {
	c.report.Relations.Read++
	if len(c.related) >= maxRelations {
		c.Skip(r.at, "the import has more than %d relations, the limit", maxRelations)
		return
	}
	c.related = append(c.related, r)
}

// relationType makes a type of what a program calls it.
func (c *carrier) relationType(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:", r) {
			return r
		}
		return '_'
	}, strings.TrimSpace(c.text(s)))
	s = strings.Trim(s, "_")
	if s == "" {
		return "related"
	}
	return clip.Bytes(s, amber.MaxIDBytes)
}

// relate stores the relations whose ends are both there.
func (c *carrier) relate() error {
	for len(c.related) > 0 {
		some := c.related[:min(len(c.related), batchRecords)]
		c.related = c.related[len(some):]
		if err := c.relateSome(some); err != nil {
			return err
		}
	}
	return nil
}

func (c *carrier) relateSome(some []related) error {
	now, here, err := c.lookAt(some)
	if err != nil {
		return err
	}
	var in amber.Incoming
	if !c.o.DryRun {
		in = c.incoming()
	}
	var fresh []made
	seen := map[string]bool{}
	for i, r := range some {
		key := foreign.Key{string(r.from), string(r.to), r.typ}
		record := r.record(c.format)
		epoch, again, err := c.undone(key, now[3*i+2].Relation)
		if err != nil {
			return err
		}
		if again {
			was := now[3*i+2].Relation.Origin
			record.Relation.Origin.Counter, record.Relation.Origin.Clock = was.Counter+1, max(record.Relation.Origin.Clock, was.Clock)
			now[3*i+2] = amber.SyncRecord{}
		}
		if seen[record.Relation.ID] || here.has(r) {
			c.report.Relations.Known++
			continue
		}
		if !c.isNew(r, record, now[3*i:3*i+3]) {
			continue
		}
		seen[record.Relation.ID] = true
		link := c.link("relation", key, r.ref(c.format), record.Relation.Origin, extra{Digest: "stored", Epoch: epoch})
		fresh = append(fresh, made{r, link, now[3*i : 3*i+2]})
		in.Records = append(in.Records, record)
	}
	if c.o.DryRun {
		return c.foreseeRelations(fresh)
	}
	stored, err := c.applyTold(in)
	if err != nil {
		return err
	}
	return c.checkStored(fresh, stored)
}

// made is a relation that is stored, with its link.
type made struct {
	related
	link amber.SyncLink
	ends []amber.SyncRecord // both memories
}

// undone reports whether a relation that is deleted went with the undo of an import. A relation that was deleted here
// stays deleted.
func (c *carrier) undone(key foreign.Key, there *amber.Relation) (epoch int, again bool, err error) {
	if there == nil || there.DeletedAt.IsZero() {
		return 0, false, nil
	}
	_, was, linked, err := c.linked("relation", key)
	return was.Epoch, linked && was.Digest == "", err
}

// lookAt gives relations the ends they have here, and returns the records of both ends and of the relation, three for each.
func (c *carrier) lookAt(some []related) ([]amber.SyncRecord, relationsHere, error) {
	refs := make([]amber.SyncRef, 0, 3*len(some))
	here := relationsHere{}
	for i, r := range some {
		from, to := c.moved[r.from], c.moved[r.to]
		r.from, r.to = cmp.Or(from, r.from), cmp.Or(to, r.to)
		some[i] = r
		if from != "" && to != "" && r.whole == nil {
			if err := here.add(c.ctx, c.store.Relations, from); err != nil {
				return nil, nil, err
			}
		}
		refs = append(refs, memoryRef(r.from), memoryRef(r.to), r.ref(c.format))
	}
	now, err := c.store.Sync.SyncRecords(c.ctx, refs)
	return now, here, err
}

// isNew reports whether a relation is to be stored, and counts or skips it otherwise; now holds the records of its
// ends and its own.
func (c *carrier) isNew(r related, record amber.SyncRecord, now []amber.SyncRecord) bool {
	switch err := record.Check(); {
	case now[2].Relation != nil:
		c.report.Relations.Known++
	case !c.isThere(r.from, now[0]) || !c.isThere(r.to, now[1]):
		c.Skip(r.at, "relation %q has an end that is not among the memories", r.typ)
	case err != nil:
		c.refuse(r.at, err)
	default:
		return true
	}
	return false
}

// checkStored counts the relations that were stored, and tells which the store did not take: files have no say in a memory
// that did not come from them. Those that it took get their links.
func (c *carrier) checkStored(fresh []made, stored map[int]bool) error {
	refs := make([]amber.SyncRef, len(fresh))
	for i, r := range fresh {
		refs[i] = r.ref(c.format)
	}
	now, err := c.store.Sync.SyncRecords(c.ctx, refs)
	if err != nil {
		return err
	}
	here := relationsHere{}
	for i, r := range fresh {
		if now[i].Relation != nil && stored[i] {
			c.report.Relations.New++
			c.links = append(c.links, r.link)
			continue
		}
		if now[i].Relation != nil { // another import was quicker
			c.report.Relations.Known++
			continue
		}
		if err := c.passedOver(r.related, here); err != nil {
			return err
		}
	}
	return nil
}

// passedOver reports a relation that the store does not take.
func (c *carrier) passedOver(r related, here relationsHere) error {
	if err := here.add(c.ctx, c.store.Relations, r.from); err != nil {
		return err
	}
	if here.has(r) { // under another id
		c.report.Relations.Known++
		return nil
	}
	c.Skip(r.at, "relation %q has an end that did not come from files of this format", r.typ)
	return nil
}

// relationsHere are relations of memories that were exported from here, by the memory they begin at. An export names no ids
// of relations: one is known by its ends and its type.
type relationsHere map[amber.MemoryID][]amber.Relation

func (h relationsHere) add(ctx context.Context, store amber.Relations, id amber.MemoryID) error {
	if _, ok := h[id]; ok {
		return nil
	}
	list, err := store.Related(ctx, id)
	if amber.KindOf(err) == amber.KindNotFound {
		err = nil
	}
	h[id] = list
	return err
}

func (h relationsHere) has(r related) bool {
	return slices.ContainsFunc(h[r.from], func(x amber.Relation) bool { return x.From == r.from && x.To == r.to && x.Type == r.typ })
}

// isThere reports whether an end of a relation is stored, or would be.
func (c *carrier) isThere(id amber.MemoryID, now amber.SyncRecord) bool {
	if stays, foreseen := c.foreseen[id]; foreseen {
		return stays
	}
	return now.Memory != nil && now.Memory.DeletedAt.IsZero()
}

func (r related) ref(format string) amber.SyncRef {
	if r.whole != nil {
		return amber.SyncRef{Scope: amber.SyncRelation, ID: r.whole.ID}
	}
	return amber.SyncRef{Scope: amber.SyncRelation, ID: foreign.RelationID(format, r.from, r.to, r.typ)}
}

func (r related) record(format string) amber.SyncRecord {
	if r.whole != nil {
		return amber.SyncRecord{Relation: r.whole}
	}
	id := r.ref(format).ID
	return amber.SyncRecord{Relation: &amber.Relation{
		ID: id, From: r.from, To: r.to, Type: r.typ, Strength: min(max(r.strength, 0), 1), CreatedAt: r.created,
		Origin: amber.Origin{Device: format, Counter: 1, Clock: foreign.Stamp(r.created, foreign.Digest(id))},
	}}
}
