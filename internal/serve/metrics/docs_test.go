package metrics_test

import (
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/test/must"
)

// entry is a line of the tables in the document.
type entry struct {
	kind   string
	labels []string // sorted
}

// documented returns what the document tells, by name of the metric.
func documented(t *testing.T) map[string]entry {
	t.Helper()
	text := must.Get(os.ReadFile("../../../docs/metrics.md"))(t)
	quoted := regexp.MustCompile("`([a-z_]+)`")
	out := map[string]entry{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 2 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`amber_") {
			continue
		}
		if len(cells) != 7 {
			t.Fatalf("%d cells: %s", len(cells)-2, line)
		}
		name := strings.Trim(strings.TrimSpace(cells[1]), "`")
		if _, twice := out[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		e := entry{kind: strings.TrimSpace(cells[2]), labels: []string{}}
		for _, m := range quoted.FindAllStringSubmatch(cells[3], -1) {
			e.labels = append(e.labels, m[1])
		}
		slices.Sort(e.labels)
		for i, what := range []string{"meaning", "when to worry"} {
			if strings.TrimSpace(cells[4+i]) == "" {
				t.Errorf("%s has no %s", name, what)
			}
		}
		out[name] = e
	}
	return out
}

// registered returns the labels of every metric there can be, by name.
func registered(t *testing.T) map[string][]string {
	t.Helper()
	ch := make(chan *prometheus.Desc)
	go func() {
		defer close(ch)
		metrics.RegistryOf(newMetrics(t)).Describe(ch)
	}()
	shape := regexp.MustCompile(`^Desc\{fqName: "([a-z0-9_]+)",.* variableLabels: \{([^}]*)\}\}$`)
	out := map[string][]string{}
	for d := range ch {
		m := shape.FindStringSubmatch(d.String())
		switch {
		case m == nil:
			t.Errorf("%s has an unknown shape", d)
		case strings.HasPrefix(m[1], "amber_"):
			labels := slices.DeleteFunc(strings.Split(m[2], ","), func(s string) bool { return s == "" })
			slices.Sort(labels)
			out[m[1]] = append([]string{}, labels...)
		case !strings.HasPrefix(m[1], "go_") && !strings.HasPrefix(m[1], "process_"):
			t.Errorf("metric %s is neither ours nor one of every program", m[1])
		}
	}
	return out
}

func TestTheDocumentTellsOfEveryMetric(t *testing.T) {
	t.Parallel()
	told := map[string][]string{}
	for name, e := range documented(t) {
		told[name] = e.labels
	}
	must.Equal(t, "the metrics there are, and those of docs/metrics.md", told, registered(t))
}

func TestEveryMetricMoves(t *testing.T) {
	t.Parallel()
	doc, all := documented(t), movers()
	all["amber_build_info"] = mover{
		func(*testing.T, *metrics.Metrics) {},
		[]string{`amber_build_info{commit="",go_version="` + runtime.Version() + `",version="v1.2.3"} 1`},
	}
	all["amber_look_duration_seconds"] = mover{looksSlowly, nil}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, ok := doc[name]; !ok {
			t.Errorf("docs/metrics.md does not tell of %s", name)
		}
	}
	for name, e := range doc {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mv, ok := all[name]
			if !ok {
				t.Fatal("nothing moves it")
			}
			sample := name
			if e.kind == "histogram" {
				sample += "_count"
			}
			m := newMetrics(t)
			mv.move(t, m)
			if mv.want != nil {
				must.Equal(t, "", lines(t, m, sample), mv.want)
			}
			body, _ := scrape(t, m, everybody)
			must.Says(t, "type", body, "# TYPE "+name+" "+e.kind+"\n")
		})
	}
}

// looksSlowly looks with a clock of its own.
func looksSlowly(t *testing.T, _ *metrics.Metrics) {
	at := start
	m := metrics.New(metrics.Options{Clock: func() time.Time { at = at.Add(time.Second); return at }})
	looks(t, m)
	must.Equal(t, "", lines(t, m, "amber_look_duration_seconds"), []string{"amber_look_duration_seconds 1"})
}

func TestDurationsAreMeasuredWithTheClock(t *testing.T) {
	t.Parallel()
	at := start
	m := metrics.New(metrics.Options{Clock: func() time.Time { at = at.Add(2 * time.Second); return at }})
	writes(t, m)
	want := []string{
		`amber_operation_duration_seconds_sum{layer="long_term",operation="get"} 2`,
		`amber_operation_duration_seconds_sum{layer="long_term",operation="list"} 2`,
		`amber_operation_duration_seconds_sum{layer="long_term",operation="write"} 2`,
	}
	must.Equal(t, "", lines(t, m, "amber_operation_duration_seconds_sum"), want)
}
