package chunk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// TestHostileTexts reads texts whose hash is right.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	lines := sampleLines(t, nil)
	head, records := lines[0], lines[1:]
	all := strings.Join(lines, "")
	session, mem := records[0], records[2]
	one := func(record string) string { return head + record + strings.Join(records[1:], "") }
	swap := func(in, old, new string) string {
		if !strings.Contains(in, old) {
			t.Fatalf("%s is not in %s", old, in)
		}
		return strings.Replace(in, old, new, 1)
	}
	for _, tt := range []struct {
		name, text string
		want       amber.Kind
	}{
		{"as it was written", all, ""},

		{"empty", "", amber.KindDamaged},
		{"only a line end", "\n", amber.KindDamaged},
		{"no JSON", "hello\n", amber.KindDamaged},
		{"a list", "[]\n", amber.KindDamaged},
		{"no format", swap(all, `"format":"amber-sync/1",`, ""), amber.KindDamaged},
		{"another format", swap(all, "amber-sync/1", "ember-sync/1"), amber.KindDamaged},
		{"version 0", swap(all, "amber-sync/1", "amber-sync/0"), amber.KindDamaged},
		{"version 01", swap(all, "amber-sync/1", "amber-sync/01"), amber.KindDamaged},
		{"version -2", swap(all, "amber-sync/1", "amber-sync/-2"), amber.KindDamaged},
		{"an author in version 1", strings.Replace(all, `"trust":"own"`, `"trust":"agent"`, 1), amber.KindTooNew},
		{"a prompt of an agent in version 1", swap(all, `"project_id":"tea","created_at":"2026-01-02T03:04:05.678Z"}}`, `"project_id":"tea","created_at":"2026-01-02T03:04:05.678Z","trust":"agent"}}`), amber.KindTooNew},
		{"version 3", swap(all, "amber-sync/1", "amber-sync/3"), amber.KindTooNew},
		{"version 3 with lines of its own", `{"format":"amber-sync/3","magic":[1]}` + "\n\n\x00", amber.KindTooNew},
		{"version 10", swap(all, "amber-sync/1", "amber-sync/10"), amber.KindTooNew},
		{"a format that is a number", swap(all, `"amber-sync/1"`, "1"), amber.KindDamaged},

		{"no end of the last line", strings.TrimSuffix(all, "\n"), amber.KindDamaged},
		{"a blank line at the end", all + "\n", amber.KindDamaged},
		{"a blank line between", one("\n" + session), amber.KindDamaged},
		{"a line of spaces", one("  \n" + session), amber.KindDamaged},
		{"lines of Windows", strings.ReplaceAll(all, "\n", "\r\n"), amber.KindDamaged},
		{"a byte order mark", "\ufeff" + all, amber.KindDamaged},
		{"a NUL behind the end", all + "\x00", amber.KindDamaged},
		{"two records in a line", one(strings.TrimSuffix(session, "\n") + session), amber.KindDamaged},
		{"a record in two lines", one(swap(session, ",", ",\n")), amber.KindDamaged},
		{"a space in a line", one(swap(session, ",", ", ")), amber.KindDamaged},
		{"a space behind a number", one(swap(session, `"counter":1,`, `"counter":1 ,`)), amber.KindDamaged},

		{"a field nobody knows in the header", swap(all, `{"format"`, `{"x":1,"format"`), amber.KindTooNew},
		{"a field nobody knows in a record", one(swap(session, `"id"`, `"x":1,"id"`)), amber.KindTooNew},
		{"a field nobody knows, nested", one(swap(session, `"counter"`, `"x":1,"counter"`)), amber.KindTooNew},
		{"a kind of record nobody knows", one(session + `{"pet":{"id":"x"}}` + "\n"), amber.KindTooNew},
		{"a field in capitals", one(swap(session, `"id"`, `"ID"`)), amber.KindTooNew},
		{"an escaped name of a field", one(swap(session, `"id"`, `"\u0069d"`)), amber.KindTooNew},
		{"a field twice in the header", swap(all, `{"format"`, `{"device":"x","format"`), amber.KindDamaged},
		{"a field twice in a record", one(swap(session, `"id"`, `"id":"x","id"`)), amber.KindDamaged},
		{"a record twice in a line", one(`{"session":{},` + session[1:]), amber.KindDamaged},
		{"a name twice in the metadata", swap(all, `"k":"v"`, `"k":"v","k":"w"`), amber.KindDamaged},
		{"a name twice in the metadata, escaped", swap(all, `"k":"v"`, `"k":"v","\u006b":"w"`), amber.KindDamaged},
		{"a name twice in foreign fields", swap(all, `"type":"decision"`, `"type":"a","type":"b"`), amber.KindDamaged},

		{"invalid UTF-8", swap(all, "Oolong", "Oo\xff"), amber.KindDamaged},
		{"a surrogate in UTF-8", swap(all, "Oolong", "\xed\xa0\x80"), amber.KindDamaged},
		{"half of a character", swap(all, "Oolong", `\ud83c`), amber.KindDamaged},
		{"the other half of a character", swap(all, "Oolong", `\udf75`), amber.KindDamaged},
		{"half of a character and a letter", swap(all, "Oolong", `\ud83c\u0041`), amber.KindDamaged},
		{"an escape that is not valid", swap(all, "Oolong", `\x`), amber.KindDamaged},
		{"an escape that is cut", head + `{"session":{"id":"\`, amber.KindDamaged},
		{"a control character", swap(all, "Oolong", "\x01"), amber.KindDamaged},
		{"a NUL in a text", one(swap(session, `"name":"Tea"`, `"name":"\u0000"`)), amber.KindInvalid},

		{"a number that is too large", one(swap(session, `"counter":1`, `"counter":18446744073709551616`)), amber.KindDamaged},
		{"a number below zero", one(swap(session, `"counter":1`, `"counter":-1`)), amber.KindDamaged},
		{"a fraction", one(swap(session, `"counter":1`, `"counter":1.5`)), amber.KindDamaged},
		{"a number in a text", one(swap(session, `"counter":1`, `"counter":"1"`)), amber.KindDamaged},
		{"a number that is not valid", one(swap(session, `"counter":1`, `"counter":1e`)), amber.KindDamaged},
		{"a float that is too large", swap(all, "0.25", "1e999"), amber.KindDamaged},
		{"a counter of 0", one(swap(session, `"counter":1`, `"counter":0`)), amber.KindInvalid},
		{"a counter above the limit", one(swap(session, `"counter":1`, `"counter":18446744073709551615`)), amber.KindInvalid},
		{"a clock that is not valid", one(swap(session, `.678Z-0001"`, `.678Z"`)), amber.KindDamaged},
		{"a time that is not valid", one(swap(session, `"started_at":"2026`, `"started_at":"x`)), amber.KindDamaged},
		{"a time before 1970", one(swap(session, `"started_at":"2026`, `"started_at":"1926`)), amber.KindInvalid},
		{"null for a record", one(`{"session":null}` + "\n"), amber.KindDamaged},
		{"null for a text", one(swap(session, `"name":"Tea"`, `"name":null`)), amber.KindDamaged},
		{"null for an origin", one(`{"erased":{"id":"01998c5e-8000-7abc-8def-0123456789ab","origin":null}}` + "\n"), amber.KindDamaged},
		{"a list for an object", one(`{"session":[]}` + "\n"), amber.KindDamaged},
		{"too deep", swap(all, `"n":[`, `"n":[`+nested(100)+`,`), amber.KindDamaged},
		{"far too deep", head + `{"session":` + strings.Repeat("[", 1<<20), amber.KindDamaged},
		{"too deep, of objects", head + strings.Repeat(`{"session":`, 1<<16) + "\n", amber.KindTooNew},
		{"a million tags", swap(all, `"tags":["tea"]`, `"tags":[""`+strings.Repeat(`,""`, 1e6)+`]`), amber.KindQuota},
		{"many names", swap(all, `"k":"v"`, `"k":"v"`+strings.ReplaceAll(manyNames(5000), ":0", `:""`)), amber.KindQuota},
		{"a line that is too long", one(`{"session":{"id":"` + strings.Repeat("x", chunk.MaxLineBytes) + `"}}` + "\n"), amber.KindQuota},
		{"a header that is too long", `{"format":"` + strings.Repeat("x", 300<<10) + `"}` + "\n", amber.KindQuota},

		{"an empty record", one("{}\n"), amber.KindInvalid},
		{"two records in one", one(strings.TrimSuffix(session, "}\n") + "," + mem[1:]), amber.KindInvalid},
		{"one version twice", all + mem, amber.KindInvalid},
		{"scope user", swap(all, `"scope":"project","project_id":"tea"`, `"scope":"user","user_id":"ada"`), amber.KindInvalid},
		{"a scope nobody knows", swap(all, `"scope":"project"`, `"scope":"planet"`), amber.KindInvalid},
		{"another digest", swap(all, `"content_digest":"`, `"content_digest":"0`), amber.KindInvalid},
		{"an id that is a path", swap(all, string(memoryA), "../../../../etc/passwd"), amber.KindInvalid},

		{"one record less", head + strings.Join(records[1:], ""), amber.KindDamaged},
		{"no records", head, amber.KindDamaged},
		{"another count", swap(all, `"sessions":1`, `"sessions":2`), amber.KindDamaged},
		{"a count below zero", swap(all, `"sessions":1`, `"sessions":-1`), amber.KindDamaged},
		{"counts that only match in sum", swap(swap(all, `"sessions":1`, `"sessions":2`), `"prompts":1`, `"prompts":0`), amber.KindDamaged},
		{"no counts", swap(all, `"counts":{"sessions":1,"memories":2,"prompts":1,"relations":1,"deletions":4},`, ""), amber.KindDamaged},
		{"the header twice", head + all, amber.KindTooNew},
		{"records first", session + head, amber.KindDamaged},

		{"no device", swap(all, `"device":"`+device+`"`, `"device":""`), amber.KindInvalid},
		{"a device with a line end", swap(all, `"device":"`+device+`"`, `"device":"a\nb"`), amber.KindInvalid},
		{"a device that is too long", swap(all, `"device":"`+device+`"`, `"device":"`+strings.Repeat("x", 201)+`"`), amber.KindInvalid},
		{"no incarnation", swap(all, `"incarnation":"`+incarnation+`",`, ""), amber.KindInvalid},
		{"an author of escapes", swap(all, `"created_by":"Ada"`, `"created_by":"\u001b[31mAda"`), amber.KindInvalid},
		{"no time", swap(all, `"created_at":"2026-01-02T03:04:05.678Z"`, `"created_at":null`), amber.KindInvalid},
		{"a project of spaces", swap(all, `"project":"tea"`, `"project":" "`), amber.KindInvalid},
		{"a parent that is a path", swap(all, string(someIDs[0]), "../"+string(someIDs[0][3:])), amber.KindInvalid},
		{"a parent in capitals", swap(all, string(someIDs[0]), strings.ToUpper(string(someIDs[0]))), amber.KindInvalid},
		{"a parent twice", swap(all, string(someIDs[0]), string(someIDs[1])), amber.KindInvalid},
		{"too many parents", swap(all, `"parents":[`, `"parents":[`+strings.Repeat(`"",`, chunk.MaxParents)), amber.KindQuota},
		{"a signer that is not valid", swap(all, `"project":"tea"`, `"project":"tea","signed_by":"me"`), amber.KindInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id, b := frame(tt.text)
			c, err := chunk.Decode(id, b)
			wantKind(t, err, tt.want)
			if err != nil && (c.ID != "" || c.Records != nil) {
				t.Errorf("there is an error, and an answer: %+v", c)
			}
			if err != nil && len(err.Error()) > 600 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			if tt.want == amber.KindTooNew && amber.HintOf(err) == "" {
				t.Error("there is no hint")
			}
		})
	}
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestSignaturesThatDoNotHoldAreUntrusted(t *testing.T) {
	t.Parallel()
	lines := sampleLines(t, newSigner(1))
	last := len(lines) - 1
	others := sampleLines(t, newSigner(2))
	unsigned := sampleLines(t, nil)
	join := func(lines ...string) string { return strings.Join(lines, "") }
	body := join(lines[1:last]...)
	for _, tt := range []struct {
		name, text string
		want       amber.Kind
	}{
		{"as it was written", join(lines...), ""},
		{"stripped", lines[0] + body, amber.KindUntrusted},
		{"a signature that nobody is named for", unsigned[0] + body + lines[last], amber.KindUntrusted},
		{"another's signature", lines[0] + body + others[last], amber.KindUntrusted},
		{"another is named", others[0] + body + lines[last], amber.KindUntrusted},
		{"another text", lines[0] + strings.Replace(body, `"strength":0.25`, `"strength":0.5`, 1) + lines[last], amber.KindUntrusted},
		{"another author", strings.Replace(lines[0], "Ada", "Eve", 1) + body + lines[last], amber.KindUntrusted},
		{"records in another order", join(lines[0], lines[2], lines[1]) + join(lines[3:]...), amber.KindUntrusted},
		{"another algorithm", lines[0] + body + strings.Replace(lines[last], "ed25519", "none", 1), amber.KindUntrusted},
		{"an empty signature", lines[0] + body + `{"signature":{}}` + "\n", amber.KindUntrusted},
		{"another spelling", lines[0] + body + strings.Replace(lines[last], `"}}`, `="}}`, 1), amber.KindUntrusted},
		{"a signature twice", join(lines...) + lines[last], amber.KindDamaged},
		{"a record behind it", lines[0] + join(lines[2:]...) + lines[1], amber.KindDamaged},
		{"a blank line behind it", join(lines...) + "\n", amber.KindDamaged},
		{"a record beside it", lines[0] + body + strings.TrimSuffix(lines[1], "}\n") + "," + lines[last][1:], amber.KindDamaged},
		{"an unknown field in it", lines[0] + body + strings.Replace(lines[last], `{"alg"`, `{"x":1,"alg"`, 1), amber.KindTooNew},
		{"null for it", lines[0] + body + `{"signature":null}` + "\n", amber.KindDamaged},
	} {
		id, b := frame(tt.text)
		_, err := chunk.Decode(id, b)
		t.Run(tt.name, func(t *testing.T) { wantKind(t, err, tt.want) })
	}
}

func TestASignatureOfOneThingIsNoneOfAnother(t *testing.T) {
	t.Parallel()
	// A signature over a text that looks like a chunk makes no chunk: the
	// message begins in its own way.
	lines := sampleLines(t, newSigner(1))
	body := strings.Join(lines[:len(lines)-1], "")
	for _, prefix := range []string{"", "amber record 1\x00", "amber bundle 1\x00", "amber sync 1\x00"} {
		for _, message := range []string{body, string(chunk.IDOf([]byte(body)))} {
			sig := sign.SignWith(newSigner(1).key, []byte(prefix+message))
			id, b := frame(body + fmt.Sprintf(`{"signature":{"alg":%q,"key_id":%q,"sig":%q}}`+"\n", sig.Alg, sig.KeyID, sig.Sig))
			_, err := chunk.Decode(id, b)
			right := prefix == "amber sync 1\x00" && message != body
			if (err == nil) != right {
				t.Errorf("prefix %q, %d bytes: %v", prefix, len(message), err)
			}
		}
	}
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	id := someIDs[0]
	if got, ok := chunk.ParseFileName(id.FileName()); !ok || got != id {
		t.Errorf("got %s, %v", got, ok)
	}
	for _, name := range []string{
		"", ".jsonl.zst", "x.jsonl.zst", string(id), string(id) + ".jsonl.gz", string(id) + ".jsonl.zst ", strings.ToUpper(string(id)) + ".jsonl.zst",
		"../" + string(id[3:]) + ".jsonl.zst", "a/" + id.FileName(), string(id[1:]) + ".jsonl.zst", string(id) + "0.jsonl.zst", string(id[:63]) + "\n.jsonl.zst",
	} {
		if got, ok := chunk.ParseFileName(name); ok {
			t.Errorf("%q is the name of %s", name, got)
		}
	}
	wantKind(t, must.Err(chunk.ParseID("../x")), amber.KindInvalid)
	wantKind(t, must.Err(chunk.Decode("../x", nil)), amber.KindInvalid)
}
