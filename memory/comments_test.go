package memory_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// A word with an inner capital, such as maxAge, and a file. What follows a dot, a slash, a quote or a hyphen belongs
	// to something else, such as a field of another module.
	innerCapital = regexp.MustCompile("(?:^|[^\\w./\"`'-])([a-z][a-z0-9]+[A-Z][a-z0-9]\\w*)")
	goFile       = regexp.MustCompile(`(?:^|[^\w./-])([a-z0-9_]+\.go)\b`)

	// foreign are words that are no identifiers of the module. The last two are of Go's runtime.
	foreign = []string{"arXiv", "setItem", "gcControllerState", "gcTrigger"}
)

// A comment that names a variable or a file that was renamed misleads. Of all words only those with an inner capital
// are certainly names, so the test looks at them, and at names of Go files. Indented lines are examples.
func TestHouse_CommentsNameWhatExists(t *testing.T) {
	known, files, comments := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, word := range foreign {
		known[word] = true
	}
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go"):
			return nil
		}
		src, err := os.ReadFile(name)
		files[d.Name()] = true
		comments[name] = identifiers(src, known)
		return err
	})
	if err != nil || len(comments) < 500 {
		t.Fatalf("%d files, %v: the test looks at the wrong thing", len(comments), err)
	}
	for name, text := range comments {
		for _, word := range missing(text, known, files) {
			t.Errorf("%s: a comment names %s, which the module does not have", name, word)
		}
	}
}

// identifiers adds the identifiers of a file to known and returns its comments.
func identifiers(src []byte, known map[string]bool) (comments string) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, scanner.ScanComments)
	var text strings.Builder
	for {
		switch _, tok, lit := s.Scan(); {
		case tok == token.EOF:
			return text.String()
		case tok == token.IDENT:
			known[lit] = true
		case tok == token.COMMENT && !strings.HasPrefix(lit, "//\t") && !strings.HasPrefix(lit, "//go:"):
			text.WriteString(lit)
			text.WriteByte('\n')
		}
	}
}

// missing returns the names in a comment that are not in the module.
func missing(text string, known, files map[string]bool) (words []string) {
	for _, m := range innerCapital.FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			words = append(words, m[1])
		}
	}
	for _, m := range goFile.FindAllStringSubmatch(text, -1) {
		if !files[m[1]] {
			words = append(words, m[1])
		}
	}
	return words
}

func TestHouse_PlantedNamesInCommentsAreFound(t *testing.T) {
	known, files := map[string]bool{"maxAge": true}, map[string]bool{"clock.go": true}
	text := identifiers([]byte(`package p
// maxAge is in clock.go, and maxKnown in ahead.go. See runtime.gcStart, runtime/malloc.go, "oldName" and macro-isEmpty.
const newName = 1 // oldAge, not newName
//	example := makeExample()
`), known)
	if got, want := missing(text, known, files), []string{"maxKnown", "oldAge", "ahead.go"}; !slices.Equal(got, want) {
		t.Errorf("found %q, not %q", got, want)
	}
}
