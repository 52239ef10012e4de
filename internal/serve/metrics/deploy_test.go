package metrics_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/amber-memory/amber/internal/test/must"
)

var (
	// selector is a metric in an expression, with its matchers and its range.
	selector = regexp.MustCompile(`\b((?:amber|go|process)_[a-z_]+|up)(?:\{([^}]*)\})?(\[[^\]]+\])?`)
	matcher  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
	grouping = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
	mention  = regexp.MustCompile(`\$labels\.([a-z_]+)`)
	suffix   = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// fields splits a list of labels.
func fields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// checkExpression looks whether an expression asks for what there is, and
// returns the labels of its result.
func checkExpression(t *testing.T, where, expr string, doc map[string]entry) []string {
	t.Helper()
	labels := []string{"instance", "job"} // those that Prometheus adds
	for _, m := range selector.FindAllStringSubmatch(expr, -1) {
		name, matchers, over := m[1], m[2], m[3]
		own := []string{"instance", "job"}
		if strings.HasPrefix(name, "amber_") {
			e, ok := doc[name]
			if base := suffix.ReplaceAllString(name, ""); !ok && base != name {
				e, ok = doc[base]
				ok = ok && e.kind == "histogram"
				own = append(own, "le")
			}
			if !ok {
				t.Errorf("%s: there is no metric %s", where, name)
				continue
			}
			if (over == "") != (e.kind == "gauge") {
				t.Errorf("%s: %s is a %s, and is asked for with range %q", where, name, e.kind, over)
			}
			own = append(own, e.labels...)
		}
		for _, l := range matcher.FindAllStringSubmatch(matchers, -1) {
			must.Equal(t, where+": "+name+" has the label "+l[1], slices.Contains(own, l[1]), true)
		}
		labels = append(labels, own...)
	}
	result := labels
	for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
		for _, l := range fields(g[1]) {
			must.Equal(t, where+": something has the label "+l, slices.Contains(labels, l), true)
		}
		if strings.HasPrefix(g[0], "by") {
			result = fields(g[1])
		}
	}
	return result
}

func TestTheDashboardShowsWhatThereIs(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../../docs/deploy/grafana-amber.json"))(t)
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			Type    string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
	}
	must.Do(t, json.Unmarshal(text, &board))
	doc, ids := documented(t), map[int]bool{}
	legend := regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
	for _, p := range board.Panels {
		must.Equal(t, fmt.Sprintf("panel %d is there twice", p.ID), ids[p.ID], false)
		ids[p.ID] = true
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			labels := checkExpression(t, p.Title, target.Expr, doc)
			for _, l := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				must.Equal(t, target.Expr+" has the label "+l[1]+" of the legend", slices.Contains(labels, l[1]), true)
			}
		}
	}
	for _, v := range board.Templating.List {
		if v.Type != "query" {
			continue
		}
		for _, m := range selector.FindAllStringSubmatch(v.Query, -1) {
			if e, ok := doc[m[1]]; !ok || !slices.Contains(e.labels, v.Name) {
				t.Errorf("variable %s asks for %s", v.Name, v.Query)
			}
		}
	}
	if len(board.Panels) == 0 {
		t.Error("there are no panels")
	}
}

// growth finds what has grown at all.
var growth = regexp.MustCompile(`increase\((\w+)[^)]*\)+ > 0`)

func TestAlertsWatchWhatThereIs(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../../docs/deploy/alerts.yaml"))(t)
	var file struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Expr        string            `yaml:"expr"`
				For         string            `yaml:"for"`
				Labels      map[string]string `yaml:"labels"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	must.Do(t, yaml.UnmarshalWithOptions(text, &file, yaml.Strict()))
	doc, names := documented(t), map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if names[r.Alert] || r.Alert == "" {
				t.Errorf("alert %q is there twice, or has no name", r.Alert)
			}
			names[r.Alert] = true
			labels := checkExpression(t, r.Alert, r.Expr, doc)
			for _, m := range growth.FindAllStringSubmatch(r.Expr, -1) {
				// A series with labels is not there before its first event, in whose value increase sees no growth. Where a rule asks for more
				// than growth, what it waits for goes on.
				if len(doc[m[1]].labels) > 0 && !strings.Contains(r.Expr, " and ") && !strings.Contains(r.Expr, "unless last_over_time("+m[1]) {
					t.Errorf("%s does not see the first value of %s", r.Alert, m[1])
				}
			}
			if s := r.Labels["severity"]; s != "critical" && s != "warning" {
				t.Errorf("%s: severity %q", r.Alert, s)
			}
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s says nothing", r.Alert)
			}
			for _, m := range mention.FindAllStringSubmatch(r.Annotations["description"], -1) {
				must.Equal(t, r.Expr+" has the label "+m[1]+" of "+r.Alert, slices.Contains(labels, m[1]), true)
			}
		}
	}
	if len(names) == 0 {
		t.Error("there are no alerts")
	}
}
