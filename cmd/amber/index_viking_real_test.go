//go:build linux

package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// Two tenants on a real server, from their keys to their end: neither sees the other's files, torn files are
// found and mended, a restore is followed, and what is erased is in no file that Amber wrote.
func TestRealOpenViking(t *testing.T) {
	venv := os.Getenv("AMBER_OPENVIKING")
	if venv == "" {
		fmt.Println("=== NOT RUN: " + t.Name() + " needs a real OpenViking; make test-openviking has one")
		t.Skip("no real OpenViking")
	}
	embedder := httptest.NewServer(&ovfake.Stub{Embedder: ovfake.Embedder{Dimensions: 1024, Synonyms: map[string]string{"lorry": "truck"}}})
	t.Cleanup(embedder.Close)
	server := must.Get(ovtest.Start(t.Context(), ovtest.Setup{Venv: venv, Dir: t.TempDir(), Embedder: embedder.URL, Dimensions: 1024}))(t)
	t.Cleanup(server.Stop)
	files := filepath.Join(server.Workspace, "viking")

	s := newSetting(t, false)
	s.set("AMBER_MEMORY__BACKEND", "openviking")
	s.set("AMBER_SEARCH__MODEL", "none")
	s.set(vikingVariable("url"), server.URL)
	s.set(vikingVariable("min_score"), "0.65")
	root := s.file("root.key", server.RootKey)
	acme, globex := []string{"--tenant", "acme", "--agent", "coder"}, []string{"--tenant", "globex", "--agent", "coder"}
	as := func(who []string, args ...string) []string { return append(append([]string{}, who...), args...) }
	var ids []string
	for _, who := range [][]string{acme, globex} {
		s.does(as(who, "--new-agent", "remember", "A truck of "+who[1]+" in the yard.")...)
		s.does(as(who, "index", "provision", "--root-key-file", root)...)
		ids = append(ids, s.idOf(s.does(as(who, "--json", "remember", "Coupons of "+who[1]+" are rounded to cents.")...)))
		s.does(as(who, "index", "sync")...)
		must.Equal(t, "files", told[care.IndexVerdict](s, as(who, "index", "verify", "--deep")...).OpenViking.Files, 2)
	}
	for _, who := range [][]string{acme, globex} {
		r := told[amber.RecallResult](s, as(who, "recall", "lorry")...) // another word for it
		must.Hold(t, len(r.Hits) == 1 && strings.Contains(r.Hits[0].Content, who[1]) && r.Hits[0].Provenance.Backend == "openviking" && r.Degraded == "", "%s: answer %+v", who[1], r)
	}
	theirs := filepath.Join(s.path("home"), "keys", "openviking")
	stolen := must.Get(os.ReadFile(filepath.Join(theirs, "acme", "coder")))(t)
	own := must.Get(os.ReadFile(filepath.Join(theirs, "globex", "coder")))(t)
	must.Do(t, os.WriteFile(filepath.Join(theirs, "globex", "coder"), stolen, 0o600))
	r := told[amber.RecallResult](s, as(globex, "recall", "lorry")...)
	must.Hold(t, len(r.Hits) == 0 && strings.Contains(r.Degraded, "the key is that of"), "with the key of another tenant: %+v", r)
	must.Equal(t, "exit code of a feed with the key of another tenant", s.exit(as(globex, "index", "sync")...), fmt.Sprint("exit ", amber.KindRefused.ExitCode()))
	must.Do(t, os.WriteFile(filepath.Join(theirs, "globex", "coder"), own, 0o600))

	torn := textsIn(t, filepath.Join(files, "acme"), "Coupons of acme")
	must.Equal(t, "files to tear", len(torn), 1)
	must.Do(t, os.Truncate(torn[0], 3))
	must.Equal(t, "verify with a torn file", s.exit(as(acme, "index", "verify", "--deep")...), fmt.Sprint("exit ", amber.KindDamaged.ExitCode()))
	s.does(as(acme, "index", "sync")...)
	s.does(as(acme, "index", "verify", "--deep")...)

	point := s.snapshot(acme...)
	s.does(as(acme, "edit", ids[0], "Coupons of acme are rounded up.")...)
	s.does(as(acme, "index", "sync")...)
	s.does(as(acme, "snapshot", "restore", point, "--yes")...)
	s.does(as(acme, "index", "sync")...)
	must.Equal(t, "files of what a restore has undone", len(textsIn(t, files, "rounded up")), 0)
	s.does(as(acme, "index", "verify", "--deep")...)

	said := s.does(as(acme, "--json", "forget", ids[0], "--erase", "--yes")...)
	must.Says(t, "remaining", said, "the vector store of OpenViking keeps the text")
	must.Equal(t, "files of what was erased", len(textsIn(t, files, "Coupons of acme")), 0)
	must.Equal(t, "files of the other tenant", len(textsIn(t, files, "Coupons of globex")), 1)
	s.does(as(acme, "index", "rebuild")...)
	must.Equal(t, "files after a rebuild", told[care.IndexVerdict](s, as(acme, "index", "verify", "--deep")...).OpenViking.Files, 1)
	must.Says(t, "doctor", s.does(as(acme, "doctor")...), "health, write, find, delete work")
}
