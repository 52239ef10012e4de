package httpapi

// needed are the fields without which a request is refused, by schema. Fields that the path repeats
// are not among them.
var needed = map[string][]string{}

// neededParameters are the parameters of queries without which a request is refused.
var neededParameters = map[string][]string{}

// exampleParameters are examples of parameters that mean the same everywhere.
var exampleParameters = map[string]any{
	"tenant":        "acme",
	"agent":         "ada",
	keyHeader:       "0198c0de-0000-7000-8000-0000000000aa",
	"If-Match":      `"1"`,
	"If-None-Match": "*",
}
