package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/serve/daemon"
)

// firstVisit is how long a server that was started for the page waits for the first visitor.
const firstVisit = 10 * time.Minute

// uiFlags say how the page is opened.
type uiFlags struct {
	noBrowser bool
	idle      time.Duration
}

func (a *app) uiCommand() *cobra.Command {
	var f uiFlags
	cmd := cli.Verb("ui", func(cmd *cobra.Command, _ []string) error { return a.ui(cmd, f) })
	fl := cmd.Flags()
	fl.BoolVar(&f.noBrowser, "no-browser", false, "print the address and open no browser")
	cli.SpanVar(fl, &f.idle, "idle", time.Minute, "how long after the last tab was closed the server ends")
	return cmd
}

// Opened is the JSON of a page that is opened.
type Opened struct {
	URL   string `json:"url"`   // of the page
	Home  string `json:"home"`  // the folder
	Token bool   `json:"token"` // the page asks for one
	Serve bool   `json:"serve"` // this command serves it
}

// ui opens the page of the server of the home, or serves the home until no visitor looks any more.
func (a *app) ui(cmd *cobra.Command, f uiFlags) error {
	if f.idle <= 0 {
		return cli.Usage("--idle is %s, want more than nothing", f.idle)
	}
	dir, err := a.HomeDir()
	if err != nil {
		return err
	}
	at, running, err := daemon.Find(cmd.Context(), dir)
	switch {
	case err != nil:
		return err
	case running && at.Page != "":
		return a.openPage(cmd.Context(), f, at, Opened{Home: dir})
	}
	return a.servePage(cmd, f)
}

// servePage serves the home for as long as a visitor looks at the page.
func (a *app) servePage(cmd *cobra.Command, f uiFlags) error {
	s, o, err := a.newServing(cmd, serveFlags{tools: "default", grace: 5 * time.Second, logLevel: "warn"})
	if err != nil {
		return err
	}
	s.unsafe = true // Amber warns of it; a page for one person is no server
	o.Listen, o.TLS, o.AnyPort, o.Beat = localOnly(o.Listen), nil, true, true
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	return s.run(ctx, o, func(d *daemon.Daemon, at daemon.Where) error {
		go func() {
			defer cancel()
			if a.untilNobodyLooks(ctx, f.idle, d.Visitors) {
				a.Out.Note("nobody looks at the page any more: the server ends")
			}
		}()
		return a.openPage(ctx, f, at, Opened{Home: s.home.Dir(), Serve: true})
	})
}

// localOnly is an address on this machine: the configured one where that is there, else any free port.
func localOnly(listen string) string {
	if a, err := netip.ParseAddrPort(listen); err == nil && a.Addr().IsLoopback() {
		return listen
	}
	if host, _, err := net.SplitHostPort(listen); err == nil && host == "localhost" {
		return listen
	}
	return "127.0.0.1:0"
}

// openPage prints where the page is and opens it.
func (a *app) openPage(ctx context.Context, f uiFlags, at daemon.Where, o Opened) error {
	var err error
	if o.URL, err = a.pageOf(at.Page); err != nil {
		return err
	}
	if o.Token, err = a.hasTokens(ctx); err != nil {
		return err
	}
	if err := a.Out.Show(o, func(w io.Writer) { fmt.Fprintln(w, o.URL) }); err != nil {
		return err
	}
	if o.Token {
		a.Out.Note(`the page asks for a token: "amber token create NAME" makes one`)
	}
	if o.Serve {
		a.Out.Note("serving %s until the page is closed; Ctrl-C ends it", o.Home)
	}
	if !f.noBrowser {
		a.openBrowser(o.URL)
	}
	return nil
}

// pageOf is the address of the agent's page; without a named agent the page chooses.
func (a *app) pageOf(page string) (string, error) {
	if a.Global.Tenant == string(amber.DefaultTenant) && a.Global.Agent == string(amber.DefaultAgent) {
		return page, nil
	}
	return url.JoinPath(page, url.PathEscape(a.Global.Tenant), url.PathEscape(a.Global.Agent))
}

func (a *app) hasTokens(ctx context.Context) (has bool, err error) {
	db, err := a.LookAtHomeDB(ctx)
	if err != nil || db == nil {
		return false, err
	}
	defer func() { _ = db.Close() }() // nothing was written
	return db.HasTokens(ctx)
}

// untilNobodyLooks returns true once no visitor has looked for as long as idle, or no visitor came at all;
// false when ctx ends before. Visitors is as that of the page.
func (a *app) untilNobodyLooks(ctx context.Context, idle time.Duration, visitors func() (int, time.Time)) bool {
	after := a.After
	if after == nil {
		after = time.After
	}
	begun := a.Clock()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-after(idle / 4):
		}
		now, last := visitors()
		since, patience := last, idle
		if last.IsZero() {
			since, patience = begun, max(idle, firstVisit)
		}
		if now == 0 && a.Clock().Sub(since) >= patience {
			return true
		}
	}
}
