package pgdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Dialect translates statements that are written for SQLite. Each is translated once.
type Dialect struct {
	// Front is a column that every key begins with and that no statement names: its
	// value is the same in a whole transaction. "" is none.
	Front string
	// Keys are the primary keys of the tables whose rows statements replace, without
	// Front.
	Keys map[string][]string

	known sync.Map // by statement
}

// Translate returns a statement as PostgreSQL takes it. Its arguments stay what they
// are.
//
//	?, ?3                         $1, $3
//	x = +?                        x = $1
//	t INDEXED BY i, main.t        t
//	LIMIT ?                       LIMIT nullif(greatest($1::int8, -1), -1)
//	INSERT OR IGNORE INTO …       INSERT INTO … ON CONFLICT DO NOTHING
//	INSERT OR REPLACE INTO t …    INSERT INTO t … ON CONFLICT (key) DO UPDATE SET …
//	ON CONFLICT (a)               ON CONFLICT (front, a)
//	x IN (SELECT value FROM json_each(?))   x = ANY (ARRAY(SELECT value FROM amber.elements($1)))
//	id IN (SELECT a FROM t LIMIT ?)         id = ANY (ARRAY(SELECT a FROM t LIMIT …))
//	json_each, instr, char, hex, group_concat   elements, strpos, chr, encode, string_agg
//	json_extract(x, '$.a'), e.value ->> 0       (x::json ->> 'a'), e.value::json ->> 0
//	CAST(x AS INTEGER)            CAST(x AS int8)
func (d *Dialect) Translate(query string) (string, error) {
	if t, ok := d.known.Load(query); ok {
		return t.(string), nil
	}
	t, err := d.translate(query)
	if err != nil {
		return "", fmt.Errorf("translate statement %.60q: %w", query, err)
	}
	d.known.Store(query, t)
	return t, nil
}

func (d *Dialect) translate(query string) (string, error) {
	x := &text{tokens: split(query)}
	x.dropHints()
	end, err := d.insert(x)
	if err != nil {
		return "", err
	}
	if d.Front != "" {
		x.frontKeys(d.Front)
	}
	x.lists()
	if err := x.json(); err != nil {
		return "", err
	}
	if err := x.functions(); err != nil {
		return "", err
	}
	if err := x.number(); err != nil {
		return "", err
	}
	if end == "" {
		return strings.TrimRight(x.String(), blanks), nil
	}
	return strings.TrimRight(x.String(), blanks+";") + end, nil
}

// blanks is what lies between words.
const blanks = " \n\t\r"

// insert translates INSERT OR, and returns what is to follow the statement.
func (d *Dialect) insert(x *text) (end string, err error) {
	i := x.find(0, "INSERT", "OR")
	if i < 0 {
		return "", nil
	}
	or := x.after(i)
	what := x.after(or)
	into := x.after(what)
	name := x.after(into)
	if name < 0 || !x.is(into, "INTO") {
		return "", fmt.Errorf("no table is named after INSERT OR")
	}
	ignore := x.is(what, "IGNORE")
	if !ignore && !x.is(what, "REPLACE") {
		return "", fmt.Errorf("INSERT OR %s is not known", x.tokens[what])
	}
	x.blank(or)
	x.blank(what)
	if ignore {
		return " ON CONFLICT DO NOTHING", nil
	}
	table := x.tokens[name]
	key := d.Keys[table]
	if key == nil {
		return "", fmt.Errorf("the key of table %s is not known", table)
	}
	columns, err := x.columns(x.after(name))
	if err != nil {
		return "", err
	}
	var set []string
	for _, c := range columns {
		if !slices.Contains(key, c) {
			set = append(set, c+" = excluded."+c)
		}
	}
	if d.Front != "" {
		key = append([]string{d.Front}, key...)
	}
	do := "NOTHING"
	if len(set) > 0 {
		do = "UPDATE SET " + strings.Join(set, ", ")
	}
	return " ON CONFLICT (" + strings.Join(key, ", ") + ") DO " + do, nil
}

// text is a statement in tokens: words, numbers, strings, single characters and the
// space between them.
type text struct{ tokens []string }

func (x *text) String() string { return strings.Join(x.tokens, "") }

func (x *text) blank(i int) { x.tokens[i] = "" }

// is reports whether a token is a word, whatever its case.
func (x *text) is(i int, word string) bool {
	return i >= 0 && i < len(x.tokens) && strings.EqualFold(x.tokens[i], word)
}

// after returns the next token that is not space, -1 at the end.
func (x *text) after(i int) int {
	for i++; i < len(x.tokens); i++ {
		if strings.TrimSpace(x.tokens[i]) != "" {
			return i
		}
	}
	return -1
}

// find returns where words that follow each other begin, from a token on; -1 where they
// do not.
func (x *text) find(from int, words ...string) int {
	for i := from; i < len(x.tokens); i++ {
		if x.follow(i, words...) >= 0 {
			return i
		}
	}
	return -1
}

// follow returns the token of the last of some words, the first of which is token i; -1
// where they are not there.
func (x *text) follow(i int, words ...string) int {
	for n, w := range words {
		if n > 0 {
			i = x.after(i)
		}
		if !x.is(i, w) {
			return -1
		}
	}
	return i
}

// columns reads a list of names in parentheses.
func (x *text) columns(open int) (names []string, err error) {
	if !x.is(open, "(") {
		return nil, fmt.Errorf("no columns are named")
	}
	for i := x.after(open); i >= 0; i = x.after(i) {
		switch x.tokens[i] {
		case ")":
			return names, nil
		case ",":
		default:
			names = append(names, x.tokens[i])
		}
	}
	return nil, fmt.Errorf("the list of columns has no end")
}

// closing returns the parenthesis that closes one.
func (x *text) closing(open int) int {
	depth := 0
	for i := open; i < len(x.tokens); i++ {
		switch x.tokens[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// dropHints takes out which index SQLite is to use, in which of its files a table is, and the signs that keep it from
// planning a statement anew.
func (x *text) dropHints() {
	for i := 0; i < len(x.tokens); i++ {
		if last := x.follow(i, "INDEXED", "BY"); last >= 0 {
			name := x.after(last)
			for k := i; k <= name; k++ {
				x.blank(k)
			}
		}
		if dot := x.follow(i, "main", "."); dot == i+1 && !x.before(i, ".") { // the search path leads there
			x.blank(i)
			x.blank(dot)
		}
		if x.tokens[i] == "+" && x.isSign(i) {
			x.blank(i)
		}
	}
}

// isSign reports whether a plus is one in front of a value: nothing to add to is before it.
func (x *text) isSign(i int) bool {
	for i--; i >= 0; i-- {
		t := strings.ToUpper(strings.TrimSpace(x.tokens[i]))
		switch t {
		case "":
			continue
		case "(", ",", "=", "<", ">", "AND", "OR", "NOT", "WHERE", "BY", "BETWEEN", "SELECT", "ON", "WHEN", "THEN", "ELSE":
			return true
		}
		return false
	}
	return false
}

// frontKeys puts a column in front of the keys of conflicts.
func (x *text) frontKeys(front string) {
	for i := range x.tokens {
		last := x.follow(i, "ON", "CONFLICT", "(")
		if last >= 0 {
			x.tokens[last] = "(" + front + ", "
		}
	}
}

// lists makes arrays of lists that something is looked for in, those in JSON and those of a few rows, so that an
// index is used for each of their values.
func (x *text) lists() {
	for i := range x.tokens {
		open := x.follow(i, "IN", "(")
		if open < 0 || x.before(i, "NOT") {
			continue
		}
		selected := x.after(open)
		if !x.is(selected, "SELECT") {
			continue
		}
		end := x.closing(open)
		if few := x.find(selected, "LIMIT"); few > 0 && few < end && !x.before(i, ")") { // few values of one column
			x.tokens[i], x.tokens[open], x.tokens[end] = "= ANY", "(ARRAY(", "))"
			continue
		}
		from := x.find(selected, "FROM", "json_each", "(")
		if from < 0 || from > end || x.find(selected+1, "SELECT") >= 0 && x.find(selected+1, "SELECT") < end {
			continue
		}
		if call := x.closing(x.follow(from, "FROM", "json_each", "(")); x.after(call) != end {
			continue
		}
		x.tokens[i] = "= ANY"
		x.tokens[open] = "(ARRAY("
		x.tokens[end] = "))"
	}
}

// json says that texts are JSON where a part of them is asked for.
func (x *text) json() error {
	for i := range x.tokens {
		if open := x.follow(i, "json_extract", "("); open >= 0 {
			comma, end := x.comma(open), x.closing(open)
			path := x.after(comma)
			if comma < 0 || end < 0 || x.after(path) != end || !strings.HasPrefix(x.tokens[path], "'$.") {
				return fmt.Errorf("json_extract is only known with one path as '$.name'")
			}
			x.tokens[i] = ""
			x.tokens[comma] = "::json ->>"
			x.tokens[path] = strings.Replace(x.tokens[path], "'$.", "'", 1)
		}
		if x.is(i, "value") && x.before(i, ".") && x.follow(x.after(i), "-", ">", ">") >= 0 {
			x.tokens[i] = "value::json"
		}
	}
	return nil
}

// comma returns the one that ends the first argument of a call, -1 where there is none.
func (x *text) comma(open int) int {
	depth := 0
	for i := open; i < len(x.tokens); i++ {
		switch x.tokens[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return -1
			}
		case ",":
			if depth == 1 {
				return i
			}
		}
	}
	return -1
}

// functions gives what is computed the names that PostgreSQL knows.
func (x *text) functions() error {
	for i, t := range x.tokens {
		open := x.after(i)
		if !x.is(open, "(") {
			if x.is(i, "INTEGER") && x.before(i, "AS") {
				x.tokens[i] = "int8"
			}
			continue
		}
		more := ""
		switch strings.ToLower(t) {
		case "json_each":
			x.tokens[i] = "amber.elements"
		case "instr":
			x.tokens[i] = "strpos"
		case "char":
			x.tokens[i] = "chr"
		case "hex":
			x.tokens[i], more = "encode", ", 'hex')"
		case "group_concat":
			x.tokens[i], more = "string_agg", ", ',')"
		}
		if more == "" {
			continue
		}
		end := x.closing(open)
		if end < 0 || x.comma(open) >= 0 {
			return fmt.Errorf("%s is only known with one argument", t)
		}
		x.tokens[end] = more
	}
	return nil
}

// before reports whether a word stands in front of a token.
func (x *text) before(i int, word string) bool {
	for i--; i >= 0; i-- {
		if strings.TrimSpace(x.tokens[i]) != "" {
			return x.is(i, word)
		}
	}
	return false
}

// number gives every argument the number that SQLite gives it: its own, or one more than
// the largest before it.
func (x *text) number() error {
	last := 0
	for i, t := range x.tokens {
		if !strings.HasPrefix(t, "?") {
			continue
		}
		n := last + 1
		if len(t) > 1 {
			n, _ = strconv.Atoi(t[1:]) // 0 where it is none
		}
		if n < 1 || n > maxArguments {
			return fmt.Errorf("argument %s is not between 1 and %d", t, maxArguments)
		}
		last = max(last, n)
		x.tokens[i] = fmt.Sprintf("$%d", n)
		if x.before(i, "LIMIT") {
			x.tokens[i] = fmt.Sprintf("nullif(greatest($%d::int8, -1), -1)", n)
		}
	}
	return nil
}

// maxArguments is how many SQLite takes.
const maxArguments = 32766

// split cuts a statement into tokens. A comment becomes a space.
func split(q string) (tokens []string) {
	for i := 0; i < len(q); {
		end := i + 1
		switch c := q[i]; {
		case c == '\'' || c == '"':
			for end < len(q) && q[end] != c {
				end++
			}
			end = min(end+1, len(q))
		case c == '-' && strings.HasPrefix(q[i:], "--"):
			for end < len(q) && q[end] != '\n' {
				end++
			}
			tokens, i = append(tokens, " "), end
			continue
		case c == '/' && strings.HasPrefix(q[i:], "/*"):
			end = len(q)
			if n := strings.Index(q[i+2:], "*/"); n >= 0 {
				end = i + 2 + n + 2
			}
			tokens, i = append(tokens, " "), end
			continue
		case c == '?':
			for end < len(q) && isDigit(q[end]) {
				end++
			}
		case isSpace(c):
			for end < len(q) && isSpace(q[end]) {
				end++
			}
		case isWord(c):
			for end < len(q) && isWord(q[end]) {
				end++
			}
		}
		tokens = append(tokens, q[i:end])
		i = end
	}
	return tokens
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}
