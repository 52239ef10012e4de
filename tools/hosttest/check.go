package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// check is the outcome of one check.
type check struct {
	name string
	err  error
	skip string // why there is nothing to check
}

// checks sets the host up, runs it, looks at what is stored and takes Amber out
// again.
func (r *run) checks(ctx context.Context) (list []check) {
	add := func(name string, err error) { list = append(list, check{name: name, err: err}) }
	if _, err := r.amber(ctx, "remember", "--scope", "global", memoryText); err != nil {
		add("remembered", err)
		return list
	}
	before := r.settings()
	if _, err := r.amber(ctx, "setup", r.host.name); err != nil {
		add("set up", err)
		return list
	}
	installed := r.settings()
	add("ran", errors.Join(r.ask(ctx, 0), r.usedModel()))
	add("hooks ran", r.hooksRan(ctx))
	add("turns", r.turnsWhole(ctx, 1))
	add("tool", r.toolKept(ctx))
	if why := r.host.once; why != "" {
		list = append(list, check{name: "session taken up", skip: why})
	} else {
		add("session taken up", r.ask(ctx, 1))
		add("all turns", r.turnsWhole(ctx, 2))
	}
	// A hook answers without context rather than late, so a busy machine may have
	// it only the second time.
	add("context", r.contextArrived())
	add("own hooks", r.ownHooks())
	add("MCP server", r.serverListed(ctx))
	add("uninstalled", r.uninstall(ctx, before, installed))
	return list
}

// ask runs the host with a line of the script, in the session that is there, and
// drains the journal.
func (r *run) ask(ctx context.Context, n int) error {
	session := ""
	if n > 0 {
		session = r.session(ctx)
	}
	_, err := r.agent(ctx, r.host.args(r, script[n].prompt, session)...)
	_, drained := r.amber(ctx, "journal", "drain")
	return errors.Join(err, drained)
}

// usedModel: a run that never reached the model proves nothing.
func (r *run) usedModel() error {
	requests, calls := r.model.asked()
	if requests == 0 || calls == 0 {
		return fmt.Errorf("the model was asked %d times and used %d tools", requests, calls)
	}
	return nil
}

// hooksRan: there is a session of the host.
func (r *run) hooksRan(ctx context.Context) error {
	var page struct {
		Items []struct {
			ID, Binding, Directory string
		}
	}
	if err := r.read(ctx, &page, "session", "list", "--json"); err != nil {
		return err
	}
	if len(page.Items) != 1 || page.Items[0].Binding != r.host.name {
		return fmt.Errorf("sessions: %+v", page.Items)
	}
	return nil
}

// contextArrived: what Amber remembers was before the model, within the
// delimiters.
func (r *run) contextArrived() error {
	if !r.model.heard("<amber-memory ", memoryText, "</amber-memory ") {
		return errors.New("no request to the model has the memory in it")
	}
	return nil
}

type turn struct{ Role, Content string }

// turnsWhole: what was asked and what was answered are stored, each once, and
// nothing of Amber's own is in them.
func (r *run) turnsWhole(ctx context.Context, lines int) error {
	var page struct{ Items []turn }
	if err := r.read(ctx, &page, "turn", "list", "--session", r.session(ctx), "--json"); err != nil {
		return err
	}
	var want []turn
	for _, l := range script[:lines] {
		want = append(want, turn{"user", l.prompt}, turn{"assistant", l.answer})
	}
	if fmt.Sprint(page.Items) != fmt.Sprint(want) {
		return fmt.Errorf("turns: %+v", page.Items)
	}
	return nil
}

// toolKept: the command that the model ran is among what was done.
func (r *run) toolKept(ctx context.Context) error {
	out, err := r.amber(ctx, "session", "activity", r.session(ctx), "--json")
	if err == nil && !strings.Contains(out, toolOutput) {
		err = errors.New("the command is not in what was done: " + lastLines(out, 3))
	}
	return err
}

// session is the id of the one session there is.
func (r *run) session(ctx context.Context) string {
	var page struct{ Items []struct{ ID string } }
	if r.read(ctx, &page, "session", "list", "--json") != nil || len(page.Items) == 0 {
		return "none"
	}
	return page.Items[0].ID
}

// read runs a command of Amber that prints JSON.
func (r *run) read(ctx context.Context, v any, args ...string) error {
	out, err := r.amber(ctx, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), v); err != nil {
		return fmt.Errorf("amber %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// ownHooks: the hook of the user's own has run as well.
func (r *run) ownHooks() error {
	found, err := filepath.Glob(filepath.Join(r.dir, "user-hook-*"))
	if err == nil && len(found) == 0 {
		err = errors.New("the hook that the user had before did not run")
	}
	return err
}

// serverListed: the host knows Amber's MCP server.
func (r *run) serverListed(ctx context.Context) error {
	out, err := r.agent(ctx, r.host.servers...)
	if err == nil && !strings.Contains(out, "amber") {
		err = errors.New("not listed: " + lastLines(out, 3))
	}
	return err
}

// settings returns the files in the home of the user that setup could touch.
func (r *run) settings() map[string]string {
	files := map[string]string{}
	_ = filepath.WalkDir(r.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if text, err := os.ReadFile(path); err == nil && len(text) < 1<<20 {
			files[path] = string(text)
		}
		return nil
	})
	return files
}
