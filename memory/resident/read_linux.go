package resident

import (
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"unsafe"
)

// proc is where the kernel tells of this process.
var proc = "/proc/self/"

// read asks the kernel and the runtime, and fills r.
func (w *work) read(r *Report) error {
	p := &w.process
	p.page = uint64(os.Getpagesize())
	w.known()
	before := w.goMapped()
	if err := p.readSmaps(); err != nil {
		return err
	}
	p.mapped = max(before, w.goMapped()) // the heap may have grown while smaps was read
	p.object = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p.smaps))))
	exe, err := os.Readlink(proc + "exe")
	if err != nil {
		return fmt.Errorf("resident: %w", err)
	}
	p.exe = exe
	pagemap, err := os.Open(proc + "pagemap")
	if err != nil {
		return fmt.Errorf("resident: %w", err)
	}
	defer pagemap.Close()
	p.pagemap = func(first uint64, entries []uint64) error {
		b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(entries))), 8*len(entries))
		_, err := pagemap.ReadAt(b, int64(8*first))
		return err
	}
	memory, err := os.Open(proc + "mem")
	if err == nil {
		defer memory.Close()
	}
	p.peek = func(addr uint64, b []byte) bool { // false, too, where the file could not be opened
		_, err := memory.ReadAt(b, int64(addr))
		return err == nil
	}
	p.header = p.readHeader
	return p.fill(r)
}

// readSmaps reads the whole file. The kernel writes it a few mappings at a time, and holds no lock
// in between.
func (p *process) readSmaps() error {
	f, err := os.Open(proc + "smaps")
	if err != nil {
		return fmt.Errorf("resident: %w", err)
	}
	defer f.Close()
	b := slices.Grow(p.smaps[:0], 128<<10)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		p.smaps = b
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("resident: %w", err)
		}
		b = slices.Grow(b, 16<<10)
	}
}

// headerBytes hold the program headers of every linker's output.
const headerBytes = 4096

// readHeader returns the segments of the file of a mapping, if the file is still the one.
func (p *process) readHeader(m *mapping) []segment {
	name := m.name
	if name == p.exe {
		name = proc + "exe"
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Sys().(*syscall.Stat_t).Ino != m.inode {
		return nil
	}
	var head [headerBytes]byte
	n, _ := f.ReadAt(head[:], 0)
	segs, _ := segments(head[:n])
	return segs
}
