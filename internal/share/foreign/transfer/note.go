package transfer

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/wire"
)

// noteScope is the scope of links to notes.
const noteScope amber.ChangeScope = "note"

// Note implements [foreign.Sink].
func (c *carrier) Note(n foreign.Note) error {
	if !c.o.wants(Notes) {
		return nil
	}
	if err := c.look(); err != nil {
		return err
	}
	c.report.Notes.Read++
	if !c.o.Since.IsZero() && !n.UpdatedAt.IsZero() && n.UpdatedAt.Before(c.o.Since) {
		c.report.Older++
		return nil
	}
	if c.secret(n.Name) {
		c.Skip(n.Place, "the name of the note has a secret in it")
		return nil
	}
	name, err := amber.CheckNoteName(foreign.NoteName(n.Name))
	content := c.text(n.Content)
	if err == nil {
		err = amber.CheckNoteContent(content)
	}
	switch folded := foreign.NoteKey(name); {
	case err != nil:
		c.refuse(n.Place, err)
		return nil
	case c.noted[folded]:
		c.Skip(n.Place, "another file of this import has the note name %.100q", name)
		return nil
	default:
		c.noted[folded] = true
	}
	c.sample("note", name)
	return c.settleNote(n, name, content)
}

// settleNote writes a note, unless that would replace what was written here.
func (c *carrier) settleNote(n foreign.Note, name, content string) error {
	link, was, linked, err := c.linked("note", foreign.Key{name}) // before the note is read, which another import may make now
	if err != nil {
		return err
	}
	digest := amber.ContentDigest(content)
	now, err := c.store.Notes.ReadNote(c.ctx, name)
	there := err == nil
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return err
	}
	if there && linked {
		if was, err = c.completed(link, now); err != nil {
			return err
		}
	}
	// A note may be replaced by the files it came from, not by those of another owner or folder.
	mine := there && linked && amber.ContentDigest(now.Content) == was.Written && was.Source == c.tree.Base() && (!was.Own || c.o.AsOwn)
	switch {
	case there && linked && was.Digest == digest:
		c.report.Notes.Known++
		return nil
	case there && now.Content == content:
		c.report.Notes.Known++
		return c.noteLink(name, extra{Digest: digest, Epoch: was.Epoch, Met: true})
	case there && !mine:
		c.conflict(wire.ImportConflict{Kind: "note", ID: name, Place: n.Place.String()})
		return nil
	case !there && linked && was.Digest != "":
		c.Skip(n.Place, "note %.100q was deleted here", name)
		return nil
	}
	if c.o.DryRun {
		c.countNote(there)
		return nil
	}
	// The link comes first: a note without one would count as written here. Its digest follows when the note is written.
	made := extra{Written: digest, Epoch: was.Epoch, Made: !there || was.Made, Source: c.tree.Base()}
	if err := c.noteLink(name, made); err != nil {
		return err
	}
	if err := c.apply(c.incoming()); err != nil {
		return err
	}
	written, err := c.store.Notes.WriteNote(c.ctx, amber.NoteWrite{Name: name, Content: content, NoteBy: amber.NoteBy{Trust: c.trust}})
	switch kind := amber.KindOf(err); {
	case err != nil && kind != amber.KindInvalid && kind != amber.KindRefused:
		return err
	case err != nil:
		c.refuse(n.Place, err)
		c.ordinal--
		return c.noteLink(name, extra{Epoch: was.Epoch}) // an undo finds nothing to take back
	}
	first, err := c.claim(written)
	switch {
	case err != nil:
		return err
	case first:
		c.countNote(there)
	default:
		c.report.Notes.Known++
	}
	made.Digest = digest
	c.ordinal--
	return c.noteLink(name, made)
}

// completed is what the link of a note says. An import that was stopped after it had written the note has left a link which
// says what was to be written: where the note has that text, that link is completed, and counts.
func (c *carrier) completed(l amber.SyncLink, now amber.Note) (extra, error) {
	was, text := parseExtra(l.Extra), amber.ContentDigest(now.Content)
	if was.Digest != "" && was.Written == text {
		return was, nil
	}
	links, err := c.store.Sync.Links(c.ctx, amber.LinkQuery{Tool: c.format, Fingerprint: l.Fingerprint})
	for i := len(links) - 1; i >= 0; i-- {
		o, e := links[i], parseExtra(links[i].Extra)
		older := was.Digest != "" && o.Chunk < l.Chunk
		if e.Digest != "" || e.Written != text || older || e.Own && !c.o.AsOwn {
			continue
		}
		e.Digest = e.Written
		o.Extra = e.String()
		if !c.o.DryRun {
			c.links = append(c.links, o)
		}
		return e, nil
	}
	return was, err
}

// claim reports whether this import is the first that counts a commit of a note. Two imports at one time that write
// the same text make one commit, and the store applies a chunk once, so only one of them claims it.
func (c *carrier) claim(n amber.Note) (first bool, err error) {
	if n.Commit == "" {
		return true, nil
	}
	done, err := c.store.Sync.Apply(c.ctx, amber.Incoming{
		Place: place(c.format, c.trust), Chunk: "note-" + n.Commit, Device: c.format, CreatedBy: toolImport, At: amber.At(c.o.Clock()), Trust: c.trust,
	})
	return !done.Already, err
}

// countNote counts a note that is written, or would be.
func (c *carrier) countNote(there bool) {
	if there {
		c.report.Notes.Changed++
	} else {
		c.report.Notes.New++
	}
}

// noteLink makes the link of a note, to be stored with the next chunk.
func (c *carrier) noteLink(name string, e extra) error {
	if c.o.DryRun {
		return nil
	}
	ref := amber.SyncRef{Scope: noteScope, ID: name}
	c.links = append(c.links, c.link("note", foreign.Key{name}, ref, amber.Origin{}, e))
	if len(c.links) < batchRecords {
		return nil
	}
	return c.apply(c.incoming())
}
