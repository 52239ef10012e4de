package codex_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/codex"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	thread  = "0199c0de-0000-7000-8000-000000000001"
	fork    = "0199c0de-0000-7000-8000-000000000002"
	sample  = "sessions/2026/01/02/rollout-2026-01-02T03-04-05-" + thread + ".jsonl"
	summary = "memories/rollout_summaries/2026-01-02T03-04-05-a1B2-coupon_rounding.md"
	adHoc   = "memories/extensions/ad_hoc/notes/2026-01-02T03-04-05-round-once.md"
)

// itemKeys are digests of the items of the sample up to each: they never change, or an import would find every turn new.
var itemKeys = map[int]string{
	3: "5dea8205ad62e9750b2582acb0e3b2dd", 5: "bd9f4934d267d74b2fc299241d2d2ea7", 6: "2c3b1c4f6c6551a928a2f0ef8d55e146", 7: "3882d46f0622aebe30238d92f755751e",
}

func TestSample(t *testing.T) {
	r := foreigntest.Read(t, codex.Format, "testdata")
	must.Equal(t, "skipped", r.Skips, nil)
	info := must.Get(os.Stat(filepath.Join("testdata", sample)))(t)
	key := func(n int) foreign.Key { return foreign.Key{thread, "item " + itemKeys[n]} }
	must.Equal(t, "sessions", r.Sessions, []foreign.Session{{
		Place: foreign.Place{File: sample}, ID: thread, Name: "Fix the total", Project: "shop", Directory: "/src/shop",
		StartedAt: foreigntest.At(t, "2026-01-02T03:04:05.678Z"), EndedAt: foreigntest.At(t, "2026-01-02T03:04:10Z"), Turns: 4,
		State: key(7)[1] + " " + strconv.FormatInt(info.Size(), 10),
	}}, foreigntest.Times)
	place := func(line string) foreign.Place { return foreign.Place{File: sample, At: line} }
	must.Equal(t, "turns", r.Turns[thread], []foreign.Turn{
		{Place: place("line 5"), Key: key(3), Role: amber.RoleUser, Content: "Fix the total", At: foreigntest.At(t, "2026-01-02T03:04:06Z")},
		{
			Place: place("line 7"), Key: key(5), Role: amber.RoleAssistant, At: foreigntest.At(t, "2026-01-02T03:04:08Z"),
			Activity: []amber.Activity{
				{Kind: amber.ActivityTool, Name: "shell", Detail: `{"command":["go","test"]}`, Status: "completed", Count: 1},
				{Kind: amber.ActivityCommand, Name: "go test", Status: "completed", Count: 1},
			},
		},
		{Place: place("line 8"), Key: key(6), Role: amber.RoleTool, Content: "ok", At: foreigntest.At(t, "2026-01-02T03:04:09Z")},
		{Place: place("line 9"), Key: key(7), Role: amber.RoleAssistant, Content: "It rounds once now.", At: foreigntest.At(t, "2026-01-02T03:04:10Z")},
	}, foreigntest.Times)
	for i := range r.Memories {
		if r.Memories[i].Key[0] != "summary" {
			r.Memories[i].UpdatedAt = amber.Time{} // of the file
		}
	}
	must.Equal(t, "memories", r.Memories, []foreign.Memory{{
		Place: foreign.Place{File: summary}, Key: foreign.Key{"summary", thread}, Kind: amber.SessionSummary,
		Identities: amber.Identities{SessionID: thread, ProjectID: "shop"}, Title: "coupon rounding", Content: "Rounding moved to the invoice.",
		SourceRefs: []amber.SourceRef{{Kind: "session", Value: thread}}, UpdatedAt: foreigntest.At(t, "2026-01-02T03:04:10Z"),
		Foreign: map[string]string{
			"rollout_path": "/home/ada/.codex/" + sample, "cwd": "/src/shop", "git_branch": "main",
		},
	}, {
		Place: foreign.Place{File: adHoc}, Key: foreign.Key{"2026-01-02T03-04-05-round-once.md"}, Kind: amber.WorkspaceFact,
		Title: "round once", Content: "Round once, at the invoice.", CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"),
	}}, foreigntest.Times)
}

// A summary is about a session of a project, not about the user whom memories about the user belong to.
func TestASummaryBelongsToItsProject(t *testing.T) {
	t.Parallel()
	o := foreigntest.Options()
	o.User = "ada"
	m := foreigntest.ReadWith(t, codex.Format, "testdata", o).Memories[0]
	must.Equal(t, "kind", m.Kind, amber.SessionSummary)
	must.Equal(t, "identities", m.Identities, amber.Identities{SessionID: thread, ProjectID: "shop"})
}

const metaLine = `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"` + thread + `","timestamp":"2026-01-02T03:04:05Z","cwd":"/src/shop"}}`

func item(at, payload string) string {
	return `{"timestamp":"` + at + `","type":"response_item","payload":` + payload + `}`
}

func user(at, text string) string {
	return item(at, `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+text+`"}]}`)
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func TestWhatTheProgramSaysIsNotThePersons(t *testing.T) {
	for text, want := range map[string]string{
		`<environment_context>\n<cwd>/x</cwd>\n</environment_context>`:                             "",
		`<environment_context>\nx</environment_context>\n\nFix it\n`:                               "Fix it",
		`# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>\nbe nice\n</INSTRUCTIONS>`:            "",
		`# AGENTS.md\n<INSTRUCTIONS>x</INSTRUCTIONS><environment_context></environment_context>Go`: "Go",
		`<user_instructions>x</user_instructions>`:                                                 "",
		`<turn_aborted>reason`:                              "",
		`<subagent_notification>{}</subagent_notification>`: "",
		`<skill>x</skill> now`:                              " now",
		`<goal_context>x</goal_context>`:                    "",
		`Look at <skill>`:                                   "Look at <skill>",
	} {
		dir := foreigntest.Files(t, map[string]string{sample: lines(metaLine, user("2026-01-02T03:04:06Z", text), user("2026-01-02T03:04:07Z", "last"))})
		r := foreigntest.Read(t, codex.Format, dir)
		all := r.Turns[thread]
		got := ""
		if len(all) == 2 {
			got = all[0].Content
		}
		must.Equal(t, text, got, want)
	}
}

func TestPartsOfAMessageAreLookedAtAlone(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{sample: lines(metaLine, item("2026-01-02T03:04:06Z", `{"type":"message","role":"user","content":[
		{"type":"input_text","text":"# AGENTS.md of old"},{"type":"input_text","text":"Fix it"},{"type":"input_image","image_url":"data:"},7,null]}`))})
	// a line break inside an object makes three broken lines of it
	r := foreigntest.Read(t, codex.Format, dir)
	must.Equal(t, "skipped", len(r.Skips), 2)
	dir = foreigntest.Files(t, map[string]string{sample: lines(metaLine, item("2026-01-02T03:04:06Z", `{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md of old"},{"type":"input_text","text":"Fix it"},{"type":"input_image","image_url":"data:"},7,null]}`))})
	r = foreigntest.Read(t, codex.Format, dir)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns[thread]), "user: Fix it\n[image]\n")
}

func TestCallsAreNamedAsByHooks(t *testing.T) {
	patch := `*** Begin Patch\n*** Add File: basket.go\n+x\n*** Update File: main.go\n*** Move to: /abs/cart.go\n*** End Patch`
	dir := foreigntest.Files(t, map[string]string{sample: lines(
		metaLine,
		item("2026-01-02T03:04:06Z", `{"type":"custom_tool_call","name":"apply_patch","call_id":"1","input":"`+patch+`"}`),
		item("2026-01-02T03:04:07Z", `{"type":"local_shell_call","call_id":"2","action":{"type":"exec","command":["bash","-lc","go vet <x>"]}}`),
		item("2026-01-02T03:04:08Z", `{"type":"function_call_output","call_id":"2","output":"{\"output\":\"no such file\",\"metadata\":{\"exit_code\":1}}"}`),
		item("2026-01-02T03:04:09Z", `{"type":"web_search_call","action":{"type":"search","query":"go"}}`),
	)})
	r := foreigntest.Read(t, codex.Format, dir)
	var got []amber.Activity
	for _, turn := range r.Turns[thread] {
		got = append(got, turn.Activity...)
	}
	must.Equal(t, "activity", got, []amber.Activity{
		{Kind: "tool", Name: "apply_patch", Detail: strings.ReplaceAll(patch, `\n`, "\n"), Status: "completed", Count: 1},
		{Kind: "file", Name: "/src/shop/basket.go", Status: "created", Count: 1},
		{Kind: "file", Name: "/src/shop/main.go", Status: "modified", Count: 1},
		{Kind: "file", Name: "/abs/cart.go", Status: "created", Count: 1},
		{Kind: "tool", Name: "local_shell", Detail: `{"type":"exec","command":["bash","-lc","go vet <x>"]}`, Status: "failed", Count: 1, Failed: 1},
		{Kind: "command", Name: "go vet <x>", Detail: "no such file", Status: "failed", Count: 1, Failed: 1},
		{Kind: "error", Name: "local_shell: no such file", Detail: "go vet <x>", Count: 1, Failed: 1},
		{Kind: "tool", Name: "web_search", Detail: `{"type":"search","query":"go"}`, Status: "completed", Count: 1},
	}, foreigntest.Times)
	must.Equal(t, "texts", foreigntest.Texts(r.Turns[thread]), "tool: no such file\n")
}

func TestTheNewestFileOfAThreadCounts(t *testing.T) {
	base := "sessions/2026/01/02/rollout-2026-01-02T03-04-05-" + thread
	dir := foreigntest.Files(t, map[string]string{
		base + ".jsonl": lines(metaLine, user("2026-01-02T03:04:06Z", "reverted")),
		base + "_0199c0de-0000-7000-8000-00000000000a.jsonl":                                                      lines(metaLine, user("2026-01-02T03:04:06Z", "older")),
		"archived_sessions/rollout-2026-01-02T03-04-05-" + thread + "_0199c0de-0000-7000-8000-00000000000b.jsonl": lines(metaLine, user("2026-01-02T03:04:06Z", "newest")),
	})
	r := foreigntest.Read(t, codex.Format, dir)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns[thread]), "user: newest\n")
	must.Equal(t, "sessions", len(r.Sessions), 1)
}

// After a revert the lines before it have the keys they had, and those behind it others, also where the file of the first
// version is gone. Otherwise a second import would take the new turns for those that were taken back.
func TestTurnsAfterARevertHaveKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	before := []string{metaLine, user("2026-01-02T03:04:06Z", "one"), user("2026-01-02T03:04:07Z", "two")}
	base := "sessions/2026/01/02/rollout-2026-01-02T03-04-05-" + thread
	first := map[string]string{base + ".jsonl": lines(append(slices.Clone(before), user("2026-01-02T03:04:08Z", "three"), user("2026-01-02T03:04:09Z", "four"))...)}
	name := base + "_0199c0de-0000-7000-8000-00000000000a.jsonl"
	second := map[string]string{name: lines(append(slices.Clone(before), user("2026-01-02T03:05:08Z", "drei"), user("2026-01-02T03:05:09Z", "four"))...)}
	was := keysOf(t, first)
	is := keysOf(t, second)
	must.Equal(t, "keys before the revert", is[:2], was[:2])
	seen := map[string]bool{}
	for _, k := range append(slices.Clone(was), is[2:]...) {
		must.Hold(t, !seen[strings.Join(k, " ")], "key %q is there twice", k)
		seen[strings.Join(k, " ")] = true
	}
	maps.Copy(second, first)
	must.Equal(t, "keys with both files", keysOf(t, second), is)
}

func keysOf(t *testing.T, files map[string]string) (keys []foreign.Key) {
	t.Helper()
	for _, turn := range foreigntest.Read(t, codex.Format, foreigntest.Files(t, files)).Turns[thread] {
		keys = append(keys, turn.Key)
	}
	return keys
}

func TestAForkGivesOnlyWhatIsItsOwn(t *testing.T) {
	child := strings.ReplaceAll(metaLine, `"id":"`+thread+`"`, `"id":"`+fork+`","forked_from_id":"`+thread+`"`)
	old := []string{user("2026-01-02T03:04:06Z", "one"), user("2026-01-02T03:04:07Z", "two")}
	again := []string{user("2026-01-03T00:00:00Z", "one"), user("2026-01-03T00:00:00Z", "two")}
	name := "sessions/2026/01/03/rollout-2026-01-03T00-00-00-" + fork + ".jsonl"
	forked := lines(append(append([]string{child, metaLine}, again...), user("2026-01-03T00:00:01Z", "three"))...)
	dir := foreigntest.Files(t, map[string]string{sample: lines(append([]string{metaLine}, old...)...), name: forked})
	r := foreigntest.Read(t, codex.Format, dir)
	must.Equal(t, "parent", foreigntest.Texts(r.Turns[thread]), "user: one\nuser: two\n")
	must.Equal(t, "fork", foreigntest.Texts(r.Turns[fork]), "user: three\n")
	must.Equal(t, "its parent", r.Sessions[1].Parent, amber.SessionID(thread))
	must.Equal(t, "thread of its key", r.Turns[fork][0].Key[0], fork)

	alone := foreigntest.Read(t, codex.Format, foreigntest.Files(t, map[string]string{name: forked}))
	must.Equal(t, "fork without its parent", foreigntest.Texts(alone.Turns[fork]), "user: one\nuser: two\nuser: three\n")
	nothing := lines(append([]string{child}, again...)...)
	r = foreigntest.Read(t, codex.Format, foreigntest.Files(t, map[string]string{sample: lines(append([]string{metaLine}, old...)...), name: nothing}))
	must.Equal(t, "sessions when a fork adds nothing", len(r.Sessions), 1)
}

func TestParentsInACircle(t *testing.T) {
	a := strings.ReplaceAll(metaLine, `"cwd"`, `"parent_thread_id":"`+fork+`","cwd"`)
	b := strings.ReplaceAll(strings.ReplaceAll(metaLine, thread, fork), `"cwd"`, `"forked_from_id":"`+thread+`","cwd"`)
	name := "rollout-2026-01-03T00-00-00-" + fork + ".jsonl"
	r := foreigntest.Read(t, codex.Format, foreigntest.Files(t, map[string]string{
		sample: lines(a, user("2026-01-02T03:04:06Z", "one")), name: lines(b, user("2026-01-02T03:04:06Z", "two")),
	}))
	must.Equal(t, "sessions", len(r.Sessions), 2)
	self := strings.ReplaceAll(metaLine, `"cwd"`, `"forked_from_id":"`+thread+`","cwd"`)
	r = foreigntest.Read(t, codex.Format, foreigntest.Files(t, map[string]string{sample: lines(self, user("2026-01-02T03:04:06Z", "one"))}))
	must.Equal(t, "own parent", r.Sessions[0].Parent, "")
}

func TestPackedRollout(t *testing.T) {
	e := must.Get(zstd.NewWriter(nil))(t)
	packed := e.EncodeAll([]byte(lines(metaLine, user("2026-01-02T03:04:06Z", "one"))), nil)
	dir := foreigntest.Files(t, map[string]string{"archived_sessions/rollout-2026-01-02T03-04-05-" + thread + ".jsonl.zst": string(packed)})
	r := foreigntest.Read(t, codex.Format, dir)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns[thread]), "user: one\n")
	cut := foreigntest.Files(t, map[string]string{"archived_sessions/rollout-2026-01-02T03-04-05-" + thread + ".jsonl.zst": string(packed[:len(packed)-4])})
	must.Hold(t, len(foreigntest.ReadAny(t, codex.Format, cut).Skips) > 0, "a cut file is not reported")
}

func TestNamesOrdinalsTimesAndCompactions(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{sample: lines(
		metaLine,
		`{"timestamp":"2026-01-02T03:04:06Z","ordinal":17,"type":"response_item","payload":{"type":"message","role":"user","content":"one"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"two"}]}}`,
		`{"timestamp":"1970-01-02T03:04:06Z","type":"response_item","payload":{"type":"message","role":"assistant","content":"three"}}`,
		`{"timestamp":"2026-01-02T03:04:08Z","type":"compacted","payload":{"message":"So far","replacement_history":[]}}`,
		`{"timestamp":"2026-01-02T03:04:08Z","type":"event_msg","payload":{"type":"thread_name_updated","thread_name":"Rounding"}}`,
		`{"timestamp":"2026-01-02T03:04:08Z","type":"response_item","payload":[]}`,
	)})
	r := foreigntest.Read(t, codex.Format, dir)
	file := foreign.Place{File: sample}
	must.Equal(t, "skipped", r.Skips, []string{
		file.File + ": line 4: time is 1970-01-02T03:04:06Z, want one from 1990 to 2099",
		file.File + ": line 7: payload found JSON that is no object",
	})
	must.Equal(t, "name", r.Sessions[0].Name, "Rounding")
	turns := r.Turns[thread]
	must.Equal(t, "first key", turns[0].Key, foreign.Key{thread, "17"})
	must.Equal(t, "time of a line without one", turns[1].At, foreigntest.At(t, "2026-01-02T03:04:06Z"), foreigntest.Times)
	must.Equal(t, "compaction", turns[2].Compaction, "So far")
}

func TestRolloutsOfOld(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{sample: lines(
		`{"id":"`+thread+`","timestamp":"2025-05-02T03:04:05Z","instructions":null,"git":{}}`,
		`{"record_type":"state"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}`,
		`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c"}`,
	)})
	r := foreigntest.Read(t, codex.Format, dir)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns[thread]), "user: one\n")
	must.Equal(t, "count", len(r.Turns[thread]), 2)
	must.Equal(t, "time", r.Turns[thread][0].At, foreigntest.At(t, "2025-05-02T03:04:05Z"), foreigntest.Times)
}

func TestMemoriesFolder(t *testing.T) {
	head := func(updated, text string) string {
		return "thread_id: " + thread + "\nupdated_at: " + updated + "\ncwd: /src/shop\n\n" + text + "\n"
	}
	dir := foreigntest.Files(t, map[string]string{
		"MEMORY.md": "# Mine\n", "memory_summary.md": "Short\n", "raw_memories.md": "again\n", "skills/x/SKILL.md": "how\n",
		"rollout_summaries/2026-01-02T03-04-05-aaaa.md":   head("2026-01-02T03:04:05Z", "old"),
		"rollout_summaries/2026-01-02T03-04-05-bbbb-x.md": head("2026-01-03T03:04:05Z", "new"),
		"rollout_summaries/broken.md":                     "text alone",
		"rollout_summaries/late.md":                       strings.ReplaceAll(head("12", "x"), thread, "t2"),
		"extensions/ad_hoc/notes/mine.md":                 "By hand.\n",
		"extensions/ad_hoc/notes/empty.md":                "\n",
		"AGENTS.md":                                       "of a repository",
	})
	r := foreigntest.Read(t, codex.Format, dir)
	got := map[string]string{}
	for _, m := range r.Memories {
		got[strings.Join(m.Key, " ")] = m.Content
	}
	must.Equal(t, "memories", got, map[string]string{"summary " + thread: "new", "mine.md": "By hand."})
	must.Equal(t, "notes", len(r.Notes), 2)
	must.Equal(t, "first note", r.Notes[0].Name+": "+r.Notes[0].Content, "codex/MEMORY: # Mine\n")
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), "aaaa.md: a newer summary", "broken.md: want the lines", "late.md: updated_at: time is", "SKILL.md: a skill", "empty.md: the note is empty")
	must.Equal(t, "count of skipped", len(r.Skips), 5)
}

func TestOrdersOfAPerson(t *testing.T) {
	for _, base := range []string{"", ".codex/"} {
		dir := foreigntest.Files(t, map[string]string{
			base + "AGENTS.md": "Be kind.\n", base + "AGENTS.override.md": "Be brief.\n", base + "sub/AGENTS.md": "no",
			base + sample: lines(metaLine, user("2026-01-02T03:04:06Z", "one")),
		})
		r := foreigntest.Read(t, codex.Format, dir)
		var names []string
		for _, n := range r.Notes {
			names = append(names, n.Name+": "+strings.TrimSpace(n.Content))
		}
		must.Equal(t, "notes", names, []string{"instructions/codex/AGENTS: Be kind.", "instructions/codex/AGENTS.override: Be brief."})
	}
}

func TestDetect(t *testing.T) {
	long := strings.ReplaceAll(metaLine, `"cwd"`, `"base_instructions":"`+strings.Repeat("x", 100<<10)+`","cwd"`)
	foreigntest.Detects(t, codex.Format, map[string]foreign.Match{
		"testdata": foreign.Sure, "testdata/sessions": foreign.Sure, "testdata/memories": foreign.Sure,
		"testdata/memories/rollout_summaries": foreign.Sure, "testdata/" + sample: foreign.Sure, "testdata/" + summary: foreign.Sure,
		"testdata/" + adHoc: foreign.No,
		foreigntest.Files(t, map[string]string{sample: lines(long, user("2026-01-02T03:04:06Z", "one"))}):               foreign.Sure,
		foreigntest.Files(t, map[string]string{sample: lines(`{"type":"user","message":{}}`)}):                          foreign.No,
		foreigntest.Files(t, map[string]string{"a.jsonl": `{"type":"entity","name":"session_meta","observations":[]}`}): foreign.No,
		foreigntest.Files(t, map[string]string{"AGENTS.md": "x", "MEMORY.md": "y"}):                                     foreign.No,
		foreigntest.Files(t, nil): foreign.No,
	})
}

func TestSingleFileOfAnyName(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{"mine.jsonl": lines(metaLine, user("2026-01-02T03:04:06Z", "one"))})
	r := foreigntest.Read(t, codex.Format, filepath.Join(dir, "mine.jsonl"))
	must.Equal(t, "turns", foreigntest.Texts(r.Turns[thread]), "user: one\n")
}

func TestHomes(t *testing.T) {
	none := func(string) string { return "" }
	must.Equal(t, "home", codex.Format.Homes(none, "/home/ada"), []string{filepath.Join("/home/ada", ".codex")})
	must.Equal(t, "moved", codex.Format.Homes(func(string) string { return "/x" }, "/home/ada"), []string{"/x"})
}

func TestDamage(t *testing.T) {
	foreigntest.Damage(t, codex.Format, "testdata", sample, 2)
	foreigntest.Damage(t, codex.Format, "testdata", summary, 1)
	foreigntest.Damage(t, codex.Format, "testdata", adHoc, 1)
}

func FuzzRollout(f *testing.F) {
	b := must.Get(os.ReadFile(filepath.Join("testdata", sample)))(f)
	foreigntest.Fuzz(f, codex.Format, sample, b, []byte(metaLine), []byte(`{"type":"compacted","payload":{"message":"x"}}`))
}

func FuzzSummary(f *testing.F) {
	foreigntest.Fuzz(f, codex.Format, summary, must.Get(os.ReadFile(filepath.Join("testdata", summary)))(f))
}

func TestPackedRolloutThatIsDamaged(t *testing.T) {
	e := must.Get(zstd.NewWriter(nil))(t)
	name := "rollout-2026-01-02T03-04-05-" + thread + ".jsonl.zst"
	dir := foreigntest.Files(t, map[string]string{name: string(e.EncodeAll([]byte(lines(metaLine, user("2026-01-02T03:04:06Z", "one"))), nil))})
	foreigntest.Damage(t, codex.Format, dir, name, -1)
}

func TestHostileLines(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	dir := foreigntest.Files(t, map[string]string{sample: lines(
		metaLine,
		deep,
		item("2026-01-02T03:04:06Z", strings.Repeat("[", 9000)+strings.Repeat("]", 9000)),
		item("2026-01-02T03:04:06Z", `{"type":"message","role":"user","content":"a\u0000b`+"\xff"+`"}`),
		`{"timestamp":5,"ordinal":1e400,"type":["x"],"payload":{}}`,
		`{"timestamp":"2026-01-02T03:04:06Z","ordinal":1e308,"type":"response_item","payload":{"type":"message","role":"user","content":"b"}}`,
		item("2026-01-02T03:04:06Z", `{"type":"function_call","name":{},"arguments":[1],"call_id":7}`),
		item("2026-01-02T03:04:06Z", `{"type":"message","role":"user","content":{"text":"x"}}`),
		"\x00\x00",
	)})
	r := foreigntest.Read(t, codex.Format, dir)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns[thread]), "user: a\x00b\uFFFD\nuser: b\n")
	must.Equal(t, "skipped", len(r.Skips), 3)
	must.Equal(t, "items of an empty file", foreigntest.ReadAny(t, codex.Format, foreigntest.Files(t, map[string]string{sample: ""})).Count(), 0)
}
