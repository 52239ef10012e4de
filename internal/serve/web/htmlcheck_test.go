package web_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// words makes a set of words.
func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// What HTML says about elements; only those that the page has any use for.
var (
	voids   = words("br hr img input link meta wbr col")
	blocks  = words("address article aside blockquote details dialog div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul")
	inlines = words("a abbr b bdi br button cite code data del dfn em i img input ins kbd label mark meter output progress q s samp select small span strong sub sup svg textarea time u var wbr script noscript template")
	others  = words("html head body title meta link script noscript dt dd li legend summary caption thead tbody tfoot tr th td colgroup col option optgroup figcaption datalist svg g path line circle rect text title desc a polyline polygon ellipse tspan defs marker use")
	// Elements that hold phrases and no blocks.
	phrases  = words("p h1 h2 h3 h4 h5 h6 span button label code pre strong em small b i s u kbd samp var time mark q cite sub sup dt2 meter progress output option summary legend")
	headings = words("h1 h2 h3 h4 h5 h6")
	touched  = words("a button input select textarea label summary details")
	// The elements that may be children of an element; text between them is a fault.
	children = map[string]map[string]bool{
		"ul": words("li script template"), "ol": words("li script template"), "dl": words("dt dd div"), "select": words("option optgroup hr"),
		"table": words("caption colgroup thead tbody tfoot tr"), "thead": words("tr"), "tbody": words("tr"), "tfoot": words("tr"), "tr": words("th td"),
	}
	parents = map[string]map[string]bool{
		"li": words("ul ol menu"), "dt": words("dl div"), "dd": words("dl div"), "tr": words("thead tbody tfoot table"), "td": words("tr"), "th": words("tr"),
		"summary": words("details"), "legend": words("fieldset"), "caption": words("table"), "option": words("select optgroup datalist"),
	}
	// Attributes that name ids.
	references = []string{"for", "aria-labelledby", "aria-describedby", "aria-controls", "headers", "form", "list"}
)

// htmlChecker reads a page strictly, as if a person had written it by hand and closed every element.
type htmlChecker struct {
	faults []string
	open   []string
	ids    map[string]bool
	refs   []string
	level  int // of the last heading
	h1     int
	posts  int // forms that change something
	csrf   int // and the values that they carry
}

func (c *htmlChecker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// faultsOfHTML lists what is wrong with a page.
func faultsOfHTML(page string) []string {
	c := &htmlChecker{ids: map[string]bool{}}
	if !strings.HasPrefix(page, "<!doctype html>\n<html lang=\"en\"") {
		c.fault("the page does not begin with its type and language")
	}
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			c.end()
			return c.faults
		case html.StartTagToken:
			c.twice(string(z.Raw()))
			c.start(z.Token())
		case html.SelfClosingTagToken:
			t := z.Token()
			if !slices.Contains(c.open, "svg") && t.Data != "svg" {
				c.fault("<%s/> closes itself", t.Data)
			}
			c.element(t)
		case html.EndTagToken:
			c.close(z.Token().Data)
		case html.TextToken:
			c.text(z.Token().Data)
		}
	}
}

func (c *htmlChecker) parent() string {
	if len(c.open) == 0 {
		return ""
	}
	return c.open[len(c.open)-1]
}

func (c *htmlChecker) start(t html.Token) {
	c.element(t)
	if !voids[t.Data] {
		c.open = append(c.open, t.Data)
	}
}

// element checks where an element stands and what it carries.
func (c *htmlChecker) element(t html.Token) {
	if !blocks[t.Data] && !inlines[t.Data] && !others[t.Data] {
		c.fault("<%s> is not known", t.Data)
	}
	c.nesting(t.Data)
	c.attributes(t)
	if headings[t.Data] {
		level := int(t.Data[1] - '0')
		if level == 1 {
			c.h1++
		}
		if level > c.level+1 {
			c.fault("<%s> follows a heading of level %d", t.Data, c.level)
		}
		c.level = level
	}
}

func (c *htmlChecker) nesting(name string) {
	parent := c.parent()
	if may := children[parent]; may != nil && !may[name] {
		c.fault("<%s> in <%s>", name, parent)
	}
	if may := parents[name]; may != nil && !may[parent] {
		c.fault("<%s> in <%s>", name, parent)
	}
	for _, around := range c.open {
		switch {
		case around == "svg":
			return
		case blocks[name] && phrases[around] && !(headings[name] && (around == "summary" || around == "legend")):
			c.fault("<%s> inside of <%s>", name, around)
		case touched[name] && (around == "a" || around == "button"):
			c.fault("<%s> inside of <%s>", name, around)
		case name == around && (name == "form" || name == "label" || name == "main"):
			c.fault("<%s> inside of another", name)
		}
	}
}

func (c *htmlChecker) attributes(t html.Token) {
	has := map[string]string{}
	nonce := false
	for _, a := range t.Attr {
		has[a.Key] = a.Val
		switch {
		case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
			c.fault("<%s> has %s, which the policy forbids", t.Data, a.Key)
		case strings.HasPrefix(a.Key, "hx-"):
			nonce = true
		case a.Key == "href" || a.Key == "action" || a.Key == "src":
			if scheme, _, ok := strings.Cut(strings.TrimSpace(strings.ToLower(a.Val)), ":"); ok && !strings.ContainsAny(scheme, "/?#") && !words("http https mailto")[scheme] {
				c.fault("<%s> leads to %s", t.Data, shortened(a.Val))
			}
		}
		if slices.Contains(references, a.Key) {
			c.refs = append(c.refs, strings.Fields(a.Val)...)
		}
	}
	if nonce && has["hx-nonce"] == "" {
		c.fault("<%s> has attributes of htmx without the nonce: they do nothing", t.Data)
	}
	c.identified(t.Data, has)
	switch {
	case t.Data == "script" && has["src"] == "", t.Data == "style":
		c.fault("<%s> has its text in the page, which the policy forbids", t.Data)
	case t.Data == "form" && has["method"] == "post":
		c.posts++
	case t.Data == "input" && has["name"] == "csrf":
		c.csrf++
	case t.Data == "img" && t.Attr == nil:
		c.fault("a picture has no text beside it")
	}
}

// attributeOf is an attribute in a tag. The tokenizer leaves out what is there for the second time.
var attributeOf = regexp.MustCompile(`\s([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?`)

func (c *htmlChecker) twice(tag string) {
	seen := map[string]bool{}
	for _, m := range attributeOf.FindAllStringSubmatch(tag, -1) {
		if name := strings.ToLower(m[1]); seen[name] {
			c.fault("%s is there twice in %s", name, shortened(tag))
		} else {
			seen[name] = true
		}
	}
}

// identified checks an id.
func (c *htmlChecker) identified(name string, has map[string]string) {
	id, ok := has["id"]
	if !ok {
		return
	}
	if id == "" || strings.ContainsAny(id, " \t\n") {
		c.fault("<%s> has the id %q", name, id)
	}
	if c.ids[id] {
		c.fault("the id %q is there twice", id)
	}
	c.ids[id] = true
}

func (c *htmlChecker) close(name string) {
	switch {
	case voids[name]:
		c.fault("</%s> closes what is never open", name)
	case c.parent() == name:
		c.open = c.open[:len(c.open)-1]
	default:
		c.fault("</%s> where <%s> is open", name, c.parent())
		if i := slices.Index(c.open, name); i >= 0 {
			c.open = c.open[:i]
		}
	}
}

func (c *htmlChecker) text(s string) {
	if children[c.parent()] != nil && strings.TrimSpace(s) != "" {
		c.fault("text in <%s>: %s", c.parent(), shortened(strings.TrimSpace(s)))
	}
}

func (c *htmlChecker) end() {
	if len(c.open) > 0 {
		c.fault("not closed: %v", c.open)
	}
	for _, id := range c.refs {
		if !c.ids[id] {
			c.fault("there is no id %q, which something refers to", id)
		}
	}
	if c.h1 != 1 {
		c.fault("%d headings of level 1", c.h1)
	}
	if c.posts > c.csrf {
		c.fault("%d forms change something, %d carry the value of the session", c.posts, c.csrf)
	}
}

func TestFaultsOfHTMLAreFound(t *testing.T) {
	t.Parallel()
	const head, foot = "<!doctype html>\n<html lang=\"en\"><head><title>x</title></head><body><h1>x</h1>", "</body></html>"
	if got := faultsOfHTML(head + `<ul><li><a href="/ui/" id="a">x</a></li></ul><label for="a">y</label>` + foot); got != nil {
		t.Errorf("faults of a good page: %v", got)
	}
	for _, bad := range []string{
		`<p>`, `</p>`, `<p><div></div></p>`, `<ul><p>x</p></ul>`, `<ul>x</ul>`, `<li>x</li>`, `<b id="a"></b><b id="a"></b>`, `<p class="a" class="b"></p>`,
		`<a href="x"><button>y</button></a>`, `<form><form></form></form>`, `<label for="none">x</label>`, `<p style="x"></p>`, `<p onclick="x"></p>`,
		`<script>1</script>`, `<a href="javascript:1">x</a>`, `<a href=" JavaScript:1">x</a>`, `<p hx-get="/"></p>`, `<h3>x</h3>`, `<h1>y</h1>`, `<form method="post"></form>`,
		`<blink>x</blink>`, `<p/>`, `<table><tr>x</tr></table>`, `<b><i></b></i>`, `<br></br>`,
	} {
		if faultsOfHTML(head+bad+foot) == nil {
			t.Errorf("no fault found in %s", bad)
		}
	}
}
