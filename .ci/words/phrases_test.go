package main

import (
	"regexp"
	"testing"
)

func TestPhrases_AreFewAndCompile(t *testing.T) {
	if len(phrases) > maxPhrases {
		t.Errorf("%d phrases, at most %d", len(phrases), maxPhrases)
	}
	seen := map[string]bool{}
	for _, p := range phrases {
		if _, err := regexp.Compile(p.pattern); err != nil || p.instead == "" || seen[p.pattern] {
			t.Errorf("%q: %v; instead %q, twice %v", p.pattern, err, p.instead, seen[p.pattern])
		}
		seen[p.pattern] = true
	}
}

// One example of each phrase, in the order of the list.
var examples = []string{
	"The books.", "It begins anew.", "Kept for ever", "in the\nmidst of a call", "A block comes home.", "changed behind its back",
	"Nobody's memory", "What cannot be had", "It has had one", "unless told", "are lent", "lost for good", "for want of pages",
	"Whoever frees it", "It stands on a source", "Check says so", "knows nothing of it", "as it knows of", "what is on its way",
	"the size thereof", "which have not the component", "makes room", "there is no room", "is carved from it", "every family",
	"the kin of it", "a lookout", "two tickets", "in the place of it", "it speaks of pages", "without a word", "under suspicion",
	"it is mended", "takes along all", "is fooled", "looks after it", "is it to be had", "better, as it were",
}

func TestPhrases_EachIsFound(t *testing.T) {
	if len(examples) != len(phrases) {
		t.Fatalf("%d examples of %d phrases", len(examples), len(phrases))
	}
	for i, text := range examples {
		found := false
		for _, h := range findPhrases(text) {
			found = found || h.phrase == phrases[i]
		}
		if !found {
			t.Errorf("%q: %v, want %q", text, findPhrases(text), phrases[i].pattern)
		}
	}
}

func TestPhrases_NamesAndOtherWordsAreNotFound(t *testing.T) {
	for _, text := range []string{
		"the flag -books", `the key "books"`, "TestBooks_AddUp", "h.room", "room(n) or room.go", "engine/kin", "the Room of a tile",
		"A Carve is a type", "Ticket", "bookshelf", "mushroom", "the kind of it", "renewal", "forever", "family_gen.go",
		"what it has not", "kindred", "homeward", "they had one", "is hadoop",
	} {
		if hits := findPhrases(text); len(hits) > 0 {
			t.Errorf("%q: found %q", text, hits[0].text)
		}
	}
}
