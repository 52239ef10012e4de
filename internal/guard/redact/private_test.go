package redact_test

import "testing"

func TestPrivate(t *testing.T) {
	t.Parallel()
	const gone = "[REDACTED:private]"
	checkChanges(t, []change{
		{"block", "a <private>b</private> c", "a " + gone + " c"},
		{"lines", "a\n<private>\nb\n</private>\nc", "a\n" + gone + "\nc"},
		{"two", "<private>a</private> b <private>c</private>", gone + " b " + gone},
		{"empty", "a<private></private>b", "a" + gone + "b"},
		{"any case", "<PRIVATE>a</pRiVaTe>b", gone + "b"},
		{"attributes", `<private reason="x > y" by=me>a</private>b`, gone + "b"},
		{"spaces", "<private >a</private\n>b", gone + "b"},
		{"nested", "a<private>b<private>c</private>d</private>e", "a" + gone + "e"},
		{"nested and unclosed", "a<private>b<private>c</private>d", "a" + gone},
		{"unclosed", "a <private>b\nc\n", "a " + gone},
		{"self-closed", "a <private/> b", ""},
		{"self-closed inside", "a<private>b<private/>c</private>d", "a" + gone + "d"},
		{"not opened", "a </private> b", ""},
		{"closed twice", "<private>a</private>b</private>c", gone + "b</private>c"},
		{"another word", "<privateer>a</privateer>", ""},
		{"words, not attributes", "<Private Use> and <private foo>", ""},
		{"a type argument", "Local<Private> New(Local<Private> x);", ""},
		{"a type argument after a block", "<private>a</private>Local<Private> x", gone + "Local<Private> x"},
		{"a mention", "Tags such as `<private>` mean that text stays here.\nAnd so on.\n", ""},
		{"a mention after a block", "<private>a</private> is how `<private>` works", gone + " is how `<private>` works"},
		{"a mention of both", "between `<private>` and `</private>` it stays", "between `" + gone + "` it stays"},
		{"a block behind a backtick", "`<private> a `", "`" + gone},
		{"a type argument that is closed", "Local<Private> x</private> y", "Local" + gone + " y"},
		{"behind a word", "word<private>a</private>b", "word" + gone + "b"},
		{"behind an escape", `"\n<Private>a</Private>b"`, `"\n` + gone + `b"`},
		{"no end of tag", "<private", ""},
		{"with a key", "<private>" + key("github-token") + "</private>", gone},
		{"a key after", "<private>a</private> " + key("github-token"), gone + " [REDACTED:github-token]"},
		{"around a marker", "<private>[REDACTED:jwt]</private>", gone},
		{"escaped", `a \u003cprivate\u003eb\u003c/private\u003e c`, "a " + gone + " c"},
		{"half escaped", `a \u003cPrivate>b</private\u003e c`, "a " + gone + " c"},
	})
}

func TestPrivateInJSON(t *testing.T) {
	t.Parallel()
	const gone = "[REDACTED:private]"
	checkChanges(t, []change{
		{"closed", `{"a":"x <private>y</private> z"}`, `{"a":"x ` + gone + ` z"}`},
		{"unclosed ends with its string", `{"a":"x <private>y","b":"z"}`, `{"a":"x ` + gone + `","b":"z"}`},
		{"closed in another string", `{"a":"<private>y","b":"z</private>"}`, `{"a":"` + gone + `","b":"z</private>"}`},
		{"in a key", `{"<private>y":1}`, `{"` + gone + `":1}`},
		{"quotation marks inside", `["<private>say \"x\" \\","b"]`, `["` + gone + `","b"]`},
		{"attributes", `["<private a=\"b\">c</private>d"]`, `["` + gone + `d"]`},
		{"no attribute over strings", `["<private a=","b>"]`, ""},
		{"escaped twice", `["{\"a\":\"\\u003cprivate\\u003ex\\u003c/private\\u003ey\"}"]`, `["{\"a\":\"` + gone + `y\"}"]`},
		{"a string alone", `"<private>x"`, `"` + gone + `"`},
		{"a line of many", "{\"a\":\"<private>x\"}\n{\"b\":2}\nno JSON\n", "{\"a\":\"" + gone + "\"}\n{\"b\":2}\nno JSON\n"},
		{"lines apart", "<private>\n{\"b\":2}\n</private>\nc", gone + "\nc"},
		{"indented", "{\n  \"a\": \"<private>x\",\n  \"b\": 2\n}\n", "{\n  \"a\": \"" + gone + "\",\n  \"b\": 2\n}\n"},
	})
}
