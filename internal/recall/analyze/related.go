package analyze

import (
	"strings"
	"sync"
)

// related holds groups of words, one group a line, that people use for one
// another when they talk about software: forms a stemmer does not bring
// together (chose, choose), abbreviations (db, database), near synonyms (pick,
// choose) and a general word with its best known kinds (database,
// postgresql). They are looked for only when a question's own words find too
// little, so a group may be generous.
var related = sync.OnceValue(func() map[string][]string {
	return groups(relatedWords)
})

const relatedWords = `
	choose chose chosen choice pick select decide decision opt adopt prefer
	build built compile
	write wrote written
	read reading
	run ran execute launch
	begin began begun start
	break broke broken fail failure crash bug defect
	find found discover locate
	keep kept retain
	lose lost loss missing
	make made create
	send sent emit publish
	take took taken
	go went gone
	know knew known
	grow grew grown increase
	drop dropped remove delete
	hold held
	lead led
	leave left
	bring brought
	buy bought purchase
	think thought
	teach taught learn
	get got gotten obtain fetch
	give gave given
	see saw seen
	speak spoke talk
	meet met meeting
	pay paid payment
	database db postgresql postgres mysql mariadb sqlite oracle mongodb datastore
	cache redis memcached memoize
	queue broker kafka rabbitmq nats sqs messaging
	search elasticsearch opensearch lucene index
	auth authentication login signin sso oauth
	authorization permission role access
	password credential secret passphrase
	token jwt bearer
	config configuration setting option preference
	env environment variable
	repo repository git
	branch trunk main
	deploy deployment rollout release ship
	rollback revert undo
	ci pipeline jenkins
	test testing spec
	docs documentation readme manual
	doc document
	frontend ui interface react vue svelte
	backend server service
	api endpoint rest graphql grpc
	lib library package module dependency
	framework toolkit
	function func method
	param parameter argument arg
	directory dir folder
	container docker podman
	orchestrator kubernetes k8s nomad
	cloud aws gcp azure
	storage bucket s3
	log logging logs
	metric metrics monitoring observability prometheus grafana
	alert alarm pager oncall
	outage incident downtime
	slow latency performance lag
	fast quick speed
	memory ram heap
	cpu processor core
	error exception panic
	retry backoff reattempt
	timeout deadline
	limit cap quota maximum
	migrate migration upgrade
	schema table column
	encrypt encryption tls ssl
	backup snapshot restore
	customer client user
	team squad group
	boss manager lead
	email mail
	chat slack teams
	editor ide vim emacs vscode
	language golang python rust typescript javascript java
	os linux macos windows
	price cost pricing
	law compliance gdpr regulation
	privacy pii
	id identifier key uuid
	date day schedule
	problem issue trouble
	fix repair mend solve patch
	cause reason root
	rule convention policy guideline
	format formatting style lint
	name naming
	plan roadmap
	change modify edit update
	require need must
	avoid never forbid
`

// groups maps the stem of every word to the words of its groups.
func groups(text string) map[string][]string {
	byStem := map[string][]string{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for _, w := range words {
			byStem[Stem(w)] = append(byStem[Stem(w)], words...)
		}
	}
	return byStem
}

// maxRelated bounds how many related words one question asks for.
const maxRelated = 64

// relatedTo returns the words related to the given ones, without them, each
// stem once.
func relatedTo(words []string) []string {
	known := map[string]bool{}
	for _, w := range words {
		known[Stem(w)] = true
	}
	var all []string
	for _, w := range words {
		for _, r := range related()[Stem(w)] {
			if !known[Stem(r)] {
				all = append(all, r)
			}
		}
	}
	return firstDistinct(all, maxRelated, Stem)
}
