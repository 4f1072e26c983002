package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pin binds this thread to a processor, unless the number is negative.
func pin(core int) {
	if core < 0 {
		return
	}
	var s unix.CPUSet
	s.Set(core)
	fail(unix.SchedSetaffinity(0, &s))
}

// whose is whose involuntary switches count: this thread's, or with two threads at work those of the process.
var whose = unix.RUSAGE_THREAD

func (j *job) sharedSwitches() { whose = unix.RUSAGE_SELF }

// switches is how often the kernel has taken the processor away.
func switches() int64 {
	var u unix.Rusage
	fail(unix.Getrusage(whose, &u))
	return int64(u.Nivcsw)
}

// resident returns the anonymous resident bytes of the process. The kernel counts them page by page for this file; the
// counters of statm are off by up to 64 pages for each processor.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	fail(err)
	_, rest, found := bytes.Cut(text, []byte("Anonymous:"))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		fail(fmt.Errorf("smaps_rollup has no line Anonymous"))
	}
	kib, err := strconv.Atoi(string(fields[0]))
	fail(err)
	return float64(kib) * 1024
}

// table returns n numbers outside of the Go heap, so that the collector neither scans nor counts them.
func table(n int) []uint32 {
	b, err := unix.Mmap(-1, 0, max(4*n, 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	fail(err)
	clear(b) // the page faults are not part of what is measured
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// mapped returns the contents of a file. Neither the heap nor the anonymous memory contains them.
func mapped(name string) []byte {
	f, err := os.Open(name)
	fail(err)
	defer f.Close()
	info, err := f.Stat()
	fail(err)
	file, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	fail(err)
	return file
}
