package transfer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// speaking is the session whose turns come.
type speaking struct {
	at      foreign.Place
	session amber.Session
	digest  string
	epoch   int
	version amber.Origin
	link    amber.SyncLink // to be completed when all turns are stored
	fresh   bool
	met     bool  // another import has stored the session meanwhile
	known   bool  // the session is stored: its turns are read to report those that are skipped
	skipped int64 // items of the import before this session
	journal string
	cursor  int64 // of the journal
	turns   int64 // so far
	steps   []amber.IngestStep
	bytes   int
}

// Session implements [foreign.Sink].
func (c *carrier) Session(s foreign.Session) (want bool, err error) {
	if !c.o.wants(Sessions) {
		return false, nil
	}
	if err := cmp.Or(c.look(), c.endSession()); err != nil {
		return false, err
	}
	c.report.Sessions.Read++
	key := foreign.Key{string(s.ID)}
	if print := foreign.Fingerprint(c.format, "session", key); c.met[print] {
		c.Skip(s.Place, "session %.60s is in the files twice", s.ID)
		return false, nil
	} else {
		c.met[print] = true
	}
	shaped, err := c.shapeSession(s)
	if err != nil {
		c.refuse(s.Place, err)
		return false, nil
	}
	if !c.o.Since.IsZero() && shaped.EndedAt.Before(c.o.Since) {
		c.report.Older++
		return false, nil
	}
	c.sample("session", shaped.Name)
	return c.settleSession(s, shaped)
}

// settleSession finds out whether a session is new, has grown or is known, and stores its record.
func (c *carrier) settleSession(s foreign.Session, shaped amber.Session) (want bool, err error) {
	key, ref := foreign.Key{string(s.ID)}, amber.SyncRef{Scope: amber.ChangeSession, ID: string(shaped.ID)}
	link, was, linked, err := c.linked("session", key)
	if err != nil {
		return false, err
	}
	digest := sessionDigest(s, shaped)
	if linked && was.Digest == digest {
		return c.knownSession(s, shaped, was), nil
	}
	now, err := c.store.Sync.SyncRecords(c.ctx, []amber.SyncRef{ref})
	if err != nil {
		return false, err
	}
	known, proceed, err := c.meetSession(s, now[0], linked, was)
	if !proceed || err != nil {
		return false, err
	}
	sp := &speaking{at: s.Place, session: shaped, digest: digest, epoch: was.Epoch, fresh: now[0].Session == nil, skipped: c.report.Skipped}
	if linked {
		known.Counter = max(known.Counter, link.Version.Counter)
	}
	sum := foreign.Digest(digest)
	sp.version = amber.Origin{Device: c.format, Counter: known.Counter + 1, Clock: foreign.Stamp(shaped.EndedAt, sum)}
	if now[0].Session != nil && known.Device == c.format && known.Clock == sp.version.Clock {
		sp.version = known // an import that was stopped, or runs, has stored the session, though not all of its turns
	}
	sp.journal = c.journalOf(s.ID, sp.epoch)
	c.session = sp
	return true, c.beginSession(ref, key)
}

// countSession counts a session that is stored, or would be.
func (c *carrier) countSession(sp *speaking) {
	switch {
	case sp.met:
		c.report.Sessions.Known++
	case sp.fresh:
		c.report.Sessions.New++
	default:
		c.report.Sessions.Changed++
	}
}

// journalOf names the journal of a session's turns, which begins anew after an undo.
func (c *carrier) journalOf(id amber.SessionID, epoch int) string {
	return foreign.Hex(foreign.Digest("amber import 1", c.format, "session", string(id), fmt.Sprint(epoch)))
}

// knownSession counts a session that has not changed since an import. Its turns are wanted only where some were skipped.
func (c *carrier) knownSession(s foreign.Session, shaped amber.Session, was extra) (want bool) {
	c.report.Sessions.Known++
	if was.Skips {
		c.session = &speaking{at: s.Place, session: shaped, known: true, epoch: was.Epoch, journal: c.journalOf(s.ID, was.Epoch)}
		return true
	}
	c.report.Turns.Read += s.Turns
	c.report.Turns.Known += s.Turns
	return false
}

// meetSession looks at what is stored under the id of a session. A session that an import brought may be imported
// again and go on; a session from elsewhere has its own turns, and a session that was deleted here stays deleted.
func (c *carrier) meetSession(s foreign.Session, now amber.SyncRecord, linked bool, was extra) (known amber.Origin, proceed bool, err error) {
	here := now.Session != nil && (now.Session.Origin.Device != c.format && !linked || now.Session.Trust == "" && !c.o.AsOwn)
	if now.Session != nil && !here && now.Session.Origin.Device != c.format {
		here, err = spoken(c.ctx, c.store, c.format, s.ID)
	}
	switch {
	case err != nil:
		return known, false, err
	case here:
		c.report.Sessions.Known++
		c.elsewhere++
		return known, false, nil
	case now.Gone != nil && (!linked || was.Digest != "" || was.Epoch == 0):
		c.Skip(s.Place, "session %.60s was deleted here", s.ID)
		return known, false, nil
	case now.Session != nil:
		return now.Session.Origin, true, nil
	case now.Gone != nil:
		return amber.Origin{Counter: now.Gone.Origin.Counter}, true, nil
	}
	return known, true, nil
}

// spoken reports whether a session holds what no import of the format brought: what was said, summed up or kept in it here.
func spoken(ctx context.Context, store amber.Store, format string, id amber.SessionID) (bool, error) {
	turns, err := amber.LastTurns(ctx, store.Turns, id, math.MaxInt32)
	if err != nil {
		return false, err
	}
	for _, t := range turns {
		if !strings.HasPrefix(string(t.ID), format+"-") {
			return true, nil
		}
	}
	sums, err := amber.All(ctx, store.Compactions.Compactions, id)
	if err != nil {
		return false, err
	}
	for _, s := range sums {
		if !strings.HasPrefix(s.ID, format+"-") {
			return true, nil
		}
	}
	_, err = store.States.LoadState(ctx, id)
	if amber.KindOf(err) == amber.KindNotFound {
		_, err = store.Loops.LoadLoop(ctx, id)
	}
	if amber.KindOf(err) == amber.KindNotFound {
		return false, nil
	}
	return err == nil, err
}

// beginSession stores the record of the session. Its link is not complete until the turns are stored.
func (c *carrier) beginSession(ref amber.SyncRef, key foreign.Key) error {
	sp := c.session
	cursor, err := c.store.Ingest.JournalCursor(c.ctx, sp.journal)
	if err != nil {
		return err
	}
	sp.cursor = cursor.Seq
	if c.o.DryRun {
		c.countSession(sp)
		return nil
	}
	sp.link = c.link("session", key, ref, sp.version, extra{Epoch: sp.epoch})
	in := c.incoming()
	in.Records = []amber.SyncRecord{{Session: &amber.SyncSession{Session: sp.session, Origin: sp.version}}}
	in.Links = append(in.Links, sp.link)
	stored, err := c.applyTold(in)
	if err != nil {
		return err
	}
	sp.met = !stored[0]
	c.countSession(sp)
	return nil
}

// endSession stores the turns that wait and completes the link.
func (c *carrier) endSession() error {
	sp := c.session
	c.session = nil
	if sp == nil || sp.known {
		return nil
	}
	if err := c.ingest(sp); err != nil {
		return err
	}
	if c.o.DryRun {
		return nil
	}
	sp.link.Extra = extra{Digest: sp.digest, Epoch: sp.epoch, Own: c.o.AsOwn, Met: sp.met, Skips: c.report.Skipped > sp.skipped}.String()
	c.links = append(c.links, sp.link)
	if len(c.links) < batchRecords {
		return nil
	}
	return c.apply(c.incoming())
}

func (c *carrier) shapeSession(s foreign.Session) (amber.Session, error) {
	started := cmp.Or(s.StartedAt, s.EndedAt)
	if f, ok := c.tree.File(s.Place.File); ok {
		started = cmp.Or(started, f.ModifiedAt())
	}
	started = cmp.Or(started, amber.At(c.o.Clock()))
	ended := later(cmp.Or(s.EndedAt, started), started)
	out := amber.Session{
		ID: s.ID, Name: sessionName(c.text(s.Name), string(s.ID)), Binding: cmp.Or(s.Binding, c.format), Project: cmp.Or(c.o.Project, s.Project),
		Directory: c.text(s.Directory), StartedAt: started, EndedAt: ended, EndReason: amber.EndEnded, Summary: c.text(s.Summary), Parent: s.Parent,
		CreatedAt: started, UpdatedAt: ended,
	}
	if c.secret(string(s.ID), out.Project, out.Binding, string(s.Parent)) {
		return out, amber.Errorf(amber.KindInvalid, "check session", "", "the id, project or binding of the session has a secret in its name")
	}
	probe := amber.SyncSession{Session: out, Origin: amber.Origin{Device: c.format, Counter: 1}}
	return out, amber.SyncRecord{Session: &probe}.Check()
}

// sessionName shortens a name to what a catalogue shows.
func sessionName(name, id string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, name)
	name = clip.Line(name)
	if name == "" {
		name = id
	}
	return clip.Runes(name, amber.MaxNameRunes)
}

// sessionDigest is the digest by which an import sees whether a conversation has changed. Times are not in it: where
// the program keeps none, they are those of a file, and a copy of the file has others.
func sessionDigest(s foreign.Session, shaped amber.Session) string {
	return foreign.Hex(foreign.Digest("session", shaped.Name, s.Name, shaped.Binding, shaped.Project, shaped.Directory, shaped.Summary, string(shaped.Parent),
		fmt.Sprint(s.Turns), s.State))
}
