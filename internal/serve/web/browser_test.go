package web_test

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/amber-memory/amber/internal/test/must"
)

// The names under which systems install a browser that can be driven.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome"}

// findBrowser skips the test where there is no browser, unless AMBER_BROWSER=required.
func findBrowser(t testing.TB) string {
	t.Helper()
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("AMBER_BROWSER") == "required" {
		t.Fatalf("AMBER_BROWSER=required, and there is none of %s", strings.Join(browserNames, ", "))
	}
	t.Skipf("there is no browser: none of %s is installed", strings.Join(browserNames, ", "))
	return ""
}

// chromium is a browser that lives as long as the test.
type chromium struct {
	t   testing.TB
	ctx context.Context
}

// openBrowser starts a browser with a profile of its own.
func openBrowser(t testing.TB) *chromium {
	t.Helper()
	path := findBrowser(t)
	// Not below the folder of the test: processes of the browser write for a moment after its end.
	profile := must.Get(os.MkdirTemp("", "amber-browser-"))(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("headless", "new"), chromedp.Flag("lang", "en-US"), chromedp.Env("TZ=UTC", "LANGUAGE=en"))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		cancel()
		stop()
		for range 100 {
			if os.RemoveAll(profile) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond) // its processes give no sign when they have ended
		}
		t.Errorf("%s cannot be removed", profile)
	})
	must.Do(t, chromedp.Do(ctx))
	return &chromium{t: t, ctx: ctx}
}

// tab is a tab of a browser, in a session of its own.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu    sync.Mutex
	said  []string // messages of the console, exceptions and entries of the log
	asked []string // addresses that were asked for
	heard *sync.Cond
}

// patience is how long a page may take; a busy machine takes long.
const patience = 60 * time.Second

// tab opens one with cookies of its own.
func (c *chromium) tab(t testing.TB) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	b.heard = sync.NewCond(&b.mu)
	must.Do(t, chromedp.Do(ctx))
	must.Get(chromedp.Call(ctx, network.Enable, network.EnableParams{}))(t)
	must.Get(chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))(t)
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.note(&b.said, fmt.Sprintf("%s (%s) %s", m, m.Source, m.URL))
		}
	}()
	requests := chromedp.Events(ctx, network.RequestWillBeSent)
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			b.note(&b.asked, e.Request.URL)
		}
	}()
	return b
}

func (b *tab) note(list *[]string, line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, line)
	b.heard.Broadcast()
}

// take returns the lines of the console and the requests since the last call. The browser reports events in their
// order, so take sends a message of its own and waits for it: all events before it have arrived then.
func (b *tab) take() (said, asked []string) {
	b.t.Helper()
	mark := "suite " + time.Now().Format(time.RFC3339Nano)
	run(b, chromedp.Evaluate[chromedp.Void](`console.debug(`+quote(mark)+`); fetch("/ui/-/static/icon.svg?"+encodeURIComponent(`+quote(mark)+`)).then(()=>1)`, chromedp.EvalAwaitPromise))
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		said, okSaid := before(b.said, mark)
		asked, okAsked := before(b.asked, "icon.svg?suite")
		if okSaid && okAsked {
			b.said, b.asked = nil, nil
			return said, asked
		}
		b.heard.Wait()
	}
}

// before returns the lines before the one with a mark.
func before(lines []string, mark string) ([]string, bool) {
	for i, line := range lines {
		if strings.Contains(line, mark) {
			return lines[:i], true
		}
	}
	return nil, false
}

func quote(s string) string { return fmt.Sprintf("%q", s) }

// run does something in a tab.
func run[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
	return v
}

// eval is the value of an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// open goes to an address and returns the status and the headers of the answer.
func (b *tab) open(address string) (int, http.Header) {
	b.t.Helper()
	resp := run(b, chromedp.NavigateResponse(address))
	for range 2 {
		if resp == nil { // the page that was there went on loading
			resp = run(b, chromedp.NavigateResponse(address))
		}
	}
	if resp == nil {
		b.t.Fatalf("%s: no answer", address)
	}
	h := http.Header{}
	for k, v := range resp.Headers {
		h.Set(k, fmt.Sprint(v))
	}
	return int(resp.Status), h
}

// leads does something that leads to another page, and returns when that one is there, after redirects.
func (b *tab) leads(a chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	eval[chromedp.Void](b, `window.before = true`)
	run(b, a)
	b.await(`window.before === undefined && document.readyState === "complete"`)
}

// await waits until an expression is true, also in the page that follows.
func (b *tab) await(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); ok && err == nil {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("never true: %s", expression)
		}
	}
}

// press presses keys one after the other, as a keyboard does: a page that takes a key for itself keeps it from
// the field.
func press(keys string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			down, up := *events[0], *events[len(events)-1]
			if len(events) == 3 {
				down.Type, down.Text, down.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, events[1].Text, events[1].UnmodifiedText
			}
			for _, e := range []input.DispatchKeyEventParams{down, up} {
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, e); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// keys presses keys.
func (b *tab) keys(keys string) { b.t.Helper(); run(b, press(keys)) }

// look is the width and the colours in which the suite looks at a page.
type look struct {
	width int64
	dark  bool
}

func (l look) String() string {
	if l.dark {
		return fmt.Sprintf("dark %d", l.width)
	}
	return fmt.Sprintf("light %d", l.width)
}

// looks are those that every screen is checked in.
var looks = []look{{1280, false}, {1280, true}, {320, true}, {320, false}}

// look sets the width and the colours.
func (b *tab) look(l look) {
	b.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	run(b, chromedp.EmulateViewport(l.width, 800))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
}

func call[P, R any](b *tab, c cdp.Command[P, R], p P) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return must.Get(chromedp.Call(ctx, c, p))(b.t)
}
