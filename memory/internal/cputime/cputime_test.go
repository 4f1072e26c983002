package cputime

import (
	"runtime"
	"testing"
	"time"
)

var sink uint64

func work(n int) {
	for i := range n {
		sink = sink*6364136223846793005 + uint64(i)
	}
}

func TestOf_CountsWork(t *testing.T) {
	little, much := Of(func() { work(1 << 20) }), Of(func() { work(1 << 24) })
	if little <= 0 || much < 4*little {
		t.Errorf("%v and 16 times as much %v", little, much)
	}
}

func TestOf_DoesNotCountWaiting(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the clock")
	}
	for range 8 { // what wakes a thread up is work, too
		if Of(func() { time.Sleep(50 * time.Millisecond) }) < 25*time.Millisecond {
			return
		}
	}
	t.Error("a pause of 50 ms counts")
}

func TestWall_Passes(t *testing.T) {
	begin := wall()
	time.Sleep(time.Millisecond)
	if took := wall() - begin; took < time.Millisecond {
		t.Errorf("a millisecond is %v", took)
	}
}
