package render

import (
	"errors"
	"fmt"
	"slices"
)

// check reports every broken invariant.
func (p *packer) check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("render: packer: "+format, args...)) }
	y := 0
	for i, s := range p.shelves {
		if s.y != y {
			wrong("(1) shelf %d begins at %d, not %d", i, s.y, y)
		}
		if s.used < 0 || s.used > p.size {
			wrong("(3) shelf %d uses %d of %d", i, s.used, p.size)
		}
		y = s.y + s.h
	}
	if y != p.next || y > p.size {
		wrong("(2) shelves end at %d, next is %d, size %d", y, p.next, p.size)
	}
	for i, f := range p.freed {
		if !slices.ContainsFunc(p.shelves, func(s shelf) bool { return f.y == s.y && f.h <= s.h && f.x+f.w <= s.used }) {
			wrong("(4) freed slot %+v is on no shelf", f)
		}
		for _, g := range p.freed[:i] {
			if f.overlaps(g) {
				wrong("(5) freed slots %+v and %+v overlap", f, g)
			}
		}
	}
	return errors.Join(errs...)
}

func (s slot) overlaps(t slot) bool {
	return s.x < t.x+t.w && t.x < s.x+s.w && s.y < t.y+t.h && t.y < s.y+s.h
}
