package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/journal"
)

// heldEntry is one line of journal quarantine: a file, and whose it is.
type heldEntry struct {
	Key       journal.Key     `json:"key"`
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	journal.Held
}

func (a *app) journalQuarantineCommand() *cobra.Command {
	var show, session string
	var jsonl, retry, discard, yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "quarantine",
		Short: "List what was set aside, print it, try it again or discard it",
		Long: `List what was set aside: entries that could not be stored, with the reason; bytes that
were cut off behind a crash; segments and files that are damaged. Nothing in it
is removed by itself.

With --show it prints one of them, as it is kept. With --retry entries go back into
the journal, to be drained again: a newer Amber may be able to store them. With
--discard everything that was set aside is removed for good.`,
		Example: `  amber journal quarantine
  amber journal quarantine --session 0199a3f2 --show 00000000000000000002.entry
  amber journal quarantine --retry && amber journal drain`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if show != "" && session == "" {
				return usage("--show needs --session: files of several sessions may have one name")
			}
			j, err := a.openJournal()
			if err != nil {
				return err
			}
			keys, err := chooseSessions(j, session)
			if err != nil {
				return err
			}
			if show != "" {
				return a.showHeld(j, keys, show)
			}
			items, err := heldEntries(cmd.Context(), j, keys)
			if err != nil {
				return err
			}
			switch {
			case retry && discard:
				return usage("--retry and --discard exclude each other")
			case retry:
				items, err = retryHeld(cmd.Context(), j, items)
			case discard && !dryRun:
				if err := a.confirm(yes, fmt.Sprintf("discard %d files for good", len(items))); err != nil {
					return err
				}
				err = discardHeld(cmd.Context(), j, items)
			}
			if err != nil {
				return err
			}
			return showItems(a, jsonl, amber.Page[heldEntry]{Items: items}, a.out.held)
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "only of this session: its id, or its key")
	cmd.Flags().StringVar(&show, "show", "", "print this one")
	cmd.Flags().BoolVar(&retry, "retry", false, "put entries back into the journal")
	cmd.Flags().BoolVar(&discard, "discard", false, "remove what was set aside for good")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "with --discard, only list what would be removed")
	addJSONL(cmd, &jsonl)
	return cmd
}

// chooseSessions returns the sessions that are meant by a key or an id; all of
// them for "".
func chooseSessions(j *journal.Journal, name string) ([]journal.Key, error) {
	keys, err := j.Keys()
	if err != nil || name == "" {
		return keys, err
	}
	var chosen []journal.Key
	for _, k := range keys {
		s, _ := j.Origin(k) // one that nobody can name goes by its key
		if name == string(k) || name == string(s.ID) {
			chosen = append(chosen, k)
		}
	}
	if len(chosen) == 0 {
		e := amber.Errorf(amber.KindNotFound, "find session", oneLine(name, 80), "the journal has no such session")
		e.Hint = "amber journal status"
		return nil, e
	}
	return chosen, nil
}

func heldEntries(ctx context.Context, j *journal.Journal, keys []journal.Key) ([]heldEntry, error) {
	var items []heldEntry
	for _, k := range keys {
		s, _ := j.Origin(k)
		err := j.Quarantined(ctx, k, func(h journal.Held) error {
			h.Payload = nil // a list has no room for it
			items = append(items, heldEntry{Key: k, Host: s.Host, SessionID: s.ID, Held: h})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// retryHeld puts entries back into the journal and returns those. An entry is
// in the journal again before it leaves quarantine; what the store took already
// it knows by its id.
func retryHeld(ctx context.Context, j *journal.Journal, items []heldEntry) ([]heldEntry, error) {
	var done []heldEntry
	for _, h := range items {
		s := journal.Session{Host: h.Host, ID: h.SessionID}
		if h.Seq == 0 || s.Check() != nil {
			continue // no entry, or nobody knows whose
		}
		whole, err := j.Held(h.Key, h.Name)
		if err != nil {
			return done, err
		}
		if _, err := j.Append(ctx, s, journal.Entry{Payload: whole.Payload}); err != nil {
			return done, err
		}
		if err := j.Discard(ctx, h.Key, h.Name); err != nil {
			return done, err
		}
		done = append(done, h)
	}
	return done, nil
}

func discardHeld(ctx context.Context, j *journal.Journal, items []heldEntry) error {
	for _, h := range items {
		if err := j.Discard(ctx, h.Key, h.Name); err != nil {
			return err
		}
	}
	return nil
}

// showHeld prints one file. A terminal gets it in a form it cannot act on.
func (a *app) showHeld(j *journal.Journal, keys []journal.Key, name string) error {
	if len(keys) > 1 {
		return amber.Errorf(amber.KindConflict, "find session", "", "%d hosts have a session of that id; give its key", len(keys))
	}
	h, err := j.Held(keys[0], name)
	if err != nil {
		return err
	}
	s, _ := j.Origin(keys[0])
	return a.out.show(heldEntry{Key: keys[0], Host: s.Host, SessionID: s.ID, Held: h}, func(w io.Writer) {
		if a.terminal() {
			fmt.Fprintln(w, safe(string(h.Payload)))
			return
		}
		w.Write(h.Payload) // the printer keeps the error
	})
}

func (p printer) held(w io.Writer, items []heldEntry) {
	rows := make([][]string, len(items))
	for i, h := range items {
		seq := "-"
		if h.Seq > 0 {
			seq = strconv.FormatInt(h.Seq, 10)
		}
		rows[i] = []string{string(h.SessionID), h.Name, strconv.FormatInt(h.Bytes, 10), seq, p.when(h.At), oneLine(h.Reason, 80)}
	}
	table(w, []string{"SESSION", "NAME", "BYTES", "SEQ", "GIVEN UP", "REASON"}, rows)
}
