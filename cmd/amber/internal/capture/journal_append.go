package capture

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// GenericHost is the host of events that no agent host reported.
const GenericHost = "generic"

// appended is the JSON of journal append.
type appended struct {
	SessionID amber.SessionID `json:"session_id"`
	Key       journal.Key     `json:"key"`
	Seq       int64           `json:"seq"`
}

func (a *app) journalAppendCommand() *cobra.Command {
	var host, session, kind string
	cmd := cli.Verb("append", func(cmd *cobra.Command, args []string) error {
		text, err := a.Text(args[0], journal.MaxPayload)
		if err != nil {
			return err
		}
		ev, err := a.genericEvent(cmd.Context(), host, session, kind, text)
		if err != nil {
			return err
		}
		payload, err := json.Marshal(ev)
		if err != nil {
			return &amber.Error{Op: "append", Kind: amber.KindInternal, Err: err}
		}
		j, err := a.openJournal()
		if err != nil {
			return err
		}
		s := journal.Session{Host: ev.Host, ID: ev.SessionID}
		seq, err := j.Append(cmd.Context(), s, journal.Entry{Payload: payload})
		if err != nil {
			return err
		}
		done := appended{SessionID: s.ID, Key: s.Key(), Seq: seq}
		return a.Out.Show(done, func(w io.Writer) { fmt.Fprintf(w, "%s %d\n", cli.Flat(string(done.SessionID)), done.Seq) })
	})
	cmd.Flags().StringVar(&host, "host", GenericHost, "the agent host that the session belongs to")
	cmd.Flags().StringVar(&session, "session", "", "the session")
	cmd.Flags().StringVar(&kind, "type", "", "what happened")
	return cmd
}

// genericEvent is an event that a person or a script appends. It is always a new one.
func (a *app) genericEvent(ctx context.Context, host, session, kind, text string) (journal.HostEvent, error) {
	ev := journal.HostEvent{Schema: journal.HostEventSchema, Native: true, ObservedAt: amber.At(a.Clock())}
	switch {
	case session == "":
		return ev, cli.Usage("amber journal append needs --session")
	case kind == "":
		return ev, cli.Usage("amber journal append needs --type")
	}
	if err := amber.CheckID("host", host); err != nil {
		return ev, err
	}
	if err := amber.CheckID("session id", session); err != nil {
		return ev, err
	}
	if err := amber.CheckID("type", kind); err != nil {
		return ev, err
	}
	var id [16]byte
	if _, err := io.ReadFull(a.Random, id[:]); err != nil {
		return ev, &amber.Error{Op: "make event id", Kind: amber.KindInternal, Err: err}
	}
	ev.EventID = hex.EncodeToString(id[:])
	var removed redact.Report
	loaded, err := a.LoadConfig()
	if err != nil {
		return ev, err
	}
	redactor := loaded.Config.Redactor()
	clean := func(s string) string {
		s, r := redactor.String(s)
		removed.Add(r)
		return s
	}
	ev.Host = journal.SafeID(redactor, host)
	ev.SessionID = amber.SessionID(journal.SafeID(redactor, session))
	if dir, err := a.Directory(); err == nil {
		project := clean(a.Project(ctx, dir).ID)
		ev.Project = strings.ToValidUTF8(project[:min(len(project), amber.MaxIDBytes)], "")
		ev.Directory, _ = redactor.String(dir)
	}
	say(&ev, clean(kind), clean(text))
	ev.Redactions = removed.Counts
	return ev, nil
}

// say puts a text where an event of its kind has it.
func say(ev *journal.HostEvent, kind, text string) {
	ev.Kind = journal.EventKind(kind)
	if !slices.Contains(eventKinds(), ev.Kind) {
		ev.Kind, ev.NativeEvent = journal.HostOther, kind
	}
	switch ev.Kind {
	case journal.HostPrompt:
		ev.Prompt = text
	case journal.HostTurnEnd, journal.HostSubagentEnd:
		ev.Answer = text
	default:
		ev.Message = text
	}
}

// eventKinds are the kinds an event may be given by name.
func eventKinds() []journal.EventKind {
	return []journal.EventKind{
		journal.HostSessionStart, journal.HostSessionEnd, journal.HostPrompt, journal.HostToolBefore, journal.HostToolAfter,
		journal.HostTurnEnd, journal.HostCompactBefore, journal.HostCompactAfter, journal.HostSubagentStart,
		journal.HostSubagentEnd, journal.HostTaskChange, journal.HostError, journal.HostOther,
	}
}
