// Package analyze turns text into search terms.
//
// Two views of a text meet here. [Terms] is the index's view: exactly the
// terms that SQLite's FTS5 makes with the tokenizer
//
//	porter unicode61 remove_diacritics 2
//
// [Parse] is the asker's view: the content words of a question and, apart
// from them, its runs of Chinese, Japanese and Korean characters, which are
// written without spaces and are therefore searched by their characters. A
// word of a question matches a text when its [Stem] is one of the text's
// terms. [Fold] makes two texts comparable part by part, as FTS5's trigram
// tokenizer with remove_diacritics 1 does.
//
// The tables in tables.txt are read from FTS5 itself: they list the characters
// of words, and what each folds to; a test compares the tables with the real
// tokenizer over every code point. Invalid UTF-8 never fails: each bad byte
// separates words.
//
// Everything here is a pure function, safe for concurrent use.
package analyze
