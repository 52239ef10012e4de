package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
)

// A body that no OpenViking server sends is damaged, for every call that reads one.
func TestSenselessAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty": "", "page": "<html>", "half": `{"status":"ok","result":`, "number": "7", "null": "null", "list": "[]", "text": `"ok"`,
		"no envelope": `{"uri":"x"}`, "no status": `{"result":{}}`, "strange status": `{"status":"fine","result":{}}`,
		"status of another type": `{"status":true,"result":{}}`, "two values": `{"status":"ok","result":{}} {}`,
		"twice": `{"status":"ok","status":"ok","result":{}}`, "twice by case": `{"status":"ok","Status":"error","result":{}}`,
		"twice inside": `{"status":"ok","result":{"a":1,"a":2}}`, "not UTF-8": "{\"status\":\"ok\",\"result\":\"\xff\"}",
		"half a pair": `{"status":"ok","result":"\ud800"}`, "not a number": `{"status":"ok","result":{"x":NaN}}`,
		"deep": `{"status":"ok","result":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}",
		"huge": `{"status":"ok","result":{"x":"` + strings.Repeat("x", 9<<20) + `"}}`,
	} {
		for call, tc := range calls {
			if call == "download" && name != "huge" {
				continue // bytes of any kind
			}
			_, err := tc.do(t.Context(), serve(t, says(200, body)).open(t))
			must.Kind(t, name+": "+call, err, amber.KindDamaged)
			checkError(t, err)
		}
	}
}

// A result of another shape is damaged.
func TestSenselessResults(t *testing.T) {
	t.Parallel()
	hit := func(score, more string) string {
		return `{"memories":[{"context_type":"memory","uri":"` + file + `","level":2,"score":` + score + more + `}]}`
	}
	for call, bodies := range map[string][]string{
		"write":   {`null`, `{}`, `[]`, `{"uri":7}`, `{"uri":null}`},
		"batch":   {`null`, `{}`, `[]`, `{"created":"x"}`, `{"created":[7]}`},
		"mkdir":   {`[]`, `{"uri":7}`},
		"find":    {`null`, `{}`, `[]`, `{"memories":null}`, `{"memories":{}}`, `{"memories":[7]}`, hit(`"0.5"`, ""), hit(`"NaN"`, ""), hit(`null`, ""), hit(`1e999`, ""), hit(`true`, ""), hit(`1,"score":2`, ""), hit(`1`, `,"Score":2`), `{"memories":[{"uri":"x","level":99999999999999999999,"score":1}]}`, `{"memories":[{"uri":"x","level":2}]}`, `{"memories":[` + strings.Repeat(`{"score":1},`, 100_000) + `{"score":1}]}`},
		"list":    {`null`, `{}`, `[7]`, `[null,7]`, `"x"`, `["` + file + `"]`}, // the last one does not say whether there is more
		"missing": {`null`, `{}`, `{"expected_count":-1,"missing_record_count":0,"missing_records_truncated":false}`, `{"expected_count":1,"missing_record_count":2,"missing_records_truncated":false}`, `{"expected_count":1e30,"missing_record_count":0,"missing_records_truncated":false}`, `{"expected_count":1,"missing_record_count":0}`, `{"expected_count":1,"missing_record_count":1,"missing_records_truncated":false,"missing_records":["x"]}`},
		"reindex": {`null`, `{}`, `{"status":"accepted","task_id":"x"}`, `{"rebuilt_records":-1,"failed_records":0}`, `{"rebuilt_records":1,"failed_records":-1}`, `{"rebuilt_records":1e30,"failed_records":0}`},
		"account": {`null`, `{}`, `{"user_key":""}`, `{"user_key":7}`, `{"user_key":"a b"}`, `{"user_key":"a\nb"}`, `{"user_key":"` + strings.Repeat("k", 20<<10) + `"}`},
	} {
		for _, body := range bodies {
			_, err := calls[call].do(t.Context(), serve(t, result(body)).open(t))
			must.Kind(t, fmt.Sprintf("%s: %.200s", call, body), err, amber.KindDamaged)
			must.Hold(t, !errors.Is(err, api.ErrNoVector), "%s says that the file is written", call)
		}
	}
}

// Values that are odd but harmless are taken.
func TestOddResults(t *testing.T) {
	t.Parallel()
	must.Do(t, serve(t, says(200, `{"status":"ok"}`)).open(t).Mkdir(t.Context(), root))
	must.Do(t, serve(t, result(`{"uri":"`+file+`","vector_status":"failed","new_field":{"x":[1,null]}}`)).open(t).Write(t.Context(), file, ""))
	m := must.Get(serve(t, result(`{"expected_count":9,"missing_record_count":3,"missing_records":[{"uri":"`+file+`"}],"missing_records_truncated":true}`)).open(t).Missing(t.Context(), root))(t)
	must.Equal(t, "cut list", m, api.Missing{Expected: 9, Count: 3, URIs: []string{file}})
	m = must.Get(serve(t, result(`{"expected_count":9,"missing_record_count":1,"missing_records":[{"uri":"a\u0000b"}],"missing_records_truncated":false}`)).open(t).Missing(t.Context(), root))(t)
	must.Equal(t, "control character", m, api.Missing{Expected: 9, Count: 1})
	found := must.Get(serve(t, result(hits)).open(t).Find(t.Context(), api.Query{Text: "x", Targets: []string{root}, Limit: 1}))(t)
	must.Equal(t, "more than asked for", found, []api.Found{{URI: file, Score: 0.81}})
	found = must.Get(serve(t, result(`{"memories":[]}`)).open(t).Find(t.Context(), api.Query{Text: "x", Targets: []string{root}, Limit: 1}))(t)
	must.Equal(t, "nothing", len(found), 0)
}

// Headers without an end do not fill the memory.
func TestHugeHeaders(t *testing.T) {
	t.Parallel()
	s := serve(t, says(200, healthy, "X-Fill", strings.Repeat("x", 1<<20)))
	must.Fail(s.open(t).Health(t.Context()))(t, "huge headers", amber.KindUnreachable)
}

// pages answers a listing with pages of a size, of so many names.
func pages(size, total int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		offset, err := strconv.Atoi(r.URL.Query().Get("offset"))
		if err != nil {
			panic(err)
		}
		var names []string
		for i := offset; i < min(offset+size, total); i++ {
			names = append(names, fmt.Sprintf(`"%s/%d.md"`, root, i))
		}
		says(200, fmt.Sprintf(`{"status":"ok","result":[%s],"has_more":%t}`, strings.Join(names, ","), offset+size < total))(w, r)
	}
}

// A listing is read to its end, page by page.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ size, total, requests int }{{1000, 0, 1}, {1000, 1000, 1}, {1000, 2001, 3}, {7, 20, 3}} {
		s := serve(t, pages(tc.size, tc.total))
		seen := map[string]bool{}
		must.Do(t, s.open(t).List(t.Context(), root+"/", func(uri string) error { seen[uri] = true; return nil }))
		must.Equal(t, "names", len(seen), tc.total)
		must.Equal(t, "requests", len(s.requests()), tc.requests)
	}
	enough, n := errors.New("enough"), 0
	err := serve(t, pages(1000, 5000)).open(t).List(t.Context(), root, func(string) error { n++; return enough })
	must.Is(t, "error of the caller", err, enough)
	must.Equal(t, "calls", n, 1)
	gone := serve(t, pages(10, 30), failure(404, "NOT_FOUND", "null"))
	must.Do(t, gone.open(t).List(t.Context(), root, func(string) error { return nil }))
}

// A listing that does not get on, or does not end, is given up.
func TestEndlessListings(t *testing.T) {
	t.Parallel()
	page := func(names string) http.HandlerFunc {
		return says(200, `{"status":"ok","result":[`+names+`],"has_more":true}`)
	}
	for name, tc := range map[string]struct {
		answer   http.HandlerFunc
		requests int
	}{
		"the same page":    {page(`"` + file + `"`), 2},
		"empty pages":      {page(""), 1},
		"too many names":   {page(strings.Repeat(`"`+root+`/x",`, 99_999) + `"` + root + `/y"`), 2},
		"more than a page": {page(strings.Repeat(`"x",`, 100_000) + `"x"`), 1},
	} {
		s := serve(t, tc.answer)
		err := s.open(t).List(t.Context(), root, func(string) error { return nil })
		must.Kind(t, name, err, amber.KindDamaged)
		must.Equal(t, name, len(s.requests()), tc.requests)
	}
}

// More names than a server can have end a listing whose pages are all new.
func TestTooManyNames(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	full := strings.Repeat(`"",`, 99_998)
	n := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		says(200, fmt.Sprintf(`{"status":"ok","result":[%s"%s/%d"],"has_more":true}`, full, root, n))(w, r)
	})
	told := 0
	err := s.open(t).List(t.Context(), root, func(string) error { told++; return nil })
	must.Kind(t, "", err, amber.KindDamaged, "no end")
	must.Equal(t, "names", told, 20)
	must.Equal(t, "requests", len(s.requests()), 21)
}

// The client does not send requests that cannot be right.
func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, says(200, healthy))
	c := s.open(t)
	ctx := t.Context()
	find := func(text string, limit int, targets ...string) error {
		return must.Err(c.Find(ctx, api.Query{Text: text, Targets: targets, Limit: limit}))
	}
	batch := func(files ...api.File) error { return c.WriteBatch(ctx, root, files) }
	var many, large []api.File
	for i := range api.MaxBatch + 1 {
		many = append(many, api.File{URI: fmt.Sprint(root, "/", i)})
	}
	for i := range 3 {
		large = append(large, api.File{URI: fmt.Sprint(root, "/", i), Content: strings.Repeat("x", 6<<20)})
	}
	for name, err := range map[string]error{
		"empty query": find("", 1, root), "blank query": find(" \n", 1, root), "query not UTF-8": find("\xff", 1, root), "huge query": find(strings.Repeat("x", 1<<20), 1, root),
		"limit 0": find("x", 0, root), "huge limit": find("x", 1<<30, root), "no folder": find("x", 1), "folder": find("x", 1, "a\x00"),
		"folders": find("x", 1, make([]string, 101)...), "too many files": batch(many...), "too many bytes": batch(large...),
		"twice": batch(many[0], many[0]), "file of a batch": batch(api.File{URI: "\n"}), "content of a batch": batch(api.File{URI: file, Content: "\xff"}),
		"root of a batch": c.WriteBatch(ctx, "", nil),
		"content":         c.Write(ctx, file, "\xff"), "large content": c.Write(ctx, file, strings.Repeat("x", 9<<20)),
		"URI": c.Write(ctx, "", "x"), "long URI": must.Err(c.Download(ctx, strings.Repeat("x", 5000))), "URI not UTF-8": must.Err(c.Download(ctx, "\xff")),
		"line break": must.Err(c.Download(ctx, "a\nb")), "delete": c.Delete(ctx, "a\x1bb", true), "mkdir": c.Mkdir(ctx, "\x7f"), "missing": must.Err(c.Missing(ctx, "")),
		"reindex": must.Err(c.Reindex(ctx, "\u202e")), "list": c.List(ctx, "", nil),
		"account": must.Err(c.CreateAccount(ctx, "a/b", "x")),
		"admin":   must.Err(c.CreateAccount(ctx, "a", "")), "user": must.Err(c.CreateUser(ctx, "a", "..")), "key": must.Err(c.NewKey(ctx, "a", "x?y")),
		"long account": must.Err(c.NewKey(ctx, strings.Repeat("a", 200), "x")),
	} {
		must.Kind(t, name, err, amber.KindInvalid)
		must.Hides(t, name, err.Error(), "\n", "\x1b", "\xff", "\u202e")
	}
	must.Do(t, c.WriteBatch(ctx, root, nil))
	must.Equal(t, "requests", len(s.requests()), 0)
}
