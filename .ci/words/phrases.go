package main

import (
	"regexp"
	"strings"
)

// maxPhrases bounds the list, so that it stays a list of what is always wrong.
const maxPhrases = 40

// A phrase is wrong wherever it stands in prose. Names are not prose: see isName.
type phrase struct {
	pattern string // of package regexp; matched at word boundaries, in any case of letters
	instead string
}

var phrases = []phrase{
	{`books`, "metadata (an allocator's), statistics (Stats)"},
	{`anew`, "again"},
	{`for ever`, "forever, permanently"},
	{`in the midst of`, "during"},
	{`(comes?|came|coming|goes|go|going|gone|went) home`, "is returned to its owner, is freed"},
	{`behind (its|their|his|your|one's) backs?`, "without its knowledge: say which call bypasses what"},
	{`(no|any|some|every)body('s)?`, "say who: a caller, a goroutine; or say that it is not done"},
	{`(is|are|was|were|be|been|being) had`, "is obtained, is available"},
	{`has had`, "has received, has contained"},
	{`(is|are|was|were|be|been|being|unless|if|when) told`, "is configured, is given, receives"},
	{`(is|are|was|were|be|been) lent|lends?`, "is passed, is borrowed until"},
	{`for good`, "permanently"},
	{`for want of`, "because there is no"},
	{`whoever`, "say who: the caller, any code that"},
	{`(stands?|stood|standing) on`, "is backed by, depends on"},
	{`(say|says|said|saying) so`, "reports it, declares it"},
	{`(know|knows|knew|known) nothing of`, "does not depend on, has no record of"},
	{`knows? of`, "has a record of"},
	{`on (its|their) way`, "in flight"},
	{`there(of|in|from|upon)|where(of|in|upon)`, "of it, in it"},
	{`(has|have) not (a|an|the|any|its|one|enough)`, "does not have"},
	{`(makes?|made|making) room`, "frees space"},
	{`(?-i:room)`, "space, capacity"},
	{`(?-i:carve[ds]?|carving)`, "suballocate"},
	{`(?-i:family|families)`, "allocator, allocator type"},
	{`(?-i:kin)`, "variants, targets"},
	{`(?-i:lookouts?)`, "tick filter"},
	{`(?-i:tickets?)`, "iterator (of a loop), request handle (of an asset)"},
	{`in the place of`, "instead of, for"},
	{`(speaks?|spoke|speaking) of`, "refers to, describes"},
	{`without a word`, "silently"},
	{`under suspicion`, "when a memory error is suspected"},
	{`mend(s|ed|ing)?`, "fix, repair"},
	{`takes? along`, "includes"},
	{`fooled`, "bypassed"},
	{`(looks?|looked|looking) after`, "manages"},
	{`is (it )?to be had`, "is available"},
	{`as it were`, "delete it"},
}

// matcher finds any phrase; its groups, of which each is a phrase's, say which.
var matcher, owner = compile(phrases)

// compile joins the patterns into one expression. owner gives the index of the phrase by group.
func compile(phrases []phrase) (re *regexp.Regexp, owner []int) {
	var b strings.Builder
	b.WriteString(`(?i)\b(?:`)
	owner = append(owner, -1)
	for i, p := range phrases {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString("(" + strings.ReplaceAll(p.pattern, " ", `\s+`) + ")")
		owner = append(owner, i)
		for range regexp.MustCompile(p.pattern).NumSubexp() {
			owner = append(owner, -1)
		}
	}
	b.WriteString(`)\b`)
	return regexp.MustCompile(b.String()), owner
}

// A hit is a phrase in a text.
type hit struct {
	at     int // its offset
	text   string
	phrase phrase
}

// findPhrases returns the phrases of a text.
func findPhrases(s string) (hits []hit) {
	for _, m := range matcher.FindAllStringSubmatchIndex(s, -1) {
		if isName(s, m[0], m[1]) {
			continue
		}
		for g := 1; g < len(owner); g++ {
			if owner[g] >= 0 && m[2*g] >= 0 {
				hits = append(hits, hit{m[0], strings.Join(strings.Fields(s[m[0]:m[1]]), " "), phrases[owner[g]]})
			}
		}
	}
	return hits
}

// isName reports whether s[from:to] is a part of a name and not of the prose: a flag (-books), a quoted
// key ("books"), a method (h.room), a path (engine/kin), a part of an identifier with underscores.
func isName(s string, from, to int) bool {
	before, after := byte(' '), byte(' ')
	if from > 0 {
		before = s[from-1]
	}
	if to < len(s) {
		after = s[to]
	}
	if before == '"' && after == '"' {
		return true
	}
	return strings.IndexByte("-._/$", before) >= 0 || strings.IndexByte("_/(", after) >= 0 ||
		after == '.' && to+1 < len(s) && isLetter(s[to+1])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
