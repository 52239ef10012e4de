package analyze

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed tables.txt
var tablesText string

// tables say what FTS5 makes of the characters beyond ASCII.
type tables struct {
	separators []span    // end a token
	marks      []span    // vanish inside a token
	foldings   []folding // of case and diacritics; to 0 is dropped
}

// unicode61 is read when the first character beyond ASCII comes: most processes meet none.
var unicode61 = sync.OnceValue(func() *tables {
	t, err := readTables(tablesText)
	if err != nil {
		panic(err)
	}
	return t
})

// readTables reads tables.txt.
func readTables(text string) (*tables, error) {
	t := &tables{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		what, rest, _ := strings.Cut(line, " ")
		n, err := numbers(rest)
		switch {
		case err != nil:
			return nil, fmt.Errorf("tables.txt: %q: %w", line, err)
		case what == "separator" && len(n) == 2:
			t.separators = append(t.separators, span{n[0], n[1]})
		case what == "mark" && len(n) == 2:
			t.marks = append(t.marks, span{n[0], n[1]})
		case what == "fold" && len(n) == 5:
			t.foldings = append(t.foldings, folding{n[0], n[1], n[2], n[3], n[4]})
		default:
			return nil, fmt.Errorf("tables.txt: %q is neither a separator nor a mark nor a fold", line)
		}
	}
	return t, nil
}

func numbers(text string) (list []rune, err error) {
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseInt(word, 16, 32)
		if err != nil {
			return nil, err
		}
		list = append(list, rune(n))
	}
	return list, nil
}
