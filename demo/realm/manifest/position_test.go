package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Every error of Parse is an *Error with the file, the line and the column of what is wrong first.
func TestParse_ErrorHasLineAndColumn(t *testing.T) {
	line := func(n int) int { return strings.Index(small, strings.Split(small, "\n")[n-1]) } // offset of a line
	for _, c := range []struct {
		old, new     string
		line, column int
	}{
		// Of syntax: the byte that is wrong, or the first that is missing.
		{small, "", 1, 1},
		{small, " ", 1, 2},
		{small, "x", 1, 1},
		{small, "{\n  x", 2, 3},
		{small, small[:100], 2, 100 - line(2) + 1},
		{small, small + "\n\n}", 6, 1},
		{`"next"`, "\"next\n", 1, strings.Index(small, `"next"`) + 6},
		{`"priority": 0`, `"priority": NaN`, 4, strings.Index(small, `"priority": 0`) + 12 - line(4) + 1},
		{small, strings.Repeat("[", 60_000), 1, 10_001},
		// Of size: the first byte beyond.
		{small, strings.Repeat(" ", maxBytes+1), 1, maxBytes + 1},
		{small, strings.Repeat("\n", maxBytes+1), maxBytes + 1, 1},
		// Of UTF-8.
		{small, "\xff", 1, 1},
		{`"Small"`, "\"\u00e9\xc0\"", 1, strings.Index(small, `"Small"`) + 1 + 1 + 2},
		{`"dust"`, "\"\xed\xa0\x80\"", 3, strings.Index(small, `"dust"`) + 1 - line(3) + 1},
		// Of a field: its value. Of a missing one: the object.
		{`"version": 1`, `"version": 2`, 1, 13},
		{`"version": 1`, `"version":  "1"`, 1, 14},
		{`{"rate": 3, "kind": "dust"}`, `{"rate": 3}`, 3, 12},
		{`"#111111"`, `"red"`, 2, strings.Index(small, `"#111111"`) - line(2) + 1},
		{`"assets": [`, `"assets": [[[[[[[[[[[[[[]]]]]]]]]]]]], `, 4, 22},
		// Of a range.
		{`"rate": 3`, `"rate": -3`, 3, strings.Index(small, `"rate": 3`) + 8 - line(3) + 1},
		{`"priority": 0`, `"priority":0101`, 4, strings.Index(small, `"priority": 0`) + 12 - line(4) + 1},
		{`"priority": 0`, `"priority":101`, 4, strings.Index(small, `"priority": 0`) + 11 - line(4) + 1},
		{`"id": "bg"`, `"id": ""`, 4, strings.Index(small, `"id": "bg"`) + 6 - line(4) + 1},
		{`"name": "x"`, `"name": "y"`, 1, 24},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		_, err := Parse("levels/x.json", []byte(text))
		var e *Error
		if !errors.As(err, &e) || e.File != "levels/x.json" || e.Line != c.line || e.Column != c.column || !strings.HasPrefix(e.Error(), e.File+": ") {
			t.Errorf("%.40q -> %.40q: %.200v, %+v; want line %d, column %d", c.old, c.new, err, e, c.line, c.column)
		}
	}
}

// A manifest whose name is not that of its file is refused with both names: the game would not find its realm.
func TestParse_NameOfAnotherFileIsRefused(t *testing.T) {
	for _, c := range []struct {
		file, name string
		ok         bool
	}{
		{"levels/x.json", "x", true}, {"x.json", "x", true}, {"a/b/x.json", "x", true}, {"x", "other", true}, {"the network", "other", true},
		{"levels/x.json", "y", false}, {"levels/x.json", "x-", false}, {"levels/x.y.json", "x", false}, {"levels/X.json", "x", false}, {".json", "x", false}, {"levels/x.json.json", "x", false},
	} {
		text := []byte(strings.Replace(small, `"name": "x"`, fmt.Sprintf(`"name": %q`, c.name), 1))
		_, err := Parse(c.file, text)
		if (err == nil) != c.ok {
			t.Errorf("%q in %s: %v", c.name, c.file, err)
		}
		if !c.ok && !strings.Contains(fmt.Sprint(err), fmt.Sprintf("%s: name: %q; allowed: ", c.file, c.name)) {
			t.Errorf("%q in %s: %v", c.name, c.file, err)
		}
	}
}
