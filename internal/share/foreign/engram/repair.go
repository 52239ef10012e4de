package engram

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
)

// RepairManifest reads what can be read of a manifest that does not parse: one with the conflict markers of git in it,
// also nested ones and with the common ancestor, one that was cut off, an empty one. It does not hope that the text
// becomes JSON when the markers are gone; it looks for entries in what each side of the conflict has. The result has
// every entry found on any side, in the order in which they were found, and no Notes of its own: the result notes
// lists the faults.
//
// Ok is false for a manifest that must be left alone: a later version, or one that is too large. An entry that cannot be
// found is no loss, as the chunks are there to list it again.
func RepairManifest(b []byte) (m Manifest, notes []string, ok bool) {
	if m, err := ParseManifest(b); err == nil {
		notes, m.Notes = m.Notes, nil
		return m, notes, true
	}
	if len(b) > MaxManifestBytes {
		return Manifest{}, []string{fmt.Sprintf("%d bytes, want at most %d", len(b), MaxManifestBytes)}, false
	}
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	m.Version = versionIn(text)
	if m.Version > maxManifestVersion {
		return Manifest{}, []string{tooNew("read manifest", m.Version).Error()}, false
	}
	sides, conflicts := readings(text)
	switch {
	case strings.TrimSpace(text) == "":
		m.note("the manifest is empty")
	case conflicts > 0:
		m.note(fmt.Sprintf("the manifest has %d merge conflicts", conflicts))
	default:
		m.note("the manifest is cut off")
	}
	m.collect(sides)
	notes, m.Notes = m.Notes, nil
	return m, notes, true
}

var versionField = pattern.Of(`"version"\s*:\s*([0-9]{1,9})`)

// versionIn returns the highest version the text names, 1 if there is none.
func versionIn(text string) int {
	version := 1
	for _, found := range versionField().FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(found[1])
		version = max(version, n)
	}
	return version
}

func (m *Manifest) collect(sides []string) {
	seen := map[string]bool{}
	for _, side := range sides {
		objects(side, func(raw string) {
			e, err := decodeEntry([]byte(raw))
			switch {
			case errors.Is(err, errNoEntry), err == nil && (seen[e.ID] || len(m.Chunks) == MaxEntries):
			case err != nil:
				m.note("an entry: " + err.Error())
			default:
				seen[e.ID] = true
				m.Chunks = append(m.Chunks, e)
			}
		})
	}
}

// objects calls each for every object of the text that has no other in it. A string ends with its line: a quote that
// was lost spoils one line and not the rest.
func objects(text string, each func(raw string)) {
	start, quoted := -1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '\n':
			quoted = false
		case quoted:
		case c == '{':
			start = i
		case c == '}' && start >= 0:
			each(text[start : i+1])
			start = -1
		}
	}
}

// side is what part of a conflict a line is in.
type side byte

const (
	ours side = '<'
	base side = '|'
	them side = '='
	done side = '>'
)

// readings returns the text as each side of its conflicts has it. Conflicts inside conflicts come from merging a file that
// was committed with its markers; all four ways to read two levels are given. The common ancestor is on no side.
func readings(text string) (out []string, conflicts int) {
	var full [2][2]strings.Builder
	var stack []side
	nested := false
	for line := range strings.Lines(text) {
		switch s := marker(line); {
		case s == ours:
			stack = append(stack, ours)
			conflicts++
			nested = nested || len(stack) > 1
			continue
		case s != 0 && len(stack) == 0:
			continue
		case s == done:
			stack = stack[:len(stack)-1]
			continue
		case s != 0:
			stack[len(stack)-1] = s
			continue
		}
		for outer, row := range full {
			for inner := range row {
				if shows(stack, outer, inner) {
					full[outer][inner].WriteString(line)
				}
			}
		}
	}
	out = []string{full[0][0].String()}
	if conflicts > 0 {
		out = append(out, full[1][1].String())
	}
	if nested {
		out = append(out, full[0][1].String(), full[1][0].String())
	}
	return out, conflicts
}

// shows reports whether a line at the given place belongs to the reading that takes side outer of the outermost conflict
// and side inner of those inside.
func shows(stack []side, outer, inner int) bool {
	for depth, s := range stack {
		take := inner
		if depth == 0 {
			take = outer
		}
		if s == base || (s == them) != (take == 1) {
			return false
		}
	}
	return true
}

// marker returns which conflict marker a line is, 0 for none: seven or more of its character, then nothing or a space.
func marker(line string) side {
	line = strings.TrimRight(line, "\r\n")
	if len(line) < 7 || !strings.ContainsRune("<|=>", rune(line[0])) {
		return 0
	}
	rest := strings.TrimLeft(line, line[:1])
	if len(line)-len(rest) < 7 || rest != "" && rest[0] != ' ' {
		return 0
	}
	return side(line[0])
}
