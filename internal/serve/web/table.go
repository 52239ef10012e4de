package web

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/linediff"
	"github.com/amber-memory/amber/internal/base/words"
)

// table lists every route.
func (p *Page) table() {
	for _, add := range []func(*Page){
		startRoutes,
		loginRoutes,
		beatRoutes,
		recallRoutes,
		memoryRoutes,
		snapshotRoutes,
		jobRoutes,
		timelineRoutes,
		sessionRoutes,
		noteRoutes,
		graphRoutes,
		reviewRoutes, conflictRoutes,
		quarantineRoutes,
		workRoutes,
		auditRoutes,
		tokenRoutes,
		healthRoutes,
		importRoutes,
	} {
		add(p)
	}
	p.handle(Root+"/", false, func(v *visit) error {
		return amber.Errorf(amber.KindNotFound, "find screen", "", "there is no screen at %q", clip.Marked(v.r.URL.Path, 80))
	})
}

// functions are what templates call.
func (p *Page) functions() template.FuncMap {
	return template.FuncMap{
		"asset": p.assetURL, "marked": marked, "row": row, "chip": chip, "first": first, "rest": rest, "when": when, "size": size, "oneline": clip.Line, "brief": brief,
		"navigation": func() any { return navigation },
		"number":     func(f float64) string { return fmt.Sprintf("%.2f", f) },
		"join":       strings.Join,
		"state":      words.State,
		"host":       words.Host,
		"byline":     byline,
		"asker":      asker,
		"lower":      strings.ToLower,
		"title":      func(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] },
		"shorten":    func(s string) long { return shorten(s, shownWhole) },
		"plural":     func(n any, one, many string) string { return plural(n, one, many) },
		"sign": func(o linediff.Op) string {
			return map[linediff.Op]string{linediff.Same: " ", linediff.Added: "+", linediff.Removed: "−"}[o]
		},
		"diffrows": diffRows,
		"dict":     dict,
		"query":    addQuery,
		"size64":   func(n int) string { return size(int64(n)) },
		"str":      func(v any) string { return fmt.Sprint(v) },
		"opword":   opWord,
		"slice12":  func(s string) string { return s[:min(12, len(s))] },
	}
}

func plural(n any, one, many string) string {
	switch n := n.(type) {
	case int:
		return words.Count(n, one, many)
	case int64:
		return words.Count(n, one, many)
	}
	return fmt.Sprint(n, " ", many)
}

// dict makes arguments of a template of names and values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict has %d arguments, want pairs", len(pairs))
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m, nil
}
