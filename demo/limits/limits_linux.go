// Package limits prepares a process for a limit on address space, as ulimit -v sets it. A program imports it for its
// init. Package limits depends on few packages, so its init runs before those of packages that start threads and load
// libraries. Without a limit it does nothing.
//
// If Go gets no address space for the next thread or arena of its heap, it ends the process with a dump. A program
// cannot prevent that or ask in advance. So this package reserves 64 MiB at the start and releases them in its init.
//
// The C library reserves 64 to 128 MiB for each thread that allocates. For the stack of each thread it reserves the
// stack limit, mostly 8 MiB. So nine threads can need a gigabyte. Unless MALLOC_ARENA_MAX is set, init sets it to 1,
// lowers the stack limit to 1 MiB and executes the program again in the same process.
package limits

import (
	"bytes"
	"math"
	"syscall"
	"unsafe"
)

// reserve is never written, so that it takes no memory. 64 MiB is an arena of the Go heap, or the
// stacks of eight threads.
var reserve [64 << 20]byte

const arenas = "MALLOC_ARENA_MAX"

func init() {
	if !Limited() {
		return
	}
	yield()
	if _, set := syscall.Getenv(arenas); !set {
		if args := arguments(); len(args) > 0 {
			smallStacks()
			_ = syscall.Exec("/proc/self/exe", args, append(syscall.Environ(), arenas+"=1")) // returns only if it fails
		}
	}
}

// stackBytes is the size of a thread's stack. Goroutines have stacks of their own; a thread needs one
// for the scheduler, signals and the C library.
const stackBytes = 1 << 20

// smallStacks lowers the soft limit from which the C library takes the size of stacks when it starts.
func smallStacks() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_STACK, &limit); err == nil && limit.Cur > stackBytes {
		limit.Cur = stackBytes
		_ = syscall.Setrlimit(syscall.RLIMIT_STACK, &limit) // if it fails, stacks are large
	}
}

// Limited reports whether the process has a limit on address space.
func Limited() bool {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit)
	return err == nil && uint64(limit.Cur) != math.MaxUint64
}

// yield unmaps the whole pages of reserve. A second call finds nothing there.
func yield() {
	size := uintptr(syscall.Getpagesize())
	first := (uintptr(unsafe.Pointer(&reserve)) + size - 1) &^ (size - 1)
	end := (uintptr(unsafe.Pointer(&reserve)) + unsafe.Sizeof(reserve)) &^ (size - 1)
	_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, first, end-first, 0)
}

// arguments returns those of the process, which os does not have yet.
func arguments() (args []string) {
	fd, err := syscall.Open("/proc/self/cmdline", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var all []byte
	for buf := make([]byte, 4096); ; {
		n, err := syscall.Read(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		all = append(all, buf[:n]...)
	}
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(all, []byte{0}), []byte{0}) {
		args = append(args, string(arg))
	}
	return args
}
