package osthread

import (
	"math/bits"
	"syscall"
	"time"
	"unsafe"
)

func cpu() (time.Duration, bool) {
	const threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// A processors is a set of them, as the kernel has it: words of the machine.
type processors [8192 / bits.UintSize]uint

// allowed returns the processors that the calling thread may use.
func allowed() (set processors, ok bool) {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	return set, errno == 0
}

func bind() bool {
	mine, ok := allowed()
	if !ok {
		return false
	}
	var one processors
	for i := len(mine) - 1; i >= 0; i-- {
		if mine[i] != 0 {
			one[i] = 1 << (bits.Len(mine[i]) - 1)
			break
		}
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(one), uintptr(unsafe.Pointer(&one)))
	return errno == 0
}
