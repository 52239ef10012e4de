package analyze_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestBorders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"dbPoolMaxConns":      {"db", "pool", "max", "conns"},
		"XMLHttpRequest":      {"xml", "http", "request"},
		"HTTP409":             {"http", "409"},
		"v20":                 {"v", "20"},
		"DépôtLocal":          {"depot", "local"},
		"plain":               nil,
		"Plain":               nil,
		"ABC":                 nil,
		"parseConfig2Version": {"parse", "config", "2", "version"},
	} {
		must.Equal(t, text, analyze.Borders(text)[analyze.Fold(text)], want)
	}
}

func TestEachTogether(t *testing.T) {
	t.Parallel()
	var got []string
	for _, one := range analyze.EachTogether("where is find by email used") {
		got = append(got, one.Word)
	}
	must.Equal(t, "together", got, []string{"findbyemail", "findbyemailused", "emailused"})
	must.Equal(t, "of", analyze.EachTogether("find by email")[0].Of, []string{"find", "email"})
	must.Equal(t, "none", len(analyze.EachTogether("the a of")), 0)
}

func TestNamed(t *testing.T) {
	t.Parallel()
	named := analyze.Named("Why does db_pool in conf.d/proxy.conf, #482, take e1101 and maxDelay at the end. Or not?")
	for w, want := range map[string]bool{
		"db": true, "pool": true, "conf": true, "proxy": true, "482": true, "e1101": true, "maxdelay": true, "end": false, "why": false, "not": false, "d": false,
	} {
		must.Equal(t, w, named[w], want)
	}
}
