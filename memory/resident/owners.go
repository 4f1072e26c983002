package resident

import (
	"fmt"
	"slices"

	"github.com/strata-go/strata/memory/tiers"
)

// An owner is a run of addresses of which it is known whose they are, whatever mapping they are in.
type owner struct {
	from, to uint64
	class    Class
	tier     tiers.Tier // of class Tiers
	name     string     // of class Libraries
}

// owners are in order of address and do not overlap.
type owners []owner

// claim enters o for all its addresses that have no owner yet.
func (all owners) claim(o owner) owners {
	for o.from < o.to {
		i, _ := slices.BinarySearchFunc(all, o.from, func(x owner, from uint64) int {
			if x.to <= from {
				return -1
			}
			return 1
		})
		end := o.to
		if i < len(all) {
			if x := all[i]; x.from <= o.from {
				o.from = x.to
				continue
			}
			end = min(end, all[i].from)
		}
		part := o
		part.to = end
		all = slices.Insert(all, i, part)
		o.from = end
	}
	return all
}

// within returns those that have some of [from, to).
func (all owners) within(from, to uint64) owners {
	i, _ := slices.BinarySearchFunc(all, from, func(x owner, from uint64) int {
		if x.to <= from {
			return -1
		}
		return 1
	})
	n := i
	for n < len(all) && all[n].from < to {
		n++
	}
	return all[i:n]
}

// What an entry of pagemap says.
const (
	pagePresent   = 1 << 63
	pageExclusive = 1 << 56
)

// pages is how many entries of pagemap are read at once: those of 16 MiB.
const pages = 4096

// cut divides a mapping that several have among them: what each owner has of what is resident. The
// rest is the mapping's own. The kernel is asked page by page, a little later than smaps was
// written: where both differ smaps counts, so that the sum stays.
//
// A page that was read and never written is the kernel's page of zeros. It is present, and in no RSS. If there are
// such pages, only the pages that no other process maps count.
func (p *process) cut(m *mapping, parts owners, each func(o *owner, u Usage)) error {
	if len(parts) == 1 && parts[0].from <= m.from && parts[0].to >= m.to {
		each(&parts[0], m.use)
		m.use = Usage{}
		return nil
	}
	p.counts = slices.Grow(p.counts[:0], len(parts))[:len(parts)]
	clear(p.counts)
	var all pageCount
	i := 0
	err := p.eachPage(m.from, m.to, func(addr, entry uint64) {
		if entry&pagePresent == 0 {
			return
		}
		for i < len(parts) && parts[i].to <= addr {
			i++
		}
		var c pageCount
		c.present = p.page
		if entry&pageExclusive != 0 {
			c.exclusive = p.page
		}
		all.present += c.present
		if i < len(parts) && parts[i].from <= addr {
			p.counts[i].present += c.present
			p.counts[i].exclusive += c.exclusive
		}
	})
	if err != nil {
		return err
	}
	for i := range parts {
		n := p.counts[i].present
		if all.present > m.use.RSS {
			n = p.counts[i].exclusive
		}
		if n = min(n, m.use.RSS); n > 0 {
			p.counts[i].use = m.use.take(n)
			each(&parts[i], p.counts[i].use)
		}
	}
	return nil
}

type pageCount struct {
	present, exclusive uint64 // bytes
	use                Usage
}

// eachPage calls f with the address and entry of each page of [from, to).
func (p *process) eachPage(from, to uint64, f func(addr, entry uint64)) error {
	for from < to {
		n := min((to-from+p.page-1)/p.page, pages)
		p.entries = slices.Grow(p.entries[:0], pages)[:n]
		if err := p.pagemap(from/p.page, p.entries); err != nil {
			return fmt.Errorf("resident: which pages of [%#x, %#x) are resident: %w", from, to, err)
		}
		for _, e := range p.entries {
			f(from, e)
			from += p.page
		}
	}
	return nil
}
