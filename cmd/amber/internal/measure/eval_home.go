package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/recall/eval"
)

// How time passes while sessions are played: events have no times of their own.
const (
	evalEventEvery  = 20 * time.Second
	evalProbeAfter  = time.Hour // a session has ended
	evalFilesMode   = 0o600
	evalFoldersMode = 0o700
)

// Home is a temporary home whose hooks are the commands of this program, run in
// this process with a clock that is set.
type Home struct {
	a        *cli.App
	execute  Run
	Dir      string // of everything below
	work     string // the folder that the sessions work in
	settings map[string]string
	budget   time.Duration
	complain func(text string)
	Clock    Clock
	sessions int // that were played
	probes   int
}

var _ eval.Home = (*Home)(nil)

// NewHome makes the folders: the home is made by the first hook.
func NewHome(a *cli.App, execute Run, project string, settings map[string]string, budget time.Duration, complain func(string)) (*Home, error) {
	dir, err := os.MkdirTemp("", "amber-eval-")
	if err != nil {
		return nil, &amber.Error{Op: "make temporary home", Kind: amber.KindInternal, Err: err}
	}
	h := &Home{a: a, execute: execute, Dir: dir, work: filepath.Join(dir, "work"), settings: settings, budget: budget, complain: complain}
	git := filepath.Join(h.work, ".git")
	err = errors.Join(os.MkdirAll(git, evalFoldersMode), os.MkdirAll(filepath.Join(dir, "user"), evalFoldersMode))
	if err == nil {
		err = fsx.Replace(fsx.OS(), filepath.Join(git, "amber-project"), evalFilesMode, []byte(project+"\n"))
	}
	if err != nil {
		return nil, errors.Join(&amber.Error{Op: "make temporary home", Kind: amber.KindInternal, Err: err}, os.RemoveAll(dir))
	}
	return h, nil
}

// Close implements [eval.Home].
func (h *Home) Close() error { return os.RemoveAll(h.Dir) }

// Main is the home that the sessions are played in.
func (h *Home) Main() string { return filepath.Join(h.Dir, "home") }

// Play implements [eval.Home].
func (h *Home) Play(ctx context.Context, s eval.Recorded) error {
	h.sessions++
	transcript := filepath.Join(h.Dir, fmt.Sprintf("transcript-%d.jsonl", h.sessions))
	if err := h.writeTranscript(transcript, s.Transcript); err != nil {
		return err
	}
	if begin := s.StartedAt; h.Clock.Now().Before(begin.Time()) {
		h.Clock.Set(begin)
	}
	for i, raw := range s.Events {
		if err := ctx.Err(); err != nil {
			return err
		}
		event, err := eval.Placed(raw, h.work, transcript)
		if err != nil {
			return err
		}
		if _, err := h.hook(ctx, h.Main(), event); err != nil {
			return fmt.Errorf("event %d: %w", i+1, err)
		}
		h.Clock.Forward(evalEventEvery)
	}
	if _, err := h.Run(ctx, h.Main(), "", "journal", "drain", "--quiet"); err != nil {
		return err
	}
	// A drain leaves work for which it has no time; the index is completed before the next session comes.
	_, err := h.Run(ctx, h.Main(), "", "index", "sync", "--quiet")
	h.Clock.Forward(evalProbeAfter)
	return err
}

// writeTranscript writes the lines of a transcript, which hooks may read.
func (h *Home) writeTranscript(path string, lines []json.RawMessage) error {
	var b bytes.Buffer
	for _, raw := range lines {
		line, err := eval.Placed(raw, h.work, path)
		if err == nil {
			err = json.Compact(&b, line)
		}
		if err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	if err := fsx.Replace(fsx.OS(), path, evalFilesMode, b.Bytes()); err != nil {
		return &amber.Error{Op: "write transcript", Kind: amber.KindInternal, Err: err}
	}
	return nil
}

// Probe implements [eval.Home].
func (h *Home) Probe(ctx context.Context, prompt string) (p eval.Probe, err error) {
	if err := ctx.Err(); err != nil {
		return p, err
	}
	h.probes++
	home := filepath.Join(h.Dir, fmt.Sprintf("probe-%d", h.probes))
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	if err := os.CopyFS(home, os.DirFS(h.Main())); err != nil {
		return p, &amber.Error{Op: "copy temporary home", Kind: amber.KindInternal, Err: err}
	}
	event := map[string]string{
		"session_id": fmt.Sprintf("00000000-0000-4000-8000-%012d", h.probes), "cwd": h.work,
		"transcript_path": filepath.Join(h.Dir, "none.jsonl"), "hook_event_name": "SessionStart", "source": "startup",
	}
	if p.Start, err = h.tell(ctx, home, event); err != nil || prompt == "" {
		return p, err
	}
	delete(event, "source")
	event["hook_event_name"], event["prompt"] = "UserPromptSubmit", prompt
	begin := h.a.Clock()
	p.Prompt, err = h.tell(ctx, home, event)
	p.Took = h.a.Clock().Sub(begin)
	return p, err
}

// tell sends an event to a home and returns the context that the hook answers.
func (h *Home) tell(ctx context.Context, home string, event map[string]string) (string, error) {
	b, err := json.Marshal(event)
	if err != nil {
		return "", err
	}
	out, err := h.hook(ctx, home, b)
	if err != nil || strings.TrimSpace(out) == "" {
		return "", err
	}
	var answer struct {
		Output struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		return "", amber.Errorf(amber.KindInternal, "read answer of hook", "", "the answer is not JSON")
	}
	return answer.Output.Context, nil
}

// hook runs the hook of an event. No drain is started: the home is copied, and removed.
func (h *Home) hook(ctx context.Context, home string, event json.RawMessage) (string, error) {
	name, err := eval.EventName(event)
	if err != nil {
		return "", err
	}
	return h.Run(ctx, home, string(event), "hook", string(hook.ClaudeCode), "--event", name, "--no-drain", "--quiet", "--context-timeout", h.budget.String())
}

// Run runs a command of this program on a home, in this process.
func (h *Home) Run(ctx context.Context, home, stdin string, args ...string) (string, error) {
	var out, errs bytes.Buffer
	w := h.a.World
	w.Stdin, w.Stdout, w.Stderr = strings.NewReader(stdin), &out, &errs
	w.Environ, w.Clock = h.environ(home), h.Clock.Now
	w.Directory = func() (string, error) { return h.work, nil }
	w.Terminal = func() bool { return false }
	if h.a.Global.Config != "" {
		path, err := h.a.Absolute(h.a.Global.Config)
		if err != nil {
			return "", err
		}
		args = append(args, "--config", path)
	}
	if code := h.execute(ctx, args, w); code != 0 {
		return "", amber.Errorf(amber.KindInternal, "amber "+args[0], "", "exit code %d: %s", code, cli.OneLine(errs.String(), 300))
	}
	if errs.Len() > 0 {
		h.complain(errs.String())
	}
	return out.String(), nil
}

// environ is the environment of a command: nothing of the user's own Amber.
func (h *Home) environ(home string) []string {
	env := append(notOfAmber(h.a.Environ), "AMBER_HOME="+home, "HOME="+filepath.Join(h.Dir, "user"),
		"XDG_CONFIG_HOME="+filepath.Join(h.Dir, "user", "config"), "NO_COLOR=1",
		"GOGC=100") // a drain would lower it for all of this process
	for key, value := range h.settings {
		env = append(env, "AMBER_"+strings.ToUpper(strings.ReplaceAll(key, ".", "__"))+"="+value)
	}
	return env
}
