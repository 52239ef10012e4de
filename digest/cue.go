package digest

import (
	"strings"
	"sync"
	"unicode"
)

// cues are phrases in lower case with what each is worth. Where several begin with
// the same word the longest counts.
type cues struct {
	first func() map[string][]cue // made when it is needed: most processes make no digest
}

type cue struct {
	words  []string
	weight float64
}

// newCues reads a table with a weight and the phrases of that weight on each line,
// separated by commas.
func newCues(table map[float64]string) cues {
	return cues{sync.OnceValue(func() map[string][]cue {
		first := map[string][]cue{}
		for weight, phrases := range table {
			for phrase := range strings.SplitSeq(phrases, ",") {
				words := strings.Fields(phrase)
				first[words[0]] = append(first[words[0]], cue{words, weight})
			}
		}
		return first
	})}
}

// score adds up the phrases that occur in the words of a sentence, each once.
func (c cues) score(words []string) float64 {
	sum, first := 0.0, c.first()
	seen := map[string]bool{}
	for i := 0; i < len(words); {
		best := cue{}
		for _, q := range first[words[i]] {
			if len(q.words) > len(best.words) && begins(words[i:], q.words) {
				best = q
			}
		}
		if len(best.words) == 0 {
			i++
			continue
		}
		if key := strings.Join(best.words, " "); !seen[key] {
			seen[key] = true
			sum += best.weight
		}
		i += len(best.words)
	}
	return sum
}

func begins(words, phrase []string) bool {
	if len(words) < len(phrase) {
		return false
	}
	for i, w := range phrase {
		if words[i] != w {
			return false
		}
	}
	return true
}

// words returns the words of a text in lower case, without what is in back quotes.
func words(text string) []string {
	var b strings.Builder
	isQuoted := quoting(text)
	for _, r := range text {
		switch quoted := isQuoted(r); {
		case r == '`':
			b.WriteByte(' ')
		case quoted:
		case r == '’':
			b.WriteByte('\'')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
}

// What the user wants: rules that hold, and how things are to be done.
var (
	constraints = newCues(map[float64]string{
		2:   "must not,mustn't,must never,may not,nothing may,never,hard rule,not allowed,is forbidden,are forbidden,under no circumstances,no one may,nobody may",
		1.5: "must,always,nothing that,has to stay,have to stay,is required,are required,required to,make sure,not negotiable,rule,rules,off limits,read only",
		1.8: "please don't,please do not,please never",
		1.4: "don't,do not,keep in mind,bear in mind,be aware,mind that",
		1.3: "has to,have to,will not,won't accept,i won't,not acceptable,no direct",
		1.1: "can't,cannot,can not,no longer,frozen,strict,at most,at least,no more than,policy,mandatory,compliance,legal,certified,certification,audit,audits,regulator,regulation,contract,by law,signs,sign off,approval,approvals,we can't,we cannot,deadline,stay,stays,requires,avoid,careful,forbid,without",
		0.7: "only,exactly,limit,limits,budget,needs to,need to,below,above,within,until,keep,allowed,nothing,no,not,important,otherwise,go through,goes through,btw,by the way,every",
		0:   "i can't,i cannot,i don't,i do not,don't know,do not know,don't worry,can't you,no idea,no problem,no worries,not sure,why not,don't think,why don't,you don't,they don't,users don't,people don't,if you don't,i have to,need you to,do you have to,nothing else,yes no",
		// What is wanted this once is no rule.
		-0.9: "for now,yet,find out,this time,right now,just look,only look,for the moment,at the moment,not today",
	})
	preferences = newCues(map[float64]string{
		2:   "i prefer,we prefer,prefer,can't stand,i hate,i dislike,i don't like,i do not like,i like,we like,from now on,going forward,in future,in the future,for the future,for next time,next time please,remember,our convention,our style,house style,in general,as a rule,generally,that's how we,how we do,the way we,our way,as always",
		1.7: "we use,we always",
		1.5: "in this repo,in this repository,in this project,in this codebase,in our code,around here,style,we never,we don't,we do not,convention,conventions,rather than,instead of,stick to,keep to,i'd rather,i would rather,naming,by default",
		1.1: "don't,do not,no,avoid,please use,please no,please keep,use,keep,want,always,never,plain,short,small,concise,called",
		0.6: "please,not,without,below,only,like",
		0:   "no idea,no problem,no worries,i don't,i don't know,don't know,don't worry,you don't,they don't,users don't,why don't,looks like,what would you like,would you like,do you want,like you,no longer,feels like",
	})
)

// What the assistant proposes and what the user chooses.
var (
	decisions = newCues(map[float64]string{
		2:   "we decided,i decided,has decided,have decided,was decided,decided,decision,i would take,i'd take,i would go with,i'd go with,we go with,we'll go with,let's go with,go with,stay with,i would stay,i'd stay,i would keep,i'd keep,my proposal,i propose,we chose,i chose,i recommend,my recommendation,recommend,settles it,settled on,in favour of,in favor of,opted for,i would use,i'd use,we'll use,let's use,we will use,my preference,i prefer,i favour,i favor,i'd pick,i'd vote",
		1.6: "i would not,i wouldn't,i'd not,i'd avoid,i would avoid,i'd rather,i would rather,i suggest,i'd suggest,i would suggest,better option,best option,we agreed,chosen,i'd do,i would do,not worth,worth it,i'd choose,i would choose,i considered,we considered,wins,i picked,we picked,suggestion,proposal,recommended,approach,better to",
		1:   "i would,i'd,let's,we should,should use,rather than,instead of,the reason,trade off,tradeoff,alternative,better,prefer,agreed",
		0.3: "because,since,therefore,so",
		0.5: "so that",
		0:   "i would like,i'd like,if you like i'd,if you want i'd,i'd ask,i would ask,i would consider,i'd begin,i would begin,i'd start,i would start,i would have expected,i'd have expected,i would say,i'd say",
		-1:  "if you like,if you want,if you prefer,let me know",
	})
	choices = newCues(map[float64]string{
		1: "which one,which,should we,should i,should,or,better,opinion,options,worth,do we,recommend,propose,suggest,do you think,your take,vs,versus,what would you,wouldn't it,would it,why not,instead,what about,how about,thoughts,last write wins",
		0: "or so,and up or,more or less,sooner or later,or not",
	})
	agreements = []string{
		"agreed", "agree", "ok", "okay", "yes", "yep", "yeah", "go", "do it", "sounds good", "good", "great", "perfect", "makes sense", "fine",
		"sure", "nice", "let's do", "please do", "right", "exactly", "no i agree", "works", "lgtm", "approved", "ship it", "very nice", "excellent",
	}
)

// What went wrong and what mended it.
var (
	causes = newCues(map[float64]string{
		2.5:  "root cause,the cause,caused by,the culprit,the trouble is,the trouble was,the problem is,the problem was,the issue is,the issue was,the bug is,the bug was,the reason is,the reason was,turned out,turns out,the mistake",
		1.6:  "which is why,that is why,that's why,due to,came in with,introduced by,introduced in,regression,because of,i think i have it,found it,what happened,why it happened,diagnosis,explains,explanation,was wrong,is wrong,our own fault,my fault,the fix,fixed by,the default,defaults to",
		1:    "because,bug,failed,fails,failing,broke,broken,breaks,crash,crashes,crashed,error,errors,leak,deadlock,race,fixed,solved,resolved,mended,repaired,didn't work,did not work,doesn't work,wouldn't,refused,timeout,lost,missing,assumed,therefore,thrown,dropped,out of memory,slow,suspicion,suspected,as suspected",
		0.5:  "since,so,instead,now,i switched,i rewrote,i changed,i replaced,i moved,no longer,until,silently,never,only,already,still,earlier,twice,both",
		0:    "so far,right now,by now,no error,no errors,without errors,can't fail,let me know",
		-0.7: "if,would,fails only,only when,unless",
	})
	problems = newCues(map[float64]string{
		1:   "why,fail,fails,failed,failing,error,errors,bug,slow,lost,lose,wrong,crash,crashes,crashed,killed,broken,broke,breaks,dies,stuck,hangs,missing,issue,problem,how is that possible,stutters,leak,timeout,complain,complains,twice,doubled,duplicate,duplicates,empty,not working,returns nothing,come from,even though,flickers,jitters,oscillates,corrupt,corrupted,loses,disappears,vanish,vanished,unable,rejected,denied,isn't,is not,weird behaviour,replace,unexpected,blank,flaky,doesn't,does not,won't,find out,investigate,regression,strange,weird,incident,oom,terribly,reports,report,since,comes from,came from,off by,figure out,work out,track down,diagnose,bisect,any idea,any ideas,mismatched,inconsistent,garbage,degrades,keeps growing,grows,climbs,drifts,misbehaves,miscompiles,blows up,panics,segfaults,odd,went up,went down,too high,too low,wants to",
		0.5: "takes,look,debug,again,drops,drop,shows,less,more than,mismatch,differs,gap,incorrect,stale,spike,freezes,lag,lags,profile,check,jumps,only",
	})
)

// What is left to be done.
var (
	unfinished = newCues(map[float64]string{
		2:   "not finished,unfinished,todo,to do,next steps,next step,remaining,remains,remain,still open,not done,not yet,did not get to,didn't get to,haven't started,hasn't been,hasn't got,has to wait,have to wait,waiting for,waits for,wait for,did not solve,didn't solve,not solved,left to do,is left,are left,follow up,followup,blocked,are open,is open,open question,open questions,still has,still have,still needs,still need,to be done,still red,still fails,still failing,still missing,still runs,waits until,wait until,on hold,postponed,put off,parked,deferred,not before,leftover,left over,not in it",
		1.2: "next time,still,yet,pending,at some point,tomorrow,is due,planned,missing,skipped,half there,half done,doesn't exist,does not exist,is needed,are needed,somebody has to,someone has to,can't be,cannot be,ought to,isn't,hasn't,haven't,has not,have not,later,i'd begin,start with,before production,promised,as soon as,once,until then,until,switched off for now,not started,not published,not pushed,not merged,not deployed",
		0.5: "has to,have to,needs,need,should,must,wait,open,first,before,after,then,next,monday,tuesday,wednesday,thursday,friday,saturday,sunday,fails,unless,provided,limit",
		-1:  "everything else,all done,nothing left,nothing is left,nothing open,already",
	})
	closing = newCues(map[float64]string{
		1: "what is left,what's left,left,open,anything,need to run,have to go,gotta go,stop here,stop,what should i know,where this is,note,handover,hand over,pause,for now,wrap,see you,tomorrow,later,thanks,bye,finish,where do we stand,where are we,wrap up,anything open,what remains,remaining,status,for today,that's it,that is it,i'm off,i have to leave,leave,todo,next,summary,summarize,summarise,recap,done for,thx,gone,leaving,signing off,heading out,i'm out,good night,call it a day,enough for today,out for",
	})
	outcomes = newCues(map[float64]string{
		2:  "done,fixed,finished,committed,merged,published,deployed,implemented,works now,is out,passes,pass,it is pull request,pull request,complete,completed,ready,pushed,switched,released,shipped,tests pass,green,unchanged,in order",
		1:  "now,added,wrote,written,changed,rewrote,replaced,removed,i have put",
		-1: "not,isn't,hasn't,haven't,still,until,can't,yet",
	})
	asksHow = newCues(map[float64]string{
		1: "how do i,how can i,how do we,how can we,how to,how would i,how should i,which command,what command,run,try,test,simulate,start,deploy,build,install",
	})
)
