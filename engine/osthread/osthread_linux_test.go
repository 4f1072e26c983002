package osthread

import (
	"math/bits"
	"runtime"
	"testing"
)

func count(set processors) (n int) {
	for _, word := range set {
		n += bits.OnesCount(word)
	}
	return n
}

// The thread ends with its goroutine, which stays locked to it.
func TestBind_LeavesTheThreadOneProcessorAndOthersTheirs(t *testing.T) {
	before, ok := allowed()
	if !ok || count(before) < 1 {
		t.Fatalf("%d processors, %v", count(before), ok)
	}
	var bound bool
	var mine processors
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		bound = Bind()
		mine, _ = allowed()
		done <- true
	}()
	<-done
	if !bound || count(mine) != 1 {
		t.Errorf("%v; %d processors", bound, count(mine))
	}
	for i := range mine {
		if mine[i]&^before[i] != 0 {
			t.Error("it is not one of those before")
		}
	}
	go func() {
		runtime.LockOSThread()
		mine, _ = allowed()
		done <- true
	}()
	<-done
	if count(mine) != count(before) {
		t.Errorf("another thread has %d processors, want %d", count(mine), count(before))
	}
}
