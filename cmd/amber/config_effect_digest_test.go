//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/test/must"
)

// digestAnswer is what writers of digests answer in these tests; %s is a turn.
const digestAnswer = `{"items":[{"kind":"decision","text":"Tests are green now, said the assistant.","turns":["%s"]}]}`

func digestEffects() map[string]effect {
	model := func(s *setting) *string { // what the last request said
		said := new(string)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			*said = fmt.Sprint(strings.Contains(string(b), `"model":"small"`), " ", r.Header.Get("Authorization"))
			fmt.Fprintf(w, `{"choices":[{"message":{"content":%q}}]}`, fmt.Sprintf(digestAnswer, "t1"))
		}))
		s.Cleanup(server.Close)
		s.set("AMBER_DIGEST__URL", server.URL)
		return said
	}
	return map[string]effect{
		"digest.command": {program(`id=$(sed 's/.*"turns":\[{"id":"\([0-9a-f]*\)".*/\1/'); printf '` + digestAnswer + `' "$id"`), writtenBy, "rules", "command"},
		"digest.url": {func(s *setting) string {
			model(s)
			url := strings.TrimPrefix(s.env[len(s.env)-1], "AMBER_DIGEST__URL=")
			s.env = s.env[:len(s.env)-1]
			return url
		}, writtenBy, "rules", "url"},
		"digest.model": {value("small"), func(s *setting) string {
			said := model(s)
			writtenBy(s)
			return *said
		}, "false ", "true "},
		"digest.key_env": {value("MODEL_KEY"), func(s *setting) string {
			said := model(s)
			s.set("MODEL_KEY", "k-1")
			writtenBy(s)
			return *said
		}, "false ", "false Bearer k-1"},
		"digest.timeout": {value("1ms"), func(s *setting) string {
			// The program ends by itself, or Amber gives it up.
			s.set("AMBER_DIGEST__COMMAND", program("sleep 2; exit 3")(s))
			report := told[drain.Report](s.spoken(), "journal", "drain")
			return fmt.Sprint(strings.Contains(report.DigestsByRule["s1"], "did not end within"))
		}, "false", "true"},
	}
}

// program makes a shell script and returns its path.
func program(script string) func(*setting) string {
	return func(s *setting) string {
		path := s.path("digest.sh")
		must.Do(s, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		return path
	}
}

// spoken lets a host live through a session that is not drained yet.
func (s *setting) spoken() *setting {
	for _, event := range []string{
		`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"make the tests green"}`,
		`{"session_id":"s1","hook_event_name":"Stop","last_assistant_message":"They are green now."}`,
		`{"session_id":"s1","hook_event_name":"SessionEnd","reason":"exit"}`,
	} {
		if _, complaint, code := s.amber(event, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "1m"); code != 0 || complaint != "" {
			s.Fatal(code, complaint)
		}
	}
	return s
}

// writtenBy returns the label of the digest of a session.
func writtenBy(s *setting) string {
	s.spoken().does("journal", "drain")
	page := told[amber.Page[amber.Memory]](s, "list", "--kind", "session_summary", "--session", "s1")
	if len(page.Items) != 1 {
		s.Fatalf("%d digests", len(page.Items))
	}
	return page.Items[0].Metadata["digest"]
}
