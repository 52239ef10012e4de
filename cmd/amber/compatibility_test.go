package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// oldHomes are the homes that earlier versions wrote, see docs/releasing.md.
func oldHomes(t *testing.T) []string {
	t.Helper()
	files := must.Get(filepath.Glob("testdata/homes/*.tar.gz"))(t)
	must.Hold(t, len(files) >= 3, "there are %d homes of earlier versions, want 3 at least", len(files))
	return files
}

// written are the lines of written.tsv by their kind, without it.
func written(t *testing.T) map[string][][]string {
	t.Helper()
	out := map[string][][]string{}
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/homes/written.tsv"))(t))) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		out[fields[0]] = append(out[fields[0]], fields[1:])
	}
	return out
}

// unpack puts the files of an archive below a folder.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f := must.Get(os.Open(archive))(t)
	defer f.Close()
	r := tar.NewReader(must.Get(gzip.NewReader(f))(t))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must.Do(t, err)
		must.Hold(t, filepath.IsLocal(h.Name), "%s holds %q", archive, h.Name)
		path := filepath.Join(dir, h.Name)
		if h.FileInfo().IsDir() {
			must.Do(t, os.MkdirAll(path, h.FileInfo().Mode().Perm()))
			continue
		}
		must.Do(t, os.WriteFile(path, must.Get(io.ReadAll(r))(t), h.FileInfo().Mode().Perm()))
	}
}

// oldHome is a home of an earlier version, unpacked.
type oldHome struct {
	t      *testing.T
	dir    string
	beside string // what was exported
}

func newOldHome(t *testing.T, archive string) oldHome {
	dir := t.TempDir()
	unpack(t, archive, dir)
	return oldHome{t, dir, filepath.Join(dir, "beside")}
}

// run runs the program of today on a home.
func (o oldHome) run(home string, args ...string) ran {
	o.t.Helper()
	w := testWorld(o.dir, "PATH="+os.Getenv("PATH"), "HOME="+o.dir)
	return runIn(o.t.Context(), o.t, w, append([]string{"--json", "--home", filepath.Join(o.dir, home)}, args...)...).exits(0)
}

// answer is any of what the program answers here.
type answer struct {
	ID, Name, Content, Label string
	Document                 any
	Items, Hits              []answer
}

func (o oldHome) ask(home string, args ...string) (a answer) {
	o.t.Helper()
	r := o.run(home, args...)
	must.Do(o.t, json.Unmarshal([]byte(r.stdout), &a))
	return a
}

// contents are the texts of a list, sorted.
func contents(list []answer) (out []string) {
	for _, a := range list {
		out = append(out, a.Content)
	}
	slices.Sort(out)
	return out
}

// holds checks that a home has everything that was written, and these memories beside.
func (o oldHome) holds(home string, w map[string][][]string, beside ...string) {
	t := o.t
	t.Helper()
	want := append([]string{w["topic"][len(w["topic"])-1][1]}, beside...)
	for _, m := range w["memory"] {
		want = append(want, m[0])
	}
	slices.Sort(want)
	list := o.ask(home, "list", "--all")
	must.Equal(t, home+": memories", contents(list.Items), want)
	for i, m := range list.Items {
		if len(beside) == 0 && i > 0 {
			break // every one is asked for where nothing was restored
		}
		found := o.ask(home, "recall", m.Content, "--layer", "memory")
		must.Hold(t, len(found.Hits) > 0 && found.Hits[0].ID == m.ID, "%s: recall does not find %q first", home, m.Content)
		if m.Content == w["topic"][len(w["topic"])-1][1] {
			must.Equal(t, home+": revisions of the topic", len(o.ask(home, "history", m.ID).Items), len(w["topic"]))
		}
	}
	for _, n := range w["note"] {
		must.Equal(t, home+": note "+n[0], o.ask(home, "note", "show", n[0]).Content, n[1])
	}
	for _, s := range w["state"] {
		var doc any
		must.Do(t, json.Unmarshal([]byte(s[1]), &doc))
		must.Equal(t, home+": state "+s[0], o.ask(home, "state", "get", s[0]).Document, doc)
	}
	sessions := o.ask(home, "session", "list").Items
	at := slices.IndexFunc(sessions, func(s answer) bool { return s.Name == "checkout bug" })
	must.Hold(t, at >= 0, "%s: the session is not listed: %v", home, sessions)
	var said []string
	for _, turn := range o.ask(home, "turn", "list", "--session", sessions[at].ID).Items {
		said = append(said, turn.Content)
	}
	must.Equal(t, home+": turns", said, slices.Concat(w["turn"]...))
	o.recallsTurn(home, w["turn"][0][0])
}

// recallsTurn checks that one of the sessions finds what was said in it.
func (o oldHome) recallsTurn(home, said string) {
	o.t.Helper()
	for _, s := range o.ask(home, "session", "list").Items {
		if len(o.ask(home, "recall", said, "--layer", "exchange", "--session", s.ID).Hits) > 0 {
			return
		}
	}
	o.t.Errorf("%s: recall does not find the turn %q", home, said)
}

// Everything that earlier versions wrote is there, is found, and can be restored: homes, snapshots, bundles, folders for
// sync, journals and tokens.
func TestHomesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	w := written(t)
	later := w["later"][0][0]
	for _, archive := range oldHomes(t) {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			o := newOldHome(t, archive)
			o.holds("home", w, later)
			must.Equal(t, "tokens", o.ask("home", "token", "list").Items[0].Name, w["token"][0][0])
			o.run("home", "index", "verify")
			o.run("home", "audit", "verify")

			o.run("home", "journal", "drain")
			o.recallsTurn("home", w["journal"][0][0])

			o.run("home", "snapshot", "check", "--read-data")
			taken := o.ask("home", "snapshot", "list").Items
			at := slices.IndexFunc(taken, func(s answer) bool { return s.Label == "compatibility" })
			must.Hold(t, at >= 0, "the snapshot is not listed: %v", taken)
			o.run("home", "snapshot", "restore", taken[at].ID, "--yes")
			o.holds("home", w) // without the later one

			bundle := filepath.Join(o.beside, "agent.tar.zst")
			o.run("home", "bundle", "verify", bundle)
			o.run("from-bundle", "snapshot", "restore", bundle, "--yes")
			o.holds("from-bundle", w)

			shared := filepath.Join(o.beside, "shared")
			o.run("from-sync", "sync", "import", "--dir", shared)
			must.Equal(t, "memories from sync", len(o.ask("from-sync", "list", "--all").Items), len(w["memory"])+1)
			o.run("home", "queue", "claim", "--consumer", "me").prints(`"entry_id": "` + w["event"][0][0] + `"`)
		})
	}
}
