package natsbus

import (
	"errors"
	"net/url"
	"strings"
)

// secrets are the words that must not be shown.
type secrets []string

// secretsOf returns what a list of servers has in it to log in with.
func secretsOf(servers []*url.URL) secrets {
	var s secrets
	for _, u := range servers {
		if u.User == nil {
			continue
		}
		s = append(s, u.User.String())
		if pw, ok := u.User.Password(); ok {
			s = append(s, pw, url.QueryEscape(pw), url.PathEscape(pw))
		} else {
			s = append(s, u.User.Username()) // a token
		}
	}
	return s
}

// clean returns the text of an error on one line, without secrets.
func (s secrets) clean(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	for _, word := range s {
		if word != "" {
			text = strings.ReplaceAll(text, word, "***")
		}
	}
	return text
}

// scrub returns err, or an error with the same text without the secrets in it.
func (s secrets) scrub(err error) error {
	if err == nil {
		return nil
	}
	if text := s.clean(err); text != err.Error() {
		return errors.New(text)
	}
	return err
}
