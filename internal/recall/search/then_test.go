package search

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadTime(t *testing.T) {
	now := time.Date(2026, 11, 10, 20, 0, 0, 0, time.UTC).UnixMilli()
	for _, c := range []struct{ question, from, to string }{
		{"what did we use in spring 2025?", "2025-03-01", "2025-06-01"},
		{"what RTOS version were we building with in December 2025?", "2025-12-01", "2026-01-01"},
		{"what was the scheme at the end of 2025", "2025-01-01", "2026-01-01"},
		{"what broke last winter?", "2025-12-01", "2026-03-01"},
		{"what broke last autumn?", "2025-09-01", "2025-12-01"},
		{"what broke this spring, and why?", "2026-03-01", "2026-06-01"},
		{"why was it blocked in late July?", "2026-07-01", "2026-08-01"},
		{"What did Gina find on 1 February, 2023?", "2023-02-01", "2023-02-02"},
		{"What did Melanie show on October 13th, 2023 to Ann?", "2023-10-13", "2023-10-14"},
		{"who won in December?", "2025-12-01", "2026-01-01"},
		{"what happened in winter 2025", "2025-12-01", "2026-03-01"},
		{"what was planned last month?", "2026-10-01", "2026-11-01"},
		{"what was planned last year?", "2025-01-01", "2026-01-01"},
		{"budget of Q3 2025", "2025-07-01", "2025-10-01"},
	} {
		got := readTime(c.question, now)
		from, to := time.UnixMilli(got.from).UTC().Format(time.DateOnly), time.UnixMilli(got.to).UTC().Format(time.DateOnly)
		if from != c.from || to != c.to {
			t.Errorf("%q: %s to %s, want %s to %s", c.question, from, to, c.from, c.to)
		}
	}
}

func TestReadNoTime(t *testing.T) {
	for _, q := range []string{
		"may I use it", "can we march on", "does the build fall over", "what is port 2024", "which of the 12 boards", "", "in", "on the", "last", "this year", "the 2 of us",
		"does spring boot start", strings.Repeat("in ", 20000),
	} {
		if got := readTime(q, 0); got.span != (span{}) {
			t.Errorf("%q names the time %v, want none", q, got)
		}
	}
	for q, want := range map[string]bool{
		"what did we use before?": true, "which port did it use to listen on?": true, "how were images signed originally?": true, "where we used to meet": true,
		"what must I do before a merge": false, "which tool is used to sign images?": false,
	} {
		if got := readTime(q, 0); got.past != want {
			t.Errorf("%q is about the past: %v, want %v", q, got.past, want)
		}
	}
	for q, want := range map[string]bool{"how do I book a rig these days?": true, "how busy is it now?": true, "what do we know": false, "the nowhere plan": false} {
		if got := readTime(q, 0); got.now != want {
			t.Errorf("%q is about now: %v, want %v", q, got.now, want)
		}
	}
}

func TestReadTimeInLanguages(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 10, 20, 0, 0, 0, time.UTC).UnixMilli() // a Tuesday
	for _, c := range []struct{ question, from, to string }{
		{"what did we decide last Tuesday?", "2026-11-03", "2026-11-04"},
		{"what broke yesterday?", "2026-11-09", "2026-11-10"},
		{"Was haben wir im März 2025 entschieden?", "2025-03-01", "2025-04-01"},
		{"Was ging letzten Dienstag schief?", "2026-11-03", "2026-11-04"},
		{"Welche Datenbank hatten wir im letzten Winter?", "2025-12-01", "2026-03-01"},
		{"Was wurde am 3. Mai beschlossen, und warum?", "2026-05-03", "2026-05-04"},
		{"¿Qué decidimos el 3 de mayo de 2025?", "2025-05-03", "2025-05-04"},
		{"¿Qué se rompió la semana pasada?", "2026-10-28", "2026-11-04"},
		{"¿Qué acordamos el martes pasado con el equipo?", "2026-11-03", "2026-11-04"},
		{"Qu'avons-nous décidé mardi dernier ?", "2026-11-03", "2026-11-04"},
		{"Quelle base de données avions-nous en été 2025 ?", "2025-06-01", "2025-09-01"},
		{"Que s'est-il passé le mois dernier dans le projet ?", "2026-10-01", "2026-11-01"},
		{"O que decidimos em março de 2025 com a equipe?", "2025-03-01", "2025-04-01"},
		{"O que quebrou no ano passado, e por que não foi visto?", "2025-01-01", "2026-01-01"},
		{"Che cosa abbiamo deciso a marzo 2025?", "2025-03-01", "2025-04-01"},
		{"Wat hebben we vorige maand besloten?", "2026-10-01", "2026-11-01"},
		{"Что мы решили в марте 2025 года?", "2025-03-01", "2025-04-01"},
		{"昨年の冬に何を使っていましたか", "2025-12-01", "2026-03-01"},
		{"2025年3月に決めたことは何ですか", "2025-03-01", "2025-04-01"},
		{"先週の火曜日に何が壊れましたか", "2026-11-03", "2026-11-04"},
		{"3月14日に何がありましたか", "2026-03-14", "2026-03-15"},
		{"我们上个月决定了什么？", "2026-10-01", "2026-11-01"},
		{"去年夏天我们用的是什么数据库？", "2025-06-01", "2025-09-01"},
		{"我们2025年12月决定了什么", "2025-12-01", "2026-01-01"},
	} {
		got := readTime(c.question, now)
		from, to := time.UnixMilli(got.from).UTC().Format(time.DateOnly), time.UnixMilli(got.to).UTC().Format(time.DateOnly)
		if from != c.from || to != c.to {
			t.Errorf("%q: %s to %s, want %s to %s", c.question, from, to, c.from, c.to)
		}
	}
	for q, want := range map[string]timed{
		"Welchen Port benutzen wir derzeit?":           {now: true},
		"Welchen Port haben wir früher benutzt?":       {past: true},
		"¿Qué base de datos usamos actualmente?":       {now: true},
		"Quel port avions-nous à l'origine ?":          {past: true},
		"Qual porta usamos atualmente?":                {now: true},
		"以前はどのデータベースを使っていましたか":                         {past: true},
		"我们现在用什么数据库？":                                  {now: true},
		"Was hat der Kunde verlangt, der nicht zahlt?": {},
	} {
		if got := readTime(q, now); got != want {
			t.Errorf("%q: %+v, want %+v", q, got, want)
		}
	}
}

func TestOtherDates(t *testing.T) {
	t.Parallel()
	for question, want := range map[string][2]string{ // a word, and one of the other ways to write it
		"what happened on March 14": {"march", "03"}, "am 14. März 2026": {"marz", "march"}, "log of 2026-04-09": {"09", "9"}, "14.3.2026": {"3", "march"},
		"3 de mayo": {"mayo", "05"},
	} {
		if got := otherDates(question)[want[0]]; !slices.Contains(got, want[1]) {
			t.Errorf("%q: %s is also written %q, want %s among them", question, want[0], got, want[1])
		}
	}
	if got := otherDates("port 5432 and 14 boards in 2 rows"); len(got) != 0 {
		t.Errorf("%v are other dates, want none", got)
	}
}
