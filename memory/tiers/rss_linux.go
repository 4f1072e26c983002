package tiers

import "os"

// rssReader reads the process's resident bytes without allocating.
type rssReader struct {
	file *os.File
	page uint64
	buf  [128]byte
}

func (r *rssReader) open() {
	r.file, _ = os.Open("/proc/self/statm") // without it the figure is 0: unknown
	r.page = uint64(os.Getpagesize())
}

func (r *rssReader) close() {
	if r.file != nil {
		_ = r.file.Close()
		r.file = nil
	}
}

// read returns resident bytes, or 0 where they are unknown. The second field of statm counts
// resident pages.
func (r *rssReader) read() uint64 {
	if r.file == nil {
		return 0
	}
	n, _ := r.file.ReadAt(r.buf[:], 0)
	field, pages := 0, uint64(0)
	for _, c := range r.buf[:n] {
		switch {
		case c == ' ':
			field++
		case field == 1 && c >= '0' && c <= '9':
			pages = pages*10 + uint64(c-'0')
		}
	}
	return pages * r.page
}
