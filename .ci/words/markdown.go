package main

import (
	"regexp"
	"strings"
)

var (
	fence    = regexp.MustCompile("^\\s*(```+|~~~+)")
	tableRow = regexp.MustCompile(`^\s*\|`)
	rule     = regexp.MustCompile(`^[\s|:*_-]+$`)
	htmlTag  = regexp.MustCompile(`<!--.*?-->|</?[A-Za-z][^>]*>`)
	target   = regexp.MustCompile(`\]\([^()]*(?:\([^()]*\)[^()]*)*\)`)
)

// markdownBlocks divides a Markdown file. Fenced and indented code and link targets are left out.
func markdownBlocks(text string) (blocks []*block) {
	var (
		open   *block
		fenced string
		inList bool
		number int
	)
	begin := func(k kind) *block {
		b := &block{kind: k}
		blocks = append(blocks, b)
		return b
	}
	for s := range strings.SplitSeq(text, "\n") {
		number++
		if fenced != "" {
			if strings.HasPrefix(strings.TrimSpace(s), fenced) {
				fenced = ""
			}
			continue
		}
		if m := fence.FindStringSubmatch(s); m != nil {
			fenced, open = m[1], nil
			continue
		}
		s = strings.TrimRight(s, " \r")
		indent := len(s) - len(strings.TrimLeft(s, " \t"))
		trimmed := strings.TrimSpace(strings.TrimLeft(s, " \t>"))
		marker := listMarker.FindString(trimmed)
		switch {
		case trimmed == "":
			open = nil
			continue
		case rule.MatchString(s) || linkTarget.MatchString(trimmed):
			open = nil
			continue
		case tableRow.MatchString(s):
			open = nil
			for _, c := range strings.Split(strings.Trim(maskSpans(trimmed), "|"), "|") {
				begin(cell).add(number, strings.TrimSpace(c))
			}
			continue
		case strings.HasPrefix(s, "#"):
			open, inList = nil, false
			begin(heading).add(number, strings.TrimSpace(strings.TrimLeft(s, "#")))
			continue
		case marker != "":
			open, inList = begin(item), true
			trimmed = trimmed[len(marker):]
		case open != nil:
		case indent >= 4 && !inList:
			continue // code
		default:
			inList = inList && indent > 0
			open = begin(prose)
		}
		open.add(number, trimmed)
	}
	for _, b := range blocks {
		b.text = blank(htmlTag, blank(target, maskSpans(b.text)))
	}
	return blocks
}

// blank overwrites the matches by spaces and keeps all offsets.
func blank(re *regexp.Regexp, s string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string { return strings.Repeat(" ", len(m)) })
}
