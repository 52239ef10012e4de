package notes

import "strings"

// knownSettings are the keys that git itself writes into a new repository, all in the section core, with the
// values they may have. Other keys can name programs to run or files to read.
var knownSettings = map[string][]string{
	"repositoryformatversion": {"0"},
	"bare":                    {"false"},
	"filemode":                {"true", "false"},
	"logallrefupdates":        {"true", "false"},
	"symlinks":                {"true", "false"},
	"ignorecase":              {"true", "false"},
	"precomposeunicode":       {"true", "false"},
}

// checkConfig refuses a repository configuration with anything but known settings. It reads the
// plain form that git writes and nothing else, so there is no room for two readings of one line.
func checkConfig(text string) error {
	inCore := false
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n")
		switch {
		case line == "":
		case line == "[core]":
			inCore = true
		case !inCore || !isKnownSetting(line):
			return untrusted("the .git/config has settings that Amber did not write")
		}
	}
	return nil
}

func isKnownSetting(line string) bool {
	key, value, found := strings.Cut(line, "=")
	if !found {
		return false
	}
	key, value = strings.ToLower(strings.Trim(key, " \t")), strings.Trim(value, " \t")
	for _, known := range knownSettings[key] {
		if value == known {
			return true
		}
	}
	return false
}
