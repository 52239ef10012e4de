package redact_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"
	"unicode/utf16"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

func utf16Text(order binary.AppendByteOrder, s string) []byte {
	out := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func TestDocument(t *testing.T) {
	t.Parallel()
	gh := key("github-token")
	const gone = "[REDACTED:github-token]"
	stars := string(bytes.Repeat([]byte("*"), len(gh)))
	for _, c := range []struct {
		name, file string
		in, want   []byte
		content    redact.Content
	}{
		{"a note", "a.md", []byte("# Ключ\n" + gh + "\n"), []byte("# Ключ\n" + gone + "\n"), redact.ContentText},
		{"Latin-1", "a.txt", []byte("caf\xe9 " + gh), []byte("caf\xe9 " + gone), redact.ContentText},
		{"JSON", "a.json", []byte(`{"a": "\u0067hp_` + gh[4:] + `"}`), []byte(`{"a": "` + gone + `"}`), redact.ContentJSON},
		{"broken JSON", "a.json", []byte(`{"a": "` + gh + `"`), []byte(`{"a": "` + gone + `"`), redact.ContentText},
		{"lines", "a.jsonl", []byte("{}\n{\"a\":\"" + gh + "\"}\n"), []byte("{}\n{\"a\":\"" + gone + "\"}\n"), redact.ContentText},
		{"UTF-16", "a.txt", utf16Text(binary.LittleEndian, "a "+gh+" é𝄞"), utf16Text(binary.LittleEndian, "a "+gone+" é𝄞"), redact.ContentUTF16},
		{"UTF-16 the other way", "a.txt", utf16Text(binary.BigEndian, gh), utf16Text(binary.BigEndian, gone), redact.ContentUTF16},
		{"binary", "a.bin", []byte("\x00\x01" + gh + "\x00\xff"), []byte("\x00\x01" + stars + "\x00\xff"), redact.ContentBinary},
		{"nothing", "a.md", []byte("nothing"), []byte("nothing"), redact.ContentText},
		{"nothing in a binary", "a.bin", []byte("a\x00b"), []byte("a\x00b"), redact.ContentBinary},
		{"empty", "a.md", nil, nil, redact.ContentText},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := redact.New()
			in := bytes.Clone(c.in)
			got, report := r.Document(c.file, c.in, nil)
			must.Equal(t, "", got, c.want)
			must.Equal(t, "the input", c.in, in)
			must.Equal(t, "nothing reported", report.Total == 0, bytes.Equal(c.in, c.want))
			must.Equal(t, "kind of content", redact.ContentOf(c.file, c.in), c.content)
			if again, report := r.Document(c.file, got, nil); report.Total != 0 || !bytes.Equal(again, got) {
				t.Errorf("the second time it became %q", again)
			}
		})
	}
}

// The whole corpus, in every kind of file.
func TestDocumentRemovesEverySample(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, s := range samples(t, 1) {
		quoted := must.Get(json.Marshal(map[string]string{"text": "a\n" + s.Text()}))(t)
		for file, b := range map[string][]byte{
			"a.md": []byte("a\n" + s.Text()), "a.json": quoted, "a.bin": []byte("\x00\n" + s.Text() + "\x00"),
		} {
			got, report := r.Document(file, b, nil)
			if report.Total != 1 || bytes.Contains(got, []byte(s.Value)) {
				t.Errorf("%s in %s: %d removals of %q", s.Rule, file, report.Total, b)
			}
			if file == "a.bin" && len(got) != len(b) {
				t.Errorf("%s: %d bytes have become %d", s.Rule, len(b), len(got))
			}
			if file == "a.json" && !json.Valid(got) {
				t.Errorf("%s: %s is not JSON", s.Rule, got)
			}
		}
	}
}

// Document removes from every kind of file the secrets that were found
// elsewhere, and reports those that it finds itself.
func TestDocumentRemovesWhatIsKnown(t *testing.T) {
	t.Parallel()
	r, s := redact.New(), known(password)
	const gone = "[REDACTED:jwt]"
	for _, c := range []struct {
		name, file string
		in, want   []byte
	}{
		{"a note", "a.md", []byte("try " + password), []byte("try " + gone)},
		{"JSON", "a.json", []byte(`{"a":"\u0054r0ub4dor-Lighthouse","n":1.50}`), []byte(`{"a":"` + gone + `","n":1.50}`)},
		{"UTF-16", "a.txt", utf16Text(binary.BigEndian, "é "+password), utf16Text(binary.BigEndian, "é "+gone)},
		{"binary", "a.bin", []byte("\x00" + password), []byte("\x00********************")},
		{"words of it", "a.md", []byte("Tr0ub4dor Lighthouse"), []byte("Tr0ub4dor Lighthouse")},
	} {
		in := bytes.Clone(c.in)
		got, report := r.Document(c.file, c.in, s)
		if !bytes.Equal(got, c.want) || !bytes.Equal(c.in, in) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if want := 1; !bytes.Equal(c.in, c.want) && (report.Total != want || report.Counts["jwt"] != want) {
			t.Errorf("%s: the report is %+v", c.name, report)
		}
	}
	gh := key("github-token")
	for file, b := range map[string][]byte{
		"a.md": []byte("a " + gh), "a.json": []byte(`{"a":"\u0067hp_` + gh[4:] + `"}`),
		"a.txt": utf16Text(binary.LittleEndian, gh), "a.bin": []byte("\x00 " + gh),
	} {
		var seen []string
		r.Look(file, b, func(rule, secret string) { seen = append(seen, rule+" "+secret) })
		if len(seen) != 1 || seen[0] != "github-token "+gh {
			t.Errorf("%s: seen %q", file, seen)
		}
	}
}
