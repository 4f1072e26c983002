package buddy_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/slab"
)

// prose returns the text of files of the repository, one paragraph per element, without the
// marks of comments and of Markdown.
func prose(t *testing.T, files ...string) (paragraphs []string) {
	t.Helper()
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for line := range strings.Lines(string(raw) + "\n\n") {
			line = strings.TrimLeft(strings.TrimSpace(line), "/#>*-\t ")
			if line != "" {
				words = append(words, strings.Fields(line)...)
			} else if len(words) > 0 {
				paragraphs = append(paragraphs, strings.Join(words, " "))
				words = nil
			}
		}
	}
	return paragraphs
}

var sentenceEnd = regexp.MustCompile(`[.:;!?] `)

// lengths returns the lengths in bytes of the words and sentences of text.
func lengths(text []string) (words, sentences []uintptr) {
	for _, p := range text {
		for w := range strings.FieldsSeq(p) {
			words = append(words, uintptr(len(w)))
		}
		for _, s := range sentenceEnd.Split(p, -1) {
			sentences = append(sentences, uintptr(len(s)))
		}
	}
	return words, sentences
}

// A scheme turns lengths into the share of the memory in use that was not requested, in per cent.
type scheme struct {
	name  string
	waste func(*testing.T, []uintptr) float64
}

// rungs is the scheme of a ladder of block sizes.
func rungs(name string, sizes []uintptr) scheme {
	return scheme{name, func(t *testing.T, lengths []uintptr) float64 {
		var asked, used uintptr
		for _, n := range lengths {
			k, _ := slices.BinarySearch(sizes, n)
			asked, used = asked+n, used+sizes[k]
		}
		return 100 * (1 - float64(asked)/float64(used))
	}}
}

// heap is the scheme of a Heap, by its own Stats.
func heap(system buddy.System) scheme {
	return scheme{system.String() + " buddy", func(t *testing.T, lengths []uintptr) float64 {
		h, err := buddy.New(nil, buddy.Config{Reserve: 4 << 20, MinBlock: 16, System: system})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		for _, n := range lengths {
			if _, err := h.Alloc(n, 1); err != nil {
				t.Fatal(err)
			}
		}
		return 100 * h.Stats().Internal()
	}}
}

// fromOneByte continues 1, 2, … by next, which gets the last two sizes.
func fromOneByte(next func(a, b uintptr) uintptr) []uintptr {
	sizes := []uintptr{1, 2}
	for sizes[len(sizes)-1] < 4096 {
		sizes = append(sizes, next(sizes[len(sizes)-2], sizes[len(sizes)-1]))
	}
	return sizes
}

var schemes = []scheme{
	rungs("slab 16-byte steps", slab.Step16.Sizes(4096)),
	rungs("slab geometric", slab.Geometric.Sizes(4096)),
	rungs("slab Fibonacci", slab.Fibonacci.Sizes(4096)),
	rungs("slab powers of two", slab.PowerOfTwo.Sizes(4096)),
	heap(buddy.Fibonacci),
	heap(buddy.Binary),
	rungs("Fibonacci from 1 byte", fromOneByte(func(a, b uintptr) uintptr { return a + b })),
	rungs("powers of two from 1 byte", fromOneByte(func(_, b uintptr) uintptr { return 2 * b })),
}

// TestWaste_OnRealText prints what each ladder of sizes wastes on words and sentences, and
// holds the package documentation to the figures on the licence, a text that does not change.
func TestWaste_OnRealText(t *testing.T) {
	const root = "../../"
	all := []string{root + "LICENSE"}
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		if _, err := os.Stat(root + name); err == nil {
			all = append(all, root+name)
		}
	}
	err := filepath.WalkDir(root+"memory", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "doc.go" {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	documented, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	words, sentences := lengths(prose(t, root+"LICENSE"))
	allWords, allSentences := lengths(prose(t, all...))
	t.Logf("%-28s %17s %19s", "waste in per cent", "licence", "all text")
	t.Logf("%-28s %7s %9s %9s %9s", "", "words", "sentences", "words", "sentences")
	for _, s := range schemes {
		w, se := s.waste(t, words), s.waste(t, sentences)
		t.Logf("%-28s %7.1f %9.1f %9.1f %9.1f", s.name, w, se, s.waste(t, allWords), s.waste(t, allSentences))
		if row := fmt.Sprintf("%-25s %6.1f %10.1f\n", s.name, w, se); !strings.Contains(string(documented), row) {
			t.Errorf("doc.go does not have the row %q", row)
		}
	}
	t.Logf("%-28s %7d %9d %9d %9d", "strings", len(words), len(sentences), len(allWords), len(allSentences))
}
