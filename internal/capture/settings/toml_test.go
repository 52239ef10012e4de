package settings_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/settings"
	"github.com/amber-memory/amber/internal/test/must"
)

const block = "[servers.amber]\ncommand = \"amber\"\nargs = [\"mcp\"]"

func parseTOML(t *testing.T, src string) *settings.TOML {
	t.Helper()
	d := must.Get(settings.ParseTOML([]byte(src)))(t)
	return d
}

func TestAppendKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, old, want string }{
		{"empty", "", block + "\n"},
		{"blank line", "\n", "\n\n" + block + "\n"},
		{"one key", "a = 1\n", "a = 1\n\n" + block + "\n"},
		{"no last line break", "a = 1", "a = 1\n\n" + block},
		{"blank line at the end", "a = 1\n\n", "a = 1\n\n\n" + block + "\n"},
		{"comment at the end", "[t]\na = 1 # one\n# two", "[t]\na = 1 # one\n# two\n\n" + block},
		{"windows", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(block, "\n", "\r\n") + "\r\n"},
		{"byte order mark", "\ufeff", "\ufeff" + block + "\n"},
		{"spaces at the end", "a = 1\n  ", "a = 1\n  \n\n" + block},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			added := must.Get(parseTOML(t, tc.old).Append(block))(t)
			must.Equal(t, "added", string(added.Bytes()), tc.want)
			back := must.Get(added.Remove(added.Find("servers", "amber")[0]))(t)
			must.Equal(t, "removed", string(back.Bytes()), tc.old)
		})
	}
}

func TestRemoveFromTheMiddle(t *testing.T) {
	t.Parallel()
	d := parseTOML(t, "a = 1\n\n"+block+"\n\n# theirs\n[other]\nb = 2\n")
	d = must.Get(d.Remove(d.Find("servers", "amber")[0]))(t)
	must.Equal(t, "what is left", string(d.Bytes()), "a = 1\n\n# theirs\n[other]\nb = 2\n")
	if _, err := d.Remove(0); err == nil {
		t.Error("the table without a header was removed")
	}
}

const everything = `# a comment with [brackets] and "quotes"
model = "o3" # end
path = 'C:\dir'
"quoted key" . sub = 1_000
when = 1979-05-27 07:32:00Z
inf = -inf
long = """
[servers.amber]
not = "a table" \
   joined """"
raw = '''
[[hooks.Stop]]''x'''
list = [ "a", # one
  [1, 2], { x = 'y', z = [] }, ]
servers.inline = { command = "x", env = { A = "b" } }

[a."b.c".'d'] # header
k = true

[[hooks.Stop]]
[[hooks.Stop.hooks]]
command = "tab\there \u00e9 \"q\""
[[hooks.Stop]]
`

func TestParseTOMLReadsEverything(t *testing.T) {
	t.Parallel()
	d := parseTOML(t, everything)
	type table struct {
		Path  []string
		Array bool
		Keys  int
	}
	var got []table
	for _, x := range d.Tables {
		got = append(got, table{x.Path, x.Array, len(x.Keys)})
	}
	want := []table{
		{nil, false, 9},
		{[]string{"a", "b.c", "d"}, false, 1},
		{[]string{"hooks", "Stop"}, true, 0},
		{[]string{"hooks", "Stop", "hooks"}, true, 1},
		{[]string{"hooks", "Stop"}, true, 0},
	}
	must.Equal(t, "tables", got, want)
	root := d.Tables[0]
	must.Equal(t, "long", root.Key("long").Text, "[servers.amber]\nnot = \"a table\" joined \"")
	must.Equal(t, "raw", root.Key("raw").Text, "[[hooks.Stop]]''x")
	must.Equal(t, "command", d.Tables[3].Key("command").Text, "tab\there é \"q\"")
	for path, named := range map[string]bool{
		"servers.inline": true, "servers.inline.env.A": true, "servers.amber": false, "hooks": true, "hooks.Stop.hooks": true, "x": false,
	} {
		if d.Names(strings.Split(path, ".")...) != named {
			t.Errorf("names %s: %v", path, !named)
		}
	}
	if !d.Sealed("servers", "inline", "new") || d.Sealed("servers", "new") || d.Sealed("hooks", "Stop") {
		t.Error("sealed is wrong")
	}
}

func TestReplaceKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	d := parseTOML(t, everything)
	d = must.Get(d.Replace(d.Tables[3].Key("command"), settings.Quote("a\\b\n")))(t)
	want := strings.Replace(everything, `"tab\there \u00e9 \"q\""`, `"a\\b\u000A"`, 1)
	must.Equal(t, "replaced", string(d.Bytes()), want)
	must.Equal(t, "command", d.Tables[3].Key("command").Text, "a\\b\n")
	must.Equal(t, "list", settings.QuoteList([]string{"a", `"`}), `["a", "\""]`)
}

func TestParseTOMLSaysWhereItIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ src, want string }{
		{"a = 1\nb 2\n", `line 2, column 3: expected '=' after the key b`},
		{"a = \"x\nb = 1", `a control character inside a string`},
		{"a = \"x", `this string does not end`},
		{"a = '''x", `this string does not end`},
		{"a = \"\\q\"", `unknown escape`},
		{"a = \"\\ud800\"", `unknown escape`},
		{"a = [1 2]", `expected "]"`},
		{"a = {b = 1", `expected "}"`},
		{"a =", `expected a value`},
		{"a = 1 b = 2", `expected the end of the line`},
		{"[a", `expected "]"`},
		{"[[a]", `expected "]]"`},
		{"[]", `expected a key`},
		{"\"\"\"a\"\"\" = 1", `a key must be on one line`},
		{"[a]\n[a]", `the table [a] is there twice`},
		{"a = 1\na = 2", `the key a is there twice`},
		{"# \x01", `a control character inside a comment`},
		{"a = " + strings.Repeat("[", 100_000), `nested deeper than 200`},
		{strings.Repeat("a.", 100_000) + "a = 1", `nested deeper than 200`},
		{"a = \"\xff\"", `this is not UTF-8`},
	} {
		_, err := settings.ParseTOML([]byte(tc.src))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("parse %.40q: %v, want %q", tc.src, err, tc.want)
		}
		if se := (*settings.SyntaxError)(nil); !errors.As(err, &se) {
			t.Errorf("parse %.40q: %T without a place", tc.src, err)
		}
	}
}

// FuzzTOML appends to and removes from any document.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{"", "\n", everything, "a = 1", "a = 1\r\n", "\ufeff[a]\n", "a = '''\n'''", "x=[\n1,\n]\n\n\n", "[a] # x\n#y"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		old, err := settings.ParseTOML(src)
		if err != nil || old.Names("servers") || old.Names("hooks") {
			return
		}
		added, err := old.Append(block)
		if err == nil {
			added, err = added.Append("[[hooks.Stop]]")
		}
		if err != nil {
			t.Fatalf("append to %q: %v", src, err)
		}
		if len(added.Tables) != len(old.Tables)+2 || len(added.Find("servers", "amber")) != 1 {
			t.Fatalf("%q has %d tables", added.Bytes(), len(added.Tables))
		}
		for _, path := range [][]string{{"servers", "amber"}, {"hooks", "Stop"}} {
			if added, err = added.Remove(added.Find(path...)[0]); err != nil {
				t.Fatalf("remove from %q: %v", added.Bytes(), err)
			}
		}
		if string(added.Bytes()) != string(src) {
			t.Fatalf("removing gives %q, want %q", added.Bytes(), src)
		}
	})
}
