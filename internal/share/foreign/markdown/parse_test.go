package markdown_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/markdown"
	"github.com/amber-memory/amber/internal/test/must"
)

func jsonOf(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// page reads a text as one file of a folder of basic-memory, beside some others.
func page(t *testing.T, text string) *foreigntest.Recorder {
	t.Helper()
	return foreigntest.Read(t, markdown.BasicMemory, foreigntest.Files(t, map[string]string{
		"in/page.md":     "---\ntitle: Page\npermalink: page\n---\n" + text,
		"Price.md":       "---\ntitle: Price Engine\npermalink: shop/price\n---\n",
		"in/near.md":     "---\npermalink: near\n---\n",
		"far/Other.md":   "text",
		"far/shop.md":    "---\ntitle: shop/price\n---\n",
		"far/a (1).md":   "text",
		"far/b/Price.md": "text",
	}))
}

// observations returns what was found in the page: category: text | tags | context | qualifier.
func observations(r *foreigntest.Recorder) string {
	var out []string
	for _, m := range r.Memories {
		if m.Place.File != "in/page.md" || m.Title == "Page" {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s|%s|%s|%s", m.Metadata["category"], m.Content, strings.Join(m.Tags, ","), m.Summary, m.Metadata["qualifier"]))
	}
	return strings.Join(out, "\n")
}

func TestObservations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- [decision] Round once #billing (agreed)":    "decision: Round once #billing|billing|agreed|",
		"[note] in a paragraph\nsecond line":           "note: in a paragraph|||",
		"1. [tip] numbered\n2) [tip] other":            "tip: numbered|||\ntip: other|||",
		"plain #a#b and #c":                            ": plain #a#b and #c|a,b,c||",
		"- [ ] task #t\n- [x] done #t\n- [-] left #t":  "",
		"- [/] half\n- [X] big\n- [?] what\n- [é] one": "é: one|||",
		"- [X] big #t": ": [X] big #t|t||",
		"- [00:11] said\n- [1:02:03.5 - 1:02:04] said":               "",
		"- [00:11] said #t":                                          ": [00:11] said #t|t||",
		"[a](b) \n\n[[a]]\n\n[a](b) more":                            "",
		"[a(b] c\n\n[] empty\n\n[]  empty #t":                        ": empty #t|t||",
		"> [!info] callout #tag\n> [a] b\nlazy #x":                   "",
		"> quote\n\nafter #x":                                        ": after #x|x||",
		"# Heading #x\n\nUnder #y\n===\n":                            "",
		"```\n[a] b\n#c d\n```\n[e] f":                               "e: f|||",
		"~~~\n[a] b\n```\n~~~\n[e] f":                                "e: f|||",
		"above\n\n    [a] indented code\n\ntext\n    [a] no code #t": ": text\n    [a] no code #t|t||",
		"- item\n\n      [a] code\n\n  [b] text":                     "b: text|||",
		"- a\n  - [b] nested\n    - [c] more":                        "b: nested|||\nc: more|||",
		"<div>\n[a] html\n</div>\n\n[b] text":                        "b: text|||",
		"<!-- [a] b\n\n[c] d -->\n[e] f":                             "e: f|||",
		"say `#no` and `a #no`\n":                                    "",
		"color=\"#4285F4\" a#b":                                      "",
		"[a] ends (context) more":                                    "a: ends (context) more|||",
		"[a] (only context)":                                         "",
		"[a] two (one) (two)":                                        "a: two (one)||two|",
		"[a] @2026-07-27 Memcached":                                  "a: Memcached|||@2026-07-27",
		`[a] @occurred:"June 10, 2026" Done (x)`:                     `a: Done||x|@occurred:"June 10, 2026"`,
		"[a] @effective(2026-01-01,) Open":                           "a: Open|||@effective(2026-01-01,)",
		"[a] @due:2026-07 Pay\n\n[a] @occurred:yesterday Rain":       "a: Pay|||@due:2026-07\na: Rain|||@occurred:yesterday",
		"[a] @ada:2026-07-27 no\n\n[a] @2x no\n\n[a] @due:June 10":   "a: @ada:2026-07-27 no|||\na: @2x no|||\na: @due:June 10|||",
		"[a] @2026-07-27":                                            "a: @2026-07-27|||",
		"[a] linked [[Price Engine]] #bm:links_to":                   "a: linked [[Price Engine]]|||",
		"* * *\n- - [a] b":                                           "a: b|||",
		"text\n3. #c no list\n\n- [a] b\n3. [d] a list":              ": text\n3. #c no list|c||\na: b|||\nd: a list|||",
	} {
		r := page(t, text+"\n")
		must.Equal(t, fmt.Sprintf("%q", text), observations(r), want)
	}
}

func TestTheSameObservationTwice(t *testing.T) {
	t.Parallel()
	r := page(t, "- [a] b\n- [a] b\n- [c] b\n")
	must.Equal(t, "observations", observations(r), "a: b|||\nc: b|||")
	must.Equal(t, "skips", r.Skips, []string{"in/page.md: line 6: observation is the same as that of line 5"})
}

// links returns the relations of the page to files, and behind a bar those that are kept.
func links(r *foreigntest.Recorder) string {
	var out []string
	for _, rel := range r.Relations {
		if rel.From[0] == "page" && rel.Type != "part_of" {
			out = append(out, rel.Type+" "+strings.Join(rel.To, "/"))
		}
	}
	kept := ""
	for _, m := range r.Memories {
		if m.Title == "Page" && m.Foreign != nil {
			kept, _ = jsonOf(m.Foreign)
		}
	}
	return strings.Join(out, ", ") + "|" + strings.TrimSuffix(strings.TrimPrefix(kept, `{"relations":[`), "]}")
}

func TestRelations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- depends_on [[Price Engine]] (hard)":              `depends_on shop/price|{"type":"depends_on","target":"Price Engine","context":"hard"}`,
		"- \"was replaced by\" [[Other]]":                   "was replaced by far/Other|",
		"- 'see also' [[price engine]]":                     "see also shop/price|",
		"- see also [[Other]] for more":                     "links_to far/Other|",
		"- uses [[Other]] and [[Price Engine]]":             "links_to far/Other, links_to shop/price|",
		"- uses [[Other]] (a) and (b)":                      "links_to far/Other|",
		"uses [[Other]]":                                    "links_to far/Other|",
		"- [[Other]]":                                       "links_to far/Other|",
		"- uses [[Other|alias]]\n- has [[Other#head]]":      "uses far/Other, has far/Other|",
		"> - uses [[Other]]":                                "uses far/Other|",
		"- uses [[shop/price]]":                             "uses shop/price|", // the permalink, before the title of another
		"- uses [[Price.md]]":                               "uses shop/price|",
		"- uses [[far/b/Price]]":                            "uses far/b/Price|",
		"- uses [[./near]] \n- uses [[../Price.md]]":        "uses near, uses shop/price|",
		"- uses [[Nobody]]":                                 `|{"type":"uses","target":"Nobody"}`,
		"- uses [[Page]]":                                   "|",
		"- uses [[Other]]\n- uses [[Other]]":                "uses far/Other|",
		"- uses [[main::far/Other]]":                        `|{"type":"uses","target":"main/far/Other"}`,
		"- uses [[Other]] #bm:links_to":                     "links_to far/Other|",
		"`[[Other]]` and ``[[Other]] ` x``":                 "|",
		"```\n- uses [[Other]]\n```\n":                      "|",
		"\\[[Other]] \\`[[Price Engine]]\\`":                "links_to shop/price|",
		"[[Other [[x]] y]]":                                 `|{"type":"links_to","target":"Other [[x]] y"}`,
		"[[]] [[ ]] [[open":                                 "|",
		"[near](near.md) [up](../Price.md \"t\")":           "links_to near, links_to shop/price|",
		"[root](/far/Other.md#head)":                        "links_to far/Other|",
		"[a](../far/a%20%281%29.md) [b](<../far/a (1).md>)": "links_to far/a (1)|",
		"[web](https://near.md) [mail](mailto:a@b) [host](//near.md) [dir](near/) [frag](#x)": "|",
		"![picture](near.md) \\[a](near.md) `[a](near.md)`":                                   "|",
		"[up](../../../etc/passwd)":                                                           `|{"type":"links_to","target":"../../../etc/passwd"}`,
		"see [the text][r], [R] and [r][]\n\n[r]: ../Price.md 'title'":                        "links_to shop/price|",
		"[gone](gone.md)": `|{"type":"links_to","target":"./gone.md"}`,
	} {
		must.Equal(t, fmt.Sprintf("%q", text), links(page(t, text+"\n")), want)
	}
}

// Deep and crooked texts end, and quickly.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	n := 200_000
	for _, text := range []string{
		strings.Repeat("> ", n), strings.Repeat("- ", n), strings.Repeat("[[", n), strings.Repeat("[", n) + strings.Repeat("](", n),
		strings.Repeat("`", n), strings.Repeat("` ``", n), strings.Repeat("\\", n) + "[[a]]", strings.Repeat("[[a]] ", n/10),
		strings.Repeat("- a\n ", n/10), strings.Repeat(">\n- ", n/10), strings.Repeat("(", n) + " #a " + strings.Repeat(")", n),
		"---\n" + strings.Repeat("[", 60_000) + "\n---\n", "---\na: " + strings.Repeat("{a: ", 10_000) + "\n---\n",
		"\xff\xfe\x00 #a [[\xff]] [\x00] b", strings.Repeat("<a ", n), strings.Repeat("1. ", n), strings.Repeat("* [a]: b\n", n/10),
	} {
		r := page(t, text)
		if len(r.Notes) < 6 {
			t.Errorf("%.40q: %d notes, want those of the other files: %v", text, len(r.Notes), r.Skips)
		}
	}
}
