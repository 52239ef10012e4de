package lang_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/recall/lang"
)

func TestLanguageOfAText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Why did we pick PostgreSQL?":                    "en",
		"We decided to keep the cache for five minutes.": "en",
		"Warum haben wir PostgreSQL genommen?":           "de",
		"Der Build schlägt fehl":                         "de",
		"¿Por qué elegimos PostgreSQL?":                  "es",
		"Los despliegues se hacen los martes":            "es",
		"Pourquoi avons-nous choisi PostgreSQL ?":        "fr",
		"Les tests d'intégration tournent la nuit":       "fr",
		"Perché abbiamo scelto PostgreSQL?":              "it",
		"Por que não usamos mais o Redis?":               "pt",
		"Os testes rodam de madrugada":                   "pt",
		"Waarom gebruiken we geen Redis meer?":           "nl",
		"Dlaczego zrezygnowaliśmy z Redisa?":             "pl",
		"Neden Redis kullanmayı bıraktık?":               "tr",
		"Почему мы отказались от Redis?":                 "ru",
		"なぜRedisをやめたのですか":                                "ja",
		"我们为什么不用Redis了":                                  "zh",
		"캐시 만료 시간을 5분으로":                                 "ko",
		"ทำไมเราถึงเลิกใช้ Redis":                        "th",
		"لماذا توقفنا عن استخدام Redis؟":                 "ar",
		"हम रेडिस का उपयोग क्यों नहीं करते":              "hi",
		"PostgreSQL": "",
		"Every `unsafe` block in Stork carries a SAFETY comment; clippy denies it.": "en",
		"binares map flies NAS":             "",
		"buzzer I2C1":                       "",
		"libfuzer corpsu ten mintues":       "",
		"internal/store/sqlcore/fill.go:42": "",
		"":                                  "",
		"123 456":                           "",
		"the error was «le fichier n'existe pas» when we ran it on the server": "en",
	} {
		if got := lang.Of(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
