package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// forgotten is the JSON of a plain forget.
type forgotten struct {
	ID        amber.MemoryID `json:"id"`
	Forgotten bool           `json:"forgotten"`
}

// erasePlan is the JSON of forget --erase --dry-run.
type erasePlan struct {
	ID          amber.MemoryID `json:"id"`
	DryRun      bool           `json:"dry_run"`
	WouldRemove []string       `json:"would_remove"`
}

func (a *app) forgetCommand() *cobra.Command {
	var erase, yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Forget a memory",
		Long: `Forget a memory: no recall and no list shows it any more, its history stays.

With --erase its text is removed for good, from every revision and index, and
the copies that remain elsewhere are named. That cannot be undone. It works on
a memory that was forgotten before, too.

` + idHelp,
		Example: `  amber forget 5f3a91c0
  amber forget 5f3a91c0 --erase --dry-run`,
		Args: exactly("the id of a memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dryRun && !erase {
				return usage("--dry-run goes with --erase; a memory that is only forgotten keeps its history")
			}
			return a.withMemory(cmd, args[0], func(ctx context.Context, s *opened, id amber.MemoryID) error {
				switch {
				case dryRun:
					return a.planErase(ctx, s, id)
				case erase:
					return a.erase(ctx, s, id, yes)
				}
				if err := s.Store.LongTerm.Delete(ctx, id); err != nil {
					return err
				}
				return a.out.show(forgotten{id, true}, func(w io.Writer) { fmt.Fprintln(w, id) })
			})
		},
	}
	cmd.Flags().BoolVar(&erase, "erase", false, "remove its text for good")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only tell what would be removed")
	return cmd
}

func (a *app) planErase(ctx context.Context, s *opened, id amber.MemoryID) error {
	revisions, err := s.Store.Memories.History(ctx, id)
	if err != nil {
		return err
	}
	plan := erasePlan{ID: id, DryRun: true, WouldRemove: []string{fmt.Sprintf("%d revisions", len(revisions))}}
	return a.out.show(plan, func(w io.Writer) {
		fmt.Fprintf(w, "%s\nwould remove %s\n", id, strings.Join(plan.WouldRemove, ", "))
	})
}

// erase removes a memory's text once a person has said yes.
func (a *app) erase(ctx context.Context, s *opened, id amber.MemoryID, yes bool) error {
	if _, err := s.Store.Memories.History(ctx, id); err != nil && amber.KindOf(err) != amber.KindNotFound {
		return err
	}
	if err := a.confirm(yes, "erase memory "+string(id)+" for good"); err != nil {
		return err
	}
	report, err := working(a, "erasing", func() (amber.EraseReport, error) { return a.site(s).Erase(ctx, id) })
	if err != nil {
		return err
	}
	return a.out.show(report, func(w io.Writer) { a.printErased(w, report) })
}

// eraser erases everywhere it can: the notes, the crash journal and snapshots
// are other stores than the memory's, so they are searched here for copies.
type eraser struct {
	app   *app
	store *opened
}

var _ amber.Eraser = eraser{}

// Erase implements [amber.Eraser].
func (e eraser) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	a, s := e.app, e.store
	// The text is needed to find its copies, and gone afterwards. One that
	// is erased already has none.
	revisions, err := s.Store.Memories.History(ctx, id)
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return amber.EraseReport{}, err
	}
	spooled := a.emptySpool(ctx, s)
	report, err := s.Store.Eraser.Erase(ctx, id)
	if err != nil {
		return report, err
	}
	report.Remaining = append(report.Remaining, spooled...)
	report.Remaining = append(report.Remaining, a.forgetAnswers(ctx, s)...)
	report.Remaining = append(report.Remaining, a.leftBehind(ctx, s)...)
	report.Remaining = append(report.Remaining, copiesInNotes(ctx, s.Store.Notes, revisions)...)
	report.Remaining = append(report.Remaining, copiesInState(ctx, s.Store.Documents, revisions)...)
	report.Remaining = append(report.Remaining, a.copiesInSnapshots(ctx, s, revisions)...)
	return report, nil
}

// emptySpool brings what the crash journal holds into the store, where it can
// be erased, and names what stays in the spool.
func (a *app) emptySpool(ctx context.Context, s *opened) []string {
	j, err := a.openJournal()
	if err != nil {
		return []string{"the crash journal, which was not searched: " + err.Error()}
	}
	keys, err := j.Keys()
	if err == nil && len(keys) > 0 {
		report, derr := a.drainInto(ctx, s)
		err = errors.Join(derr, report.Err())
	}
	if err != nil {
		return []string{"the crash journal, which could not be drained: " + err.Error()}
	}
	var remaining []string
	if keys, err = j.Keys(); err != nil { // those that are still there
		return []string{"the crash journal, which was not searched: " + err.Error()}
	}
	for _, k := range keys {
		st, err := j.Status(ctx, k, 0)
		if err != nil {
			remaining = append(remaining, fmt.Sprintf("session %s of the crash journal, which was not searched: %v", k, err))
			continue
		}
		if st.Entries > 0 {
			remaining = append(remaining, fmt.Sprintf("%d entries of session %s in the crash journal, which were not searched", st.Entries, st.SessionID))
		}
		if st.Quarantined > 0 {
			remaining = append(remaining, fmt.Sprintf("%d files in the quarantine of session %s, which were not searched", st.Quarantined, st.SessionID))
		}
	}
	return remaining
}

// leftBehind names what restores have put aside of the agent as it was before
// them: parked journal entries, and generations that were kept. Neither is
// searched, and both may hold any text.
func (a *app) leftBehind(ctx context.Context, s *opened) []string {
	var places []string
	states, err := parked(ctx, s.agent, s.config.Config.Journal, a.clock, nil)
	if err != nil {
		places = append(places, "parked entries of the crash journal, which were not looked for: "+err.Error())
	}
	for _, st := range states {
		if st.Bytes > 0 || st.Quarantined > 0 || st.Error != "" {
			places = append(places, fmt.Sprintf("entries parked with generation %d, which were not searched; amber journal drain --from-generation %[1]d", st.Generation))
		}
	}
	live, err := s.agent.Current()
	if err != nil {
		return append(places, "old generations, which were not looked for: "+err.Error())
	}
	generations, err := s.agent.Generations()
	if err != nil {
		return append(places, "old generations, which were not looked for: "+err.Error())
	}
	for _, n := range generations {
		if n < live.Generation {
			places = append(places, fmt.Sprintf("generation %d, which was kept by a restore and was not searched: gen/%[1]d of the agent's folder", n))
		}
	}
	return places
}

// copiesInNotes names the notes that hold a text of one of the revisions. The
// memory is gone by then, so a note that cannot be read is no error but a
// place that was not searched.
func copiesInNotes(ctx context.Context, notes amber.Notes, revisions []amber.Memory) []string {
	if len(revisions) == 0 {
		return nil
	}
	list, err := notes.ListNotes(ctx)
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil
	}
	if err != nil {
		return []string{"notes, which were not searched: " + err.Error()}
	}
	var names []string
	for _, n := range list {
		note, err := notes.ReadNote(ctx, n.Name)
		switch {
		case amber.KindOf(err) == amber.KindNotFound: // deleted meanwhile
		case err != nil:
			names = append(names, "note "+n.Name+", which was not searched: "+err.Error())
		case slices.ContainsFunc(revisions, func(m amber.Memory) bool {
			return strings.Contains(note.Content, strings.TrimSpace(m.Content))
		}):
			names = append(names, "note "+n.Name+" and its history in git")
		}
	}
	return names
}

// copiesInState names the documents of runtime state that hold a text of one of
// the revisions, as such or escaped in JSON. One that cannot be read is named as
// a place that was not searched.
func copiesInState(ctx context.Context, documents amber.Documents, revisions []amber.Memory) []string {
	if len(revisions) == 0 {
		return nil
	}
	list, err := documents.ListDocuments(ctx)
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil
	}
	if err != nil {
		return []string{"documents of runtime state, which were not searched: " + err.Error()}
	}
	var names []string
	for _, d := range list {
		doc, err := documents.ReadDocument(ctx, d.Name)
		switch {
		case amber.KindOf(err) == amber.KindNotFound: // deleted meanwhile
		case err != nil:
			names = append(names, "document "+d.Name+" of runtime state, which was not searched: "+err.Error())
		case slices.ContainsFunc(revisions, func(m amber.Memory) bool { return jsonHolds(doc.Document, strings.TrimSpace(m.Content)) }):
			names = append(names, "document "+d.Name+" of runtime state; amber state delete "+d.Name)
		}
	}
	return names
}

// jsonHolds tells whether a text is inside a string of a JSON document, whatever
// the strings are escaped like.
func jsonHolds(doc json.RawMessage, text string) bool {
	tokens := json.NewDecoder(bytes.NewReader(doc))
	tokens.UseNumber() // none is too large
	for {
		t, err := tokens.Token()
		if err != nil {
			return false
		}
		if s, ok := t.(string); ok && strings.Contains(s, text) {
			return true
		}
	}
}

// copiesInSnapshots names the snapshots that were taken since the memory was
// made, and counts the older ones: those hold no revision of it, but may hold
// the turn or the note that it came from. None is searched.
func (a *app) copiesInSnapshots(ctx context.Context, s *opened, revisions []amber.Memory) []string {
	if len(revisions) == 0 {
		return nil
	}
	engine, err := a.snapshots(ctx, s)
	if err != nil {
		return []string{"snapshots, which were not looked for: " + err.Error()}
	}
	var places []string
	older := int64(0)
	err = eachSnapshot(ctx, s, engine, func(m amber.SnapshotMeta) error {
		if m.Damage == "" && m.CreatedAt.Before(revisions[0].CreatedAt) {
			older++
		} else {
			places = append(places, fmt.Sprintf("snapshot %s, which was not searched", m.ID))
		}
		return nil
	})
	if older > 0 {
		places = append(places, count(older, "snapshot", "snapshots")+" from before it was made, which may hold the turn or note it came from")
	}
	if err != nil {
		places = append(places, "snapshots, which were not looked for: "+err.Error())
	}
	return places
}

func (a *app) printErased(w io.Writer, r amber.EraseReport) {
	fmt.Fprintln(w, r.ID)
	if len(r.Removed) == 0 {
		a.out.note("it was erased already")
	} else {
		fmt.Fprintf(w, "removed %s\n", oneLine(strings.Join(r.Removed, ", "), 400))
	}
	for _, place := range r.Remaining {
		fmt.Fprintf(w, "a copy remains: %s\n", oneLine(place, 400))
	}
}
