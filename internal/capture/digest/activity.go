package digest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
)

// changed returns the files that were changed, the last ones, relative to the
// session's directory.
func changed(all []amber.Activity, dir string) []string {
	out := []string{}
	for _, a := range all {
		if a.Kind == amber.ActivityFile && a.Status != "read" {
			out = append(out, shorten(collapse(relative(a.Name, dir)), MaxItemBytes))
		}
	}
	return out[max(0, len(out)-MaxFiles):]
}

// relative returns a path relative to a directory that it is in.
func relative(path, dir string) string {
	for _, slash := range []string{"/", `\`} {
		if rest, ok := strings.CutPrefix(path, strings.TrimRight(dir, `/\`)+slash); ok && dir != "" && rest != "" {
			return rest
		}
	}
	return path
}

// open returns the tasks of the agent's own list that are not completed.
func open(all []amber.Activity) []string {
	out := []string{}
	for _, a := range all {
		switch strings.ToLower(a.Status) {
		case "completed", "done", "cancelled", "canceled", "deleted":
			continue
		}
		if a.Kind == amber.ActivityTask {
			out = append(out, shorten(collapse(a.Name), 200))
		}
	}
	return out[max(0, len(out)-most[Unfinished]):]
}

// lost returns what the journal had no room for.
func lost(all []amber.Activity) []string {
	out := []string{}
	for _, a := range all {
		if a.Kind == amber.ActivityGap {
			out = append(out, shorten(collapse(a.Name), 200))
		}
	}
	return out[max(0, len(out)-MaxFiles):]
}

// activity adds what was done: commands that failed with what mended them, and
// commands that work.
func (p *picker) activity(all []amber.Activity, dir string) {
	for _, m := range mended(all, dir) {
		p.did(Cause, m.text, m.command)
	}
	for _, a := range working(all) {
		p.did(Command, "`"+shorten(collapse(a.Name), MaxItemBytes-2)+"`", a)
	}
}

// did adds something that was done, unless a sentence has said so or there is no room.
func (p *picker) did(kind Kind, text string, a amber.Activity) {
	if len(p.now[kind]) >= most[kind] || len(p.turns) == 0 {
		return
	}
	for _, it := range p.now[kind] {
		if it.Text == text || kind == Command && strings.Contains(it.Text, collapse(a.Name)) {
			return
		}
	}
	turn := p.turns[0]
	for _, t := range p.turns {
		if !a.LastAt.Before(t.CreatedAt) {
			turn = t
		}
	}
	p.now[kind] = append(p.now[kind], Item{Kind: kind, Text: text, Turns: []amber.TurnID{turn.ID}, Activity: true})
}

// fix is a command that failed and passed later.
type fix struct {
	command amber.Activity
	text    string
}

// mended returns the commands that failed and passed later, with the files that
// were changed in between.
func mended(all []amber.Activity, dir string) (out []fix) {
	for i, a := range all {
		if a.Kind != amber.ActivityCommand || a.Failed == 0 || looks(a.Name) {
			continue
		}
		passed, ok := passedLater(a, all[i:])
		if !ok {
			continue
		}
		files := between(a, passed, all, dir)
		text := fmt.Sprintf("`%s` failed and passed later", shorten(collapse(a.Name), 200))
		if len(files) > 0 {
			text += ", after changes to " + strings.Join(files[:min(len(files), 4)], ", ")
		}
		out = append(out, fix{command: passed, text: shorten(text, MaxItemBytes)})
	}
	return out[max(0, len(out)-most[Cause]):]
}

// passedLater finds the command that shows that a failed one passes: itself, or one
// that contains it.
func passedLater(failed amber.Activity, later []amber.Activity) (amber.Activity, bool) {
	if failed.Count > failed.Failed && failed.Status == "completed" {
		return failed, true
	}
	for _, a := range later[1:] {
		if a.Kind == amber.ActivityCommand && a.Status == "completed" && a.Failed == 0 && slices.Contains(steps(a.Name), strings.TrimSpace(failed.Name)) {
			return a, true
		}
	}
	return failed, false
}

// steps returns the commands that a command line runs one after the other.
func steps(line string) []string {
	parts := strings.FieldsFunc(strings.ReplaceAll(line, "&&", ";"), func(r rune) bool { return r == ';' || r == '\n' })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// between returns the files that were changed after a command failed and before it
// passed.
func between(failed, passed amber.Activity, all []amber.Activity, dir string) (files []string) {
	for _, a := range all {
		if a.Kind == amber.ActivityFile && a.Status != "read" && failed.FirstAt.Before(a.LastAt) && a.FirstAt.Before(passed.LastAt) {
			files = append(files, shorten(collapse(relative(a.Name, dir)), 120))
		}
	}
	return files
}

// working returns the commands that passed the last time and do more than look,
// those that were run most first.
func working(all []amber.Activity) (out []amber.Activity) {
	for _, a := range all {
		if a.Kind == amber.ActivityCommand && a.Status == "completed" && a.Failed < a.Count && !looks(a.Name) && len(a.Name) <= 300 && program(a.Name) {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b amber.Activity) int { return int(min(b.Count, 9)) - int(min(a.Count, 9)) })
	return out[:min(len(out), 3)]
}

// looking are programs, some with a verb, that only look or are of use once.
var looking = map[string]bool{
	"ls": true, "cat": true, "grep": true, "rg": true, "find": true, "head": true, "tail": true, "wc": true, "pwd": true, "cd": true, "echo": true, "which": true,
	"sed": true, "awk": true, "tree": true, "stat": true, "file": true, "du": true, "df": true, "ps": true, "env": true, "date": true, "type": true, "less": true,
	"printf": true, "true": true, "sleep": true, "test": true, "diff": true, "jq": true, "cut": true, "sort": true, "uniq": true, "mkdir": true, "touch": true,
	"rm": true, "cp": true, "mv": true, "ssh": true, "curl": true, "wget": true,
	"git status": true, "git log": true, "git diff": true, "git show": true, "git blame": true, "git branch": true, "git add": true, "git stash": true, "git grep": true, "git checkout": true, "git switch": true,
	"git commit": true, "git push": true, "git cherry-pick": true, "git merge": true, "git rebase": true, "git tag": true, "gh pr": true, "gh issue": true,
}

// looks reports whether a command line only looks.
func looks(line string) bool {
	for _, s := range steps(line) {
		f := strings.Fields(s)
		if len(f) > 0 && !looking[f[0]] && !(len(f) > 1 && looking[f[0]+" "+f[1]]) {
			return false
		}
	}
	return true
}

// program reports whether a text begins like a command line: with the name of a
// program, and more than that name.
func program(s string) bool {
	f := strings.Fields(s)
	if len(f) < 2 && !strings.HasPrefix(s, "./") {
		return false
	}
	for len(f) > 1 && strings.Contains(f[0], "=") { // variables of the environment
		f = f[1:]
	}
	name := f[0]
	first := rune(name[0])
	if !(unicode.IsLower(first) || first == '.' || first == '/' || first == '~') || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/~-+") != "" {
		return false
	}
	for _, w := range f[1:] {
		if w == "=" || w == ":=" || w == "==" || strings.ContainsAny(w, "(){}") && !strings.ContainsAny(w, "'\"$") {
			return false // code rather than a command
		}
	}
	return true
}

// quotesCommand reports whether a sentence has a command line in back quotes.
func quotesCommand(s string) bool {
	parts := strings.Split(s, "`")
	for i := 1; i < len(parts)-1; i += 2 {
		if program(parts[i]) && (strings.Contains(parts[i], " -") || strings.Contains(parts[i], "/") || len(strings.Fields(parts[i])) <= 5) {
			return true
		}
	}
	return false
}
