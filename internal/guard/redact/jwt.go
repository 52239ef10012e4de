package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// jwtRules removes JSON web tokens: base64url parts joined by dots, the first
// of which is a JSON object that names an algorithm. Three parts are signed,
// five are encrypted.
var jwtRules = []rule{{name: "jwt", anchors: []string{"eyJ"}, finder: findJWT}}

func findJWT(v view, at int, found []span) []span {
	if !v.begins(at, base64Edge) {
		return found
	}
	end, ok := v.jwtEnd(at)
	if !ok {
		return found
	}
	return append(found, span{at, end, "jwt"})
}

const (
	maxJWTHeader = 16 << 10
	minJWTPart   = 8
)

// jwtEnd returns where the token that begins at at ends.
func (v view) jwtEnd(at int) (end int, ok bool) {
	header := urlSafe.run(v.text, at, min(v.hi, at+maxJWTHeader))
	if header >= v.hi || v.text[header] != '.' || !namesAlgorithm(v.text[at:header]) {
		return 0, false
	}
	payload := urlSafe.run(v.text, header+1, v.hi)
	if payload-header <= minJWTPart || payload >= v.hi || v.text[payload] != '.' {
		return 0, false
	}
	end = urlSafe.run(v.text, payload+1, v.hi)
	if end-payload <= minJWTPart {
		return 0, false
	}
	return v.jweEnd(end), true
}

// jweEnd returns where the two further parts of an encrypted token end, or end
// itself where there are not both: the dot may end a sentence.
func (v view) jweEnd(end int) int {
	last := end
	for range 2 {
		if last >= v.hi || v.text[last] != '.' {
			return end
		}
		next := urlSafe.run(v.text, last+1, v.hi)
		if next-last <= minJWTPart {
			return end
		}
		last = next
	}
	return last
}

// namesAlgorithm reports whether a header is a JSON object with "alg".
func namesAlgorithm(header string) bool {
	plain, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil || !strings.Contains(string(plain), `"alg"`) {
		return false
	}
	var fields struct {
		Algorithm string `json:"alg"`
	}
	return json.Unmarshal(plain, &fields) == nil && fields.Algorithm != ""
}
