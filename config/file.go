package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/amber-memory/amber"
)

const (
	// maxFileBytes bounds the configuration file.
	maxFileBytes = 1 << 20
	// maxTokens bounds what the parser is given, comments aside. Its work
	// grows with the square of the tokens and its stack with their nesting;
	// a file that sets every key has a few hundred.
	maxTokens = 4096
)

// file takes the settings of the configuration file and reports whether there
// is one.
func (l *loader) file(in Input) (bool, error) {
	if in.Path == "" {
		if in.Explicit {
			return false, invalid(loadOp, "", "the path of the file is empty")
		}
		return false, nil
	}
	read := in.ReadFile
	if read == nil {
		read = readFile
	}
	data, err := read(in.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !in.Explicit:
		return false, nil
	case err != nil:
		return false, &amber.Error{Op: loadOp, Kind: readKind(err), ID: in.Path, Err: err}
	}
	f := yamlFile{loader: l, path: in.Path}
	return true, f.load(data)
}

func readKind(err error) amber.Kind {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return amber.KindNotFound
	case errors.Is(err, fs.ErrPermission):
		return amber.KindRefused
	}
	return amber.KindOf(err)
}

// readFile reads one byte more than a configuration may have, so that load
// can tell. It follows symbolic links and reads pipes: people keep their
// configuration in both.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, invalid("read file", "", "file is a directory")
	}
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}

// yamlFile walks one YAML document along the schema.
type yamlFile struct {
	*loader
	path string
}

func (f yamlFile) load(data []byte) error {
	body, err := f.parse(data)
	if err != nil || body == nil {
		return err
	}
	return f.section(f.root, body, body.GetToken().Position.Line)
}

// parse returns the body of the one document in data, nil when it is empty.
func (f yamlFile) parse(data []byte) (ast.Node, error) {
	switch {
	case len(data) > maxFileBytes:
		return nil, invalid(loadOp, f.path, fmt.Sprintf("the file has more than %d bytes", maxFileBytes))
	case !utf8.Valid(data):
		return nil, invalid(loadOp, f.path, "the file is not valid UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	doc, err := parseYAML(data)
	if err != nil {
		var e yaml.Error
		message := err.Error()
		hide := secret(message) // it shows the lines around the mistake
		if errors.As(err, &e) {
			message = e.GetMessage()
		}
		if hide {
			message = "file is not valid YAML near a secret, which is not shown here"
		}
		if e != nil && e.GetToken() != nil {
			return nil, f.invalid(e.GetToken().Position.Line, printable(message))
		}
		return nil, invalid(loadOp, f.path, printable(message))
	}
	var body ast.Node
	for _, d := range doc.Docs {
		if d.Body == nil || d.Body.Type() == ast.NullType {
			continue
		}
		if body != nil {
			return nil, f.invalid(d.Body.GetToken().Position.Line, "a second document starts here; a configuration is one")
		}
		body = d.Body
	}
	return body, nil
}

func parseYAML(data []byte) (*ast.File, error) {
	tokens := lexer.Tokenize(string(data))
	n := 0
	for _, t := range tokens {
		if t.Type != token.CommentType {
			n++
		}
	}
	if n > maxTokens {
		return nil, fmt.Errorf("the file has %d words and signs, more than the %d a configuration may have", n, maxTokens)
	}
	// Doubles are found while walking, where the whole key is known.
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// section takes every entry of a mapping. An empty section is fine: its keys
// may all be commented out.
func (f yamlFile) section(t *tree, n ast.Node, line int) error {
	if n.Type() == ast.NullType {
		return nil
	}
	entries, err := f.entries(t, n, line)
	if err != nil {
		return err
	}
	first := map[string]int{}
	for _, e := range entries {
		line, name := e.Key.GetToken().Position.Line, keyText(e.Key)
		sub, err := t.child(name)
		if err != nil {
			return f.invalid(line, err.Error())
		}
		if was, ok := first[name]; ok {
			return f.invalid(line, fmt.Sprintf("%s is set twice, first on line %d", sub.path, was))
		}
		first[name] = line
		if err := f.entry(sub, e.Value, line); err != nil {
			return err
		}
	}
	return nil
}

func (f yamlFile) entries(t *tree, n ast.Node, line int) ([]*ast.MappingValueNode, error) {
	if m, ok := n.(*ast.MappingNode); ok {
		return m.Values, nil
	}
	what := t.path
	if what == "" {
		what = "the file"
	}
	return nil, f.invalid(line, what+" must be a section with keys below it, not "+describe(n))
}

// entry takes one key, or goes down into a section.
func (f yamlFile) entry(t *tree, n ast.Node, line int) error {
	if t.key == nil {
		return f.section(t, n, line)
	}
	switch t.key.Type {
	case Paths, Recipients, Extensions, Patterns, Scopes:
		return f.list(t.key, n, line)
	}
	text, ok := scalarText(t.key.Type, n)
	if !ok {
		return f.invalid(line, t.key.wrongType(describe(n)).Error())
	}
	return f.set(t.key, text, FromFile, f.at(line))
}

// list takes the elements of a list.
func (f yamlFile) list(k *Key, n ast.Node, line int) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return f.invalid(line, k.wrongType(describe(n)).Error())
	}
	items := make([]string, len(seq.Values))
	for i, v := range seq.Values {
		text, ok := scalarText(Path, v)
		if !ok {
			return f.invalid(v.GetToken().Position.Line, k.wrongElement(describe(v)).Error())
		}
		items[i] = text
	}
	if k.Type != Paths {
		return f.setTexts(k, items, FromFile, f.at(line))
	}
	return f.setPaths(k, items, FromFile, f.at(line))
}

func (f yamlFile) at(line int) string { return fmt.Sprintf("%s:%d", f.path, line) }

func (f yamlFile) invalid(line int, message string) error {
	return invalid(loadOp, f.at(line), message)
}

// keyText returns the text of a key, or what it is written with where it is
// not plain text; no key of the schema looks like that.
func keyText(n ast.MapKeyNode) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return n.GetToken().Value
}

// scalarText returns the text of a scalar if YAML reads it as type t. The
// text is parsed as everywhere else, so a number means the same in a file and
// in a variable.
func scalarText(t Type, n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.BoolNode:
		return n.Token.Value, t == Bool
	case *ast.IntegerNode:
		return n.Token.Value, t == Int || t == Count || t == Size || t == Share || t == Span
	case *ast.FloatNode:
		return n.Token.Value, t == Share
	case *ast.StringNode:
		switch t {
		case Duration, Span, Size, Name, Choice, Path, Location, Schedule, Subject, Address, Servers, URL, Label, Model, OptionalLabel, Variable:
			return n.Value, true
		}
	}
	return "", false
}

// describe says what a node is, fit for a message.
func describe(n ast.Node) string {
	switch n.Type() {
	case ast.NullType:
		return "nothing"
	case ast.SequenceType:
		return "a list"
	case ast.MappingType:
		return "a section"
	case ast.AnchorType, ast.AliasType, ast.TagType:
		return "an anchor, alias or tag"
	case ast.StringType, ast.LiteralType:
		return "the text " + quote(n.GetToken().Value)
	}
	return quote(n.GetToken().Value)
}
