package osthread

import (
	"runtime"
	"testing"
	"time"
)

// A thread that waits uses no processor time, and one that works does.
func TestCPU_CountsWorkAndNotWaiting(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, ok := CPU()
	if ok != (runtime.GOOS == "linux") {
		t.Fatalf("the system tells it: %v", ok)
	}
	if !ok {
		return
	}
	time.Sleep(50 * time.Millisecond)
	waited, _ := CPU()
	if waited-before > 40*time.Millisecond {
		t.Errorf("waiting took %v", waited-before)
	}
	for after := waited; after-waited < 5*time.Millisecond; after, _ = CPU() { // or it never ends
	}
}
