package stream

import (
	"io/fs"
	"sync"
	"time"
)

// Slow returns a file system with the files of fsys that simulates a slow disk or network. Every Open takes longer by
// the given latency. All reads together get bytesPerSecond; 0 or less means no limit. A Read returns at most 32 KiB,
// and waits for the Reads that came before it. A cancellation therefore waits at most for an Open, or for one Read of
// each worker. Stat is not slowed.
func Slow(fsys fs.FS, latency time.Duration, bytesPerSecond int64) fs.FS {
	return &slow{fsys: fsys, latency: latency, rate: bytesPerSecond}
}

type slow struct {
	fsys    fs.FS
	latency time.Duration
	rate    int64

	mu   sync.Mutex
	next time.Time // when the line is free again
}

func (s *slow) Open(name string) (fs.File, error) {
	time.Sleep(s.latency)
	f, err := s.fsys.Open(name)
	if err != nil {
		return f, err
	}
	return &slowFile{f, s}, nil
}

// Stat is as fast as it was: it asks for no byte.
func (s *slow) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.fsys, name) }

// carry waits until n bytes have come over the line, behind those of everybody else.
func (s *slow) carry(n int) {
	if s.rate <= 0 || n <= 0 {
		return
	}
	s.mu.Lock()
	now := time.Now()
	if s.next.Before(now) {
		s.next = now
	}
	s.next = s.next.Add(time.Duration(float64(n) / float64(s.rate) * float64(time.Second)))
	wait := s.next.Sub(now)
	s.mu.Unlock()
	time.Sleep(wait)
}

type slowFile struct {
	fs.File
	s *slow
}

func (f *slowFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p[:min(len(p), 32<<10)])
	f.s.carry(n)
	return n, err
}
