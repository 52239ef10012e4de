package githook

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
)

// The lines around ours.
const (
	beginMark = "# >>> amber sync: taken out by `amber sync hook remove` >>>"
	endMark   = "# <<< amber sync <<<"
	// madeMark stands in a file that was not there before.
	madeMark = "# Made by `amber sync hook install`."
	shebang  = "#!/bin/sh"
)

// The hooks.
const (
	PostMerge = "post-merge"
	PreCommit = "pre-commit"
)

// block returns the lines of a hook.
//
// They run in a shell of their own, so that neither `set -e` nor a variable of
// the user's script meets them, and that shell never fails. What Amber complains
// about is one line.
func (o Install) block(hook string) []byte {
	var b strings.Builder
	say := func(lines ...string) {
		for _, l := range lines {
			b.WriteString(l + "\n")
		}
	}
	say(beginMark, "(")
	say("  amber=" + quote(o.Binary))
	say(`  [ -x "$amber" ] || amber=$(command -v amber) || exit 0`)
	switch hook {
	case PostMerge:
		say(
			"  said=$("+o.command("import", "--upstream="+o.Upstream, "--timeout=60s")+" 2>&1 >/dev/null </dev/null) ||",
			`    printf '%s\n' "$said" | head -n 1 >&2`,
		)
	case PreCommit:
		// A commit of named files has an index of its own, which is thrown away:
		// what is added to it would be missing from the next commit.
		say(
			`  case ${GIT_INDEX_FILE:-index} in index | */index | index.lock | */index.lock) ;; *) exit 0 ;; esac`,
			"  said=$({ "+o.command("export", append(slices.Clone(o.ExportFlags), "--timeout=30s")...)+" && { [ ! -d "+quote(o.Folder)+" ] || git --literal-pathspecs add -- "+quote(o.Folder)+"; }; } 2>&1 >/dev/null </dev/null) ||",
			`    printf '%s\n' "$said" | head -n 1 >&2`,
		)
	}
	say(") || :", endMark)
	return []byte(b.String())
}

// command is one run of Amber.
func (o Install) command(verb string, more ...string) string {
	words := slices.Concat(o.Globals, []string{"sync", verb, "--dir=" + o.Folder}, o.Flags, more, []string{"--quiet"})
	for i, w := range words {
		words[i] = quote(w)
	}
	return `"$amber" ` + strings.Join(words, " ")
}

// quote makes one word of a shell of s.
func quote(s string) string {
	safe := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./=:,", r))
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shells are the programs that understand our lines.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}

// isScript reports whether a file begins with a line that names a shell.
func isScript(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	interpreter, ok := bytes.CutPrefix(first, []byte("#!"))
	if !ok || bytes.ContainsAny(text, "\x00") || bytes.HasSuffix(first, []byte("\r")) {
		return false
	}
	words := strings.Fields(string(interpreter))
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		if len(words) > 0 && words[0] == "-S" {
			words = words[1:]
		}
	}
	return len(words) > 0 && slices.Contains(shells, path.Base(words[0]))
}

// span finds our lines; ok is false when there are none. Errors: conflict when
// one of the marks is there without the other, or twice.
func span(text []byte) (from, to int, ok bool, err error) {
	begins, ends := lineStarts(text, beginMark), lineStarts(text, endMark)
	switch {
	case len(begins) == 0 && len(ends) == 0:
		return 0, 0, false, nil
	case len(begins) != 1 || len(ends) != 1 || ends[0] < begins[0]:
		return 0, 0, false, amber.Errorf(amber.KindConflict, "read hook", "", "the marker lines around the part of Amber were changed")
	}
	to = ends[0] + len(endMark)
	if to < len(text) {
		to++ // its line end
	}
	return begins[0], to, true, nil
}

// lineStarts returns where the lines are that say exactly want.
func lineStarts(text []byte, want string) (at []int) {
	offset := 0
	for l := range bytes.Lines(text) {
		if string(bytes.TrimSuffix(l, []byte("\n"))) == want {
			at = append(at, offset)
		}
		offset += len(l)
	}
	return at
}

// with returns the text with our lines in it: where they are, or behind the
// first line. At the end they would not be reached in a script that ends with
// exit or exec.
func with(text, block []byte) ([]byte, error) {
	from, to, ok, err := span(text)
	switch {
	case err != nil:
		return nil, err
	case ok && to == len(text) && !bytes.HasSuffix(text, []byte("\n")):
		return slices.Concat(text[:from], bytes.TrimSuffix(block, []byte("\n"))), nil
	case ok:
		return slices.Concat(text[:from], block, text[to:]), nil
	}
	first, rest, more := bytes.Cut(text, []byte("\n"))
	if !more { // the one line has no end: then neither has ours
		return slices.Concat(first, []byte("\n"), bytes.TrimSuffix(block, []byte("\n"))), nil
	}
	return slices.Concat(first, []byte("\n"), block, rest), nil
}

// without returns the text as it was before our lines; ok is false when they are
// not in it.
func without(text []byte) (rest []byte, ok bool, err error) {
	from, to, ok, err := span(text)
	if err != nil || !ok {
		return text, false, err
	}
	if to == len(text) && !bytes.HasSuffix(text, []byte("\n")) && from > 0 {
		from--
	}
	rest = slices.Concat(text[:from], text[to:])
	if made := []byte(shebang + "\n" + madeMark + "\n"); bytes.HasPrefix(rest, made) {
		if len(rest) == len(made) {
			return nil, true, nil
		}
		rest = slices.Concat([]byte(shebang+"\n"), rest[len(made):])
	}
	return rest, true, nil
}
