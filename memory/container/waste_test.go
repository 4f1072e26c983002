package container

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/slab"
)

var sentenceEnd = regexp.MustCompile(`[.:;!?] `)

// repositoryTexts returns the words and the sentences of what there is to read in the repository.
func repositoryTexts(t *testing.T) (words, sentences []string) {
	t.Helper()
	const root = "../../"
	files := []string{root + "LICENSE", root + "README.md", root + "CONTRIBUTING.md", root + "memory/README.md"}
	must(t, filepath.WalkDir(root+"memory", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "doc.go" {
			files = append(files, path)
		}
		return err
	}))
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		must(t, err)
		var paragraph []string
		for line := range strings.Lines(string(raw) + "\n\n") {
			if line = strings.TrimLeft(strings.TrimSpace(line), "/#>*-\t "); line != "" {
				paragraph = append(paragraph, strings.Fields(line)...)
				continue
			}
			words = append(words, paragraph...)
			for _, s := range sentenceEnd.Split(strings.Join(paragraph, " "), -1) {
				if s != "" {
					sentences = append(sentences, s)
				}
			}
			paragraph = nil
		}
	}
	return words, sentences
}

// A scheme returns the bytes that one text of n bytes takes.
type scheme struct {
	name  string
	takes func(n uintptr) uintptr
}

// lowest is the scheme of a ladder of sizes.
func lowest(sizes []uintptr) func(uintptr) uintptr {
	return func(n uintptr) uintptr {
		k, _ := slices.BinarySearch(sizes, n)
		if k == len(sizes) {
			return n
		}
		return sizes[k]
	}
}

func schemes() []scheme {
	own := make([]uintptr, 0, rungs)
	for _, size := range ladder {
		own = append(own, uintptr(size))
	}
	fibonacci := []uintptr{1, 2}
	for k := 2; fibonacci[k-1] < 4096; k++ {
		fibonacci = append(fibonacci, fibonacci[k-2]+fibonacci[k-1])
	}
	return []scheme{
		{"Strings", lowest(own)},
		{"Fibonacci from 1 byte", lowest(fibonacci)},
		{"slab, geometric", lowest(slab.Geometric.Sizes(4096))},
		{"slab, 16-byte steps", lowest(slab.Step16.Sizes(4096))},
		{"slab, powers of two", lowest(slab.PowerOfTwo.Sizes(4096))},
		{"binary buddy", func(n uintptr) uintptr { return uintptr(ceilPow2(int(max(n, 16)))) }},
		{"glibc malloc", func(n uintptr) uintptr { return max(32, (n+8+15)&^15) }},
	}
}

// TestWaste_TheDocumentationHasWhatIsMeasured prints what each way of storing texts wastes on
// the words and the sentences of the repository, one block each, and what Strings takes for
// those that differ, its pages, ids and index included.
func TestWaste_TheDocumentationHasWhatIsMeasured(t *testing.T) {
	words, sentences := repositoryTexts(t)
	doc, err := os.ReadFile("doc.go")
	must(t, err)
	t.Logf("%-22s %26s %26s", "one block each", fmt.Sprint(len(words), " words"), fmt.Sprint(len(sentences), " sentences"))
	for _, s := range schemes() {
		w, ws := waste(s, words)
		b, bs := waste(s, sentences)
		t.Logf("%-22s %12.1f KB %8.1f %% %12.1f KB %8.1f %%", s.name, w/1000, ws, b/1000, bs)
		holds(t, string(doc), s.name, ws, bs)
	}
	for name, texts := range map[string][]string{"words": words, "sentences": sentences} {
		count, raw, pages, books := interned(t, texts)
		t.Logf("%d %s that differ have %d bytes; Strings takes %d for them and %d for ids and index", count, name, raw, pages, books)
		if float64(pages) > 1.6*float64(raw) {
			t.Errorf("%d bytes of %s take %d", raw, name, pages)
		}
	}
	s := schemes()
	own, _ := waste(s[0], words)
	steps, _ := waste(s[3], words)
	mine, _ := waste(s[0], sentences)
	others, _ := waste(s[3], sentences)
	if own > steps/8 {
		t.Errorf("on words the ladder wastes %.0f bytes, steps of 16 waste %.0f", own, steps)
	}
	if mine > others {
		t.Errorf("on sentences the ladder wastes %.0f bytes, steps of 16 waste %.0f", mine, others)
	}
}

// waste returns the bytes that texts take and do not have, and their share in per cent.
func waste(s scheme, texts []string) (bytes, share float64) {
	raw, taken := uintptr(0), uintptr(0)
	for _, x := range texts {
		raw += uintptr(len(x))
		taken += s.takes(uintptr(len(x)))
	}
	return float64(taken - raw), 100 * (1 - float64(raw)/float64(taken))
}

// interned returns how many texts differ, their bytes, and what a Strings takes for them.
func interned(t *testing.T, texts []string) (count int, raw, pages, books uint64) {
	t.Helper()
	_, sp := heap(t)
	var s Strings
	for _, x := range texts {
		_, err := s.Intern(sp, x)
		must(t, err)
	}
	for _, x := range s.All(sp) {
		raw += uint64(len(x))
	}
	must(t, s.Check(sp))
	pages, books = s.Bytes(sp)
	count = s.Len()
	s.Free(sp)
	return count, raw, pages, books
}

// holds verifies that the documentation's row has these shares, to a per cent: the texts change
// with every sentence that is written.
func holds(t *testing.T, doc, name string, words, sentences float64) {
	t.Helper()
	row := regexp.MustCompile(`(?m)^//\t` + regexp.QuoteMeta(name) + ` +([0-9.]+) % +([0-9.]+) %$`).FindStringSubmatch(doc)
	if row == nil {
		t.Errorf("doc.go has no row of %s", name)
		return
	}
	var w, s float64
	if _, err := fmt.Sscan(row[1]+" "+row[2], &w, &s); err != nil || math.Abs(w-words) > 1 || math.Abs(s-sentences) > 1 {
		t.Errorf("doc.go says %s; measured %.1f %% and %.1f %% (%v)", row[0], words, sentences, err)
	}
}

func TestWaste_TheBuddyIsTheBuddy(t *testing.T) {
	h, err := buddy.New(nil, buddy.Config{Reserve: 1 << 20, MinBlock: 16})
	must(t, err)
	defer h.Close()
	s := schemes()[5]
	for _, n := range []uintptr{1, 16, 17, 100, 128, 1000} {
		before := h.Stats().InUse
		_, err := h.Alloc(n, 1)
		if must(t, err); uintptr(h.Stats().InUse-before) != s.takes(n) {
			t.Errorf("%d bytes take %d of a buddy; the scheme says %d", n, h.Stats().InUse-before, s.takes(n))
		}
	}
}
