//go:build linux

package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/cmd/amber/internal/measure"
	"github.com/amber-memory/amber/internal/recall/embed"
	"github.com/amber-memory/amber/internal/recall/eval"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// setsVariable names sets of memories and questions, as PATH names folders.
const setsVariable = "AMBER_OPENVIKING_SETS"

// modelled starts a server that has the built-in model as its embedder, a real one where there is
// one, and configures it. It returns the keys of a configuration that reach it, and its folder.
func (s *setting) modelled() (url, workspace string, keys []string) {
	model := must.Get(embed.Builtin())(s)
	embedder := ovfake.Embedder{Dimensions: model.Dim, Model: func(text string) []float32 {
		return must.Get(model.Embed(s.Context(), []string{text}, false))(s)[0]
	}}
	venv := os.Getenv("AMBER_OPENVIKING")
	if venv == "" {
		workspace := s.path("workspace")
		must.Do(s, os.Mkdir(workspace, 0o700))
		return s.viking(ovfake.Options{Mode: ovfake.ModeDev, Workspace: workspace, Embedder: embedder}).Start(), workspace, []string{"mode: dev"}
	}
	stub := httptest.NewServer(&ovfake.Stub{Embedder: embedder})
	s.Cleanup(stub.Close)
	server := must.Get(ovtest.Start(s.Context(), ovtest.Setup{Venv: venv, Dir: s.TempDir(), Embedder: stub.URL, Dimensions: model.Dim}))(s)
	s.Cleanup(server.Stop)
	s.set("AMBER_MEMORY__BACKEND", "openviking")
	s.set(vikingVariable("url"), server.URL)
	made := told[care.Provisioned](s, "index", "provision", "--root-key-file", s.file("root.key", server.RootKey))
	return server.URL, server.Workspace, []string{"key_file: " + made.KeyFile}
}

// calibrated stores the memories of a set and returns the threshold that calibration advises.
func (s *setting) calibrated(set string) openviking.Calibration {
	r := must.Get(eval.Open(set))(s)
	defer r.Close()
	for _, m := range must.Get(r.Next())(s).Memories {
		s.does("remember", "--title", m.Title, "--kind", string(m.Kind), "--", m.Content)
	}
	s.does("index", "sync")
	return told[openviking.Calibration](s, "index", "calibrate")
}

// With a server beside it, a store that knows meaning itself answers no worse, and one that knows
// words alone much better.
func TestQualityBesideOpenViking(t *testing.T) {
	sets := filepath.SplitList(os.Getenv(setsVariable))
	if len(sets) == 0 {
		fmt.Println("=== NOT RUN: " + t.Name() + " needs sets of questions; " + setsVariable + " names them")
		t.Skip("no sets")
	}
	s := newSetting(t, false)
	url, workspace, keys := s.modelled()
	c := s.calibrated(sets[0])
	fmt.Printf("calibration: %+v\n", c)
	keys = append(keys, fmt.Sprintf("min_score: %.2f", c.MinScore))
	behind, rrf := s.evalConfigFile("behind.yaml", url, keys...), s.evalConfigFile("rrf.yaml", url, append(keys, "fusion: rrf")...)
	all := map[string]measure.RecallEvaluation{}
	for _, model := range []string{measure.ModelBuiltin, measure.ModelNone} {
		for name, config := range map[string][]string{"alone": nil, "beside": {"--config", behind}, "rrf": {"--config", rrf}} {
			e := told[measure.RecallEvaluation](s, append(append([]string{"eval", "recall", "--model", model}, config...), sets...)...)
			for _, r := range e.Sets {
				must.Hold(t, r.Degraded == 0, "%s: %d answers are degraded: %s", r.Set, r.Degraded, r.DegradedWhy)
			}
			all[model+" "+name] = e
		}
	}
	must.Equal(t, "files of the agent that differ", s.exit("index", "verify", "--deep"), "exit 0")
	for path := range filesIn(t, filepath.Join(workspace, "viking")) {
		must.Hold(t, !strings.Contains(path, measure.Prefix), "an evaluation left %s", path)
	}
	for i := range sets {
		for _, model := range []string{measure.ModelBuiltin, measure.ModelNone} {
			alone, beside := all[model+" alone"].Sets[i], all[model+" beside"].Sets[i]
			for _, name := range []string{"alone", "beside", "rrf"} {
				printQuality(model+" "+name, all[model+" "+name].Sets[i])
			}
			must.Hold(t, beside.All.Any5 >= alone.All.Any5 && beside.All.MRR >= alone.All.MRR-0.005, "%s, model %s: worse with a server", alone.Set, model)
			must.Hold(t, alone.Silence == nil || beside.Silence.NonePrecision >= alone.Silence.NonePrecision, "%s, model %s: less silent with a server", alone.Set, model)
		}
	}
}

func printQuality(name string, r eval.RecallReport) {
	fmt.Printf("%-18s %-16s", r.Set, name)
	for _, c := range append(append([]eval.ClassReport{}, r.Classes...), r.All) {
		n := func(share float64) int { return int(share*float64(c.N) + 0.5) }
		fmt.Printf(" %s %d/%d/%d mrr %.3f |", c.Class, n(c.First), n(c.Any5), n(c.Any10), c.MRR)
	}
	if r.Silence != nil {
		fmt.Printf(" silent %.3f kept %.3f shown %.3f |", r.Silence.NonePrecision, r.Silence.Kept, r.Silence.Shown)
	}
	fmt.Printf(" p50 %.1f ms\n", r.Latency.P50)
}
