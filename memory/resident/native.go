package resident

import (
	"encoding/binary"
	"errors"
)

// claimNative enters what of a mapping glibc has: chunks of malloc that are mappings of their own,
// and the heaps of threads. Both begin with a few words that say how large they are, which nothing
// else in the process has there:
//
//	chunk                 | 0 | size | 2 | ...            size in whole pages; the next one behind it
//	heap, at 64 MiB       | arena | heap before | in use | writable | ...
//
// The kernel joins neighbours into one mapping, also with Go's, so every resident page may be the
// first of one. To read them changes nothing: they are resident, and the kernel does the reading.
func (p *process) claimNative(m *mapping) error {
	if m.size() > mostScanned {
		return nil
	}
	next := m.from
	return p.eachPage(m.from, m.to, func(addr, entry uint64) {
		if addr < next || entry&pagePresent == 0 || len(p.owners.within(addr, addr+1)) > 0 {
			return
		}
		size := p.chunk(addr, m.to)
		if size == 0 {
			size = p.threadHeap(addr, m.to)
		}
		if size > 0 {
			next = addr + size
			p.owners = p.owners.claim(owner{from: addr, to: next, class: Native})
		}
	})
}

// mostScanned is the largest mapping in which malloc is looked for: 4 GiB are a million pages, some
// 10 ms. Beyond are what sanitizers and virtual machines reserve.
const mostScanned = 4 << 30

// leastChunk is less than the smallest chunk that malloc maps alone, by default 128 KiB.
const leastChunk = 64 << 10

// chunk returns the bytes of a chunk of malloc's at addr, or 0.
func (p *process) chunk(addr, end uint64) uint64 {
	w, ok := p.words(addr)
	size := w[1] &^ 7
	if !ok || w[0] != 0 || w[1]&7 != 2 || size < leastChunk || size%p.page != 0 || size > end-addr {
		return 0
	}
	return size
}

// threadHeap returns the writable bytes of a heap of glibc's at addr, or 0.
func (p *process) threadHeap(addr, end uint64) uint64 {
	const align64, align32 = 64 << 20, 1 << 20
	align := uint64(align64)
	if p.word == 4 {
		align = align32
	}
	if addr%align != 0 {
		return 0
	}
	w, ok := p.words(addr)
	if !ok || w[0] == 0 || w[2] == 0 || w[2] > w[3] || w[3] > align || w[3] > end-addr || w[3]%p.page != 0 {
		return 0
	}
	return w[3]
}

// words returns the four words at addr.
func (p *process) words(addr uint64) (w [4]uint64, ok bool) {
	b := p.raw[:4*p.word]
	if !p.peek(addr, b) {
		return w, false
	}
	for i := range w {
		if p.word == 4 {
			w[i] = uint64(binary.NativeEndian.Uint32(b[4*i:]))
		} else {
			w[i] = binary.NativeEndian.Uint64(b[8*i:])
		}
	}
	return w, true
}

// A segment is what of an ELF file is mapped together. All are bytes.
type segment struct {
	offset, addr     uint64 // in the file, and from where the file is loaded
	inFile, inMemory uint64
}

var errELF = errors.New("resident: not an ELF file of this machine")

// segments returns the loadable segments of an ELF file, from its first bytes.
func segments(file []byte) ([]segment, error) {
	if len(file) < 64 || string(file[:4]) != "\x7fELF" || file[5] != 1 && file[5] != 2 {
		return nil, errELF
	}
	var order binary.ByteOrder = binary.LittleEndian
	if file[5] == 2 {
		order = binary.BigEndian
	}
	wide := file[4] == 2
	at, each, n := uint64(order.Uint32(file[28:])), uint64(order.Uint16(file[42:])), uint64(order.Uint16(file[44:]))
	least := uint64(32)
	if wide {
		at, each, n, least = order.Uint64(file[32:]), uint64(order.Uint16(file[54:])), uint64(order.Uint16(file[56:])), 56
	}
	if each < least || at > uint64(len(file)) || n*each > uint64(len(file))-at {
		return nil, errELF
	}
	var all []segment
	for i := range n {
		h := file[at+i*each:]
		if order.Uint32(h) != 1 { // PT_LOAD
			continue
		}
		word := func(k int) uint64 {
			if wide {
				return order.Uint64(h[8*k:])
			}
			return uint64(order.Uint32(h[4*k:]))
		}
		all = append(all, segment{word(1), word(2), word(4), word(5)})
	}
	return all, nil
}

// claimZeroed enters the zeroed data behind the mappings of a file, which are anonymous: the
// kernel gives them no name, and may join what lies behind them with them. base is the mapping of
// the file's beginning.
func (p *process) claimZeroed(base *mapping, segs []segment, class Class) {
	if len(segs) == 0 {
		return
	}
	load := base.from - segs[0].addr&^(p.page-1)
	for _, s := range segs {
		from := (load + s.addr + s.inFile + p.page - 1) &^ (p.page - 1)
		to := (load + s.addr + s.inMemory + p.page - 1) &^ (p.page - 1)
		if s.inMemory > s.inFile && from < to {
			p.owners = p.owners.claim(owner{from: from, to: to, class: class, name: base.name})
		}
	}
}
