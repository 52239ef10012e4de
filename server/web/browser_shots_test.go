package web_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"

	"github.com/amber-memory/amber/internal/must"
)

var shots = flag.String("shots", "", "folder for a picture of every screen that the browser suite looks at")

// shoot takes a picture of the whole page, if pictures are wanted.
func (b *tab) shoot(name string, l look) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", r) {
			return r
		}
		return '_'
	}, strings.ReplaceAll(name, "/ui/", ""))
	must.Do(b.t, os.MkdirAll(*shots, 0o755))
	picture := run(b, chromedp.FullScreenshot(100))
	must.Do(b.t, os.WriteFile(filepath.Join(*shots, name[:min(len(name), 100)]+"-"+strings.ReplaceAll(l.String(), " ", "-")+".png"), picture, 0o644))
}
