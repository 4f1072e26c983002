package resident

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// A process is what Read has asked the system and the runtime, and the scratch to sort it out.
type process struct {
	smaps  []byte
	exe    string // path of the program, as smaps has it
	page   uint64 // bytes of a page of the system
	word   uint64 // bytes of a pointer
	object uint64 // address of something on the Go heap
	mapped uint64 // bytes that the Go runtime says it has mapped
	owners owners // in the beginning: tiers, and reservations of package page

	pagemap func(first uint64, entries []uint64) error // of pages from one on
	peek    func(addr uint64, b []byte) bool           // reads memory
	header  func(m *mapping) []segment                 // of the file of a mapping; nil if it cannot be read
	raw     [32]byte                                   // that peek reads: an array of words would be an object for each page

	maps    []mapping
	kinds   []kind
	counts  []pageCount
	entries []uint64
}

// A kind is what a mapping is for all that it says itself.
type kind struct {
	class    Class
	anyones  bool // anonymous and writable: the Go runtime's metadata, or without an owner
	allGo    bool // the Go heap, by its addresses
	anyElse  bool // nothing known, but it is not Go's: unexplained
	mayClaim bool // glibc may have something in it
}

const named = "[anon: Go: " // Go 1.25 and later, where the kernel has CONFIG_ANON_VMA_NAME

// heapNames are the names of the mappings of the Go heap; the runtime has others for its metadata.
var heapNames = []string{"heap]", "heap reservation]", "used]", "unused]", "user arena chunk]"}

// sort says of every mapping what it is.
func (p *process) sort() (byName bool) {
	native := false
	for i := range p.maps {
		name := p.maps[i].name
		byName = byName || strings.HasPrefix(name, named)
		native = native || isLibrary(name)
	}
	p.kinds = slices.Grow(p.kinds[:0], len(p.maps))[:len(p.maps)]
	for i := range p.maps {
		m := &p.maps[i]
		switch {
		case m.name != "" || m.inode != 0:
			p.kinds[i] = kind{class: p.nameClass(m)}
			p.kinds[i].anyElse = p.kinds[i].class == Unexplained
		case m.shared:
			p.kinds[i] = kind{class: Driver}
		case native && p.stack(i):
			p.kinds[i] = kind{class: Stacks}
		case native && (m.exec || m.read && !m.write): // neither Go's runtime nor package page maps such
			p.kinds[i] = kind{class: Native}
		case m.exec || m.read && !m.write:
			p.kinds[i] = kind{class: Unexplained, anyElse: true}
		case m.noReserve || byName: // Go's runtime reserves its memory, and package page lists its own
			p.kinds[i] = kind{class: Unexplained, anyElse: true, mayClaim: native}
		default:
			p.kinds[i] = kind{class: GoRuntime, anyones: true, mayClaim: native}
		}
	}
	if !byName {
		p.sortHeap()
	}
	return byName
}

// nameClass returns the class of a mapping that has a name.
func (p *process) nameClass(m *mapping) Class {
	name := m.name
	under := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(x string) bool { return strings.HasPrefix(name, x) })
	}
	switch {
	case strings.HasPrefix(name, named):
		if slices.Contains(heapNames, name[len(named):]) {
			return GoHeap
		}
		return GoRuntime
	case name == p.exe:
		return Code
	case under("[stack", "[anon: glibc: pthread stack"):
		return Stacks
	case name == "[heap]" || under("[anon: glibc:"):
		return Native
	case under("[vdso]", "[vvar", "[vsyscall]", "[uprobes]") || isLibrary(name):
		return Libraries
	case under("/dev/dri/", "/dev/nvidia", "/dev/mali", "/dev/kgsl", "/dev/shm/", "/dev/zero", "/memfd:", "/SYSV", "/i915", "/drm", "anon_inode:", "[anon_shmem:"):
		return Driver
	case under("/"):
		return Files
	}
	return Unexplained
}

// isLibrary reports whether a path is that of a shared library: lib.so, lib.so.1, lib.so.1 (deleted).
func isLibrary(name string) bool {
	file := strings.TrimSuffix(path.Base(name), " (deleted)")
	return strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "/memfd:") && (strings.HasSuffix(file, ".so") || strings.Contains(file, ".so."))
}

// mostGuard is the largest guard below a stack that is looked for: a page, whatever its size.
const mostGuard = 64 << 10

// stack reports whether mapping i lies right above a guard of its own kind, as the stacks do that
// the C library maps for threads.
func (p *process) stack(i int) bool {
	if i == 0 || !p.maps[i].write {
		return false
	}
	m, guard := &p.maps[i], &p.maps[i-1]
	return guard.anonymous() && guard.to == m.from && !guard.read && !guard.write && !guard.exec &&
		guard.size() <= mostGuard && !guard.noReserve && guard.noHugePage == m.noHugePage && !p.owned(guard)
}

func (p *process) owned(m *mapping) bool { return len(p.owners.within(m.from, m.to)) > 0 }

// sortHeap finds the Go heap if the kernel has no names. The heap grows upwards from its base without a gap. So it is
// the run of anonymous mappings around any of its objects.
func (p *process) sortHeap() {
	at := slices.IndexFunc(p.maps, func(m mapping) bool { return m.from <= p.object && p.object < m.to })
	if at < 0 || !p.heapish(at) {
		return
	}
	first, last := at, at
	for first > 0 && p.maps[first-1].to == p.maps[first].from && p.heapish(first-1) {
		first--
	}
	for last+1 < len(p.maps) && p.maps[last].to == p.maps[last+1].from && p.heapish(last+1) {
		last++
	}
	for i := first; i <= last; i++ {
		p.kinds[i] = kind{class: GoHeap, allGo: true}
	}
}

func (p *process) heapish(i int) bool {
	m := &p.maps[i]
	return m.anonymous() && !m.shared && !m.exec && !m.noReserve && m.read == m.write && p.kinds[i].class != Stacks
}

// The balance: what the runtime maps beside what it says, and what rounding to pages may hide.
const (
	heapIndex     = 32 << 20 // the table of arenas, on 64 bits; of it only what is needed is resident
	heapIndex32   = 4 << 10
	roundingBytes = 128 << 10
	roundingShift = 13 // and 1/8192 of what is mapped
)

// foreign returns how many bytes of the writable addresses that are taken for Go's are not: all
// that are more than the runtime says it has mapped.
func (p *process) foreign(writable uint64) uint64 {
	known := p.mapped + heapIndex
	if p.word == 4 {
		known = p.mapped + heapIndex32
	}
	known += roundingBytes + known>>roundingShift
	return writable - min(known, writable)
}

// fill reads smaps and makes a report of it. On an error the report is empty.
func (p *process) fill(r *Report) (err error) {
	if p.maps, err = parse(p.smaps, p.maps[:0]); err != nil {
		return err
	}
	r.Named = p.sort()
	if err := p.claimAll(); err != nil {
		return err
	}
	var writable uint64
	for i := range p.maps {
		m, k := &p.maps[i], p.kinds[i]
		r.RSS += m.use.RSS
		if m.write && (k.anyones || k.allGo) {
			writable += m.size()
		}
		for _, o := range p.owners.within(m.from, m.to) {
			if m.write && k.anyones {
				writable -= min(o.to, m.to) - max(o.from, m.from)
			}
		}
		if err := p.divide(m, r); err != nil {
			return err
		}
		r.enter(k.class, m.name, m.use)
	}
	r.Mappings = len(p.maps)
	excess := uint64(0)
	if !r.Named {
		excess = p.foreign(writable)
		r.Classes[Unexplained].add(r.Classes[GoRuntime].take(excess))
	}
	p.suspect(r, excess > 0)
	slices.SortFunc(r.Libraries, func(a, b Library) int {
		return cmp.Or(cmp.Compare(b.RSS, a.RSS), strings.Compare(a.Name, b.Name))
	})
	return nil
}

// claimAll enters what is not told by a mapping itself: zeroed data and what malloc has.
func (p *process) claimAll() error {
	base := 0 // the mapping of the beginning of the file that was seen last
	for i := range p.maps {
		m, k := &p.maps[i], p.kinds[i]
		switch {
		case (k.class == Code || k.class == Libraries) && m.offset == 0 && m.inode != 0:
			base = i
		case i > 0 && k.anyones && m.from == p.maps[i-1].to && p.maps[i-1].inode != 0 && p.maps[i-1].inode == p.maps[base].inode:
			p.claimZeroed(&p.maps[base], p.header(&p.maps[base]), p.kinds[base].class)
		}
	}
	for i := range p.maps {
		if m := &p.maps[i]; p.kinds[i].mayClaim && m.use.RSS > 0 {
			if parts := p.owners.within(m.from, m.to); len(parts) == 1 && parts[0].from <= m.from && parts[0].to >= m.to {
				continue
			}
			if err := p.claimNative(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// divide gives the owners of addresses in a mapping what they have of it.
func (p *process) divide(m *mapping, r *Report) error {
	parts := p.owners.within(m.from, m.to)
	if len(parts) == 0 || m.use.RSS == 0 {
		return nil
	}
	return p.cut(m, parts, func(o *owner, u Usage) {
		r.enter(o.class, o.name, u)
		if o.class == Tiers {
			r.Tiers[o.tier].add(u)
		}
	})
}

// enter counts the memory of an owner.
func (r *Report) enter(c Class, name string, u Usage) {
	r.Classes[c].add(u)
	if c != Libraries || u == (Usage{}) {
		return
	}
	for i := len(r.Libraries) - 1; i >= 0; i-- { // the mappings of a library lie side by side
		if r.Libraries[i].Name == name {
			r.Libraries[i].add(u)
			return
		}
	}
	r.Libraries = append(r.Libraries, Library{name, u})
}

// suspect lists the largest mappings of which something is unexplained.
func (p *process) suspect(r *Report, anyones bool) {
	for i := range p.maps {
		m, k := &p.maps[i], p.kinds[i]
		if m.use.RSS == 0 || !(k.anyElse || anyones && k.anyones) {
			continue
		}
		at, _ := slices.BinarySearchFunc(r.Suspects, m.use.RSS, func(s Mapping, rss uint64) int { return cmp.Compare(rss, s.RSS) })
		if at < MaxSuspects {
			r.Suspects = slices.Insert(r.Suspects[:min(len(r.Suspects), MaxSuspects-1)], at, Mapping{m.from, m.to, m.perm(), m.name, m.use})
		}
	}
}

// perm returns the permissions as smaps has them.
func (m *mapping) perm() string {
	b := []byte("---p")
	for i, on := range [...]bool{m.read, m.write, m.exec} {
		if on {
			b[i] = "rwx"[i]
		}
	}
	if m.shared {
		b[3] = 's'
	}
	return string(b)
}
