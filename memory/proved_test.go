package memory

import (
	"sync"
	"testing"
)

func TestProved_AnotherTypeInThePlaceProvesNothing(t *testing.T) {
	for _, d := range []uintptr{descriptor((*int)(nil)), ^descriptor((*string)(nil)), 1} { // pointer-free, and no type
		for i := range proved {
			proved[i].Store(d)
		}
		if PointerFree[string]() == nil || PointerFree[struct{ P *int }]() == nil || PointerFree[[]int]() == nil {
			t.Fatalf("with %#x in every place, a type with pointers is pointer-free", d)
		}
		if err := PointerFree[[3]float64](); err != nil {
			t.Fatal(err)
		}
	}
	refused := [...]uintptr{descriptor((*string)(nil)), descriptor((*struct{ P *int })(nil)), descriptor((*[]int)(nil))}
	for i := range proved {
		for _, d := range refused {
			if proved[i].Load() == d {
				t.Errorf("place %d has a type with pointers", i)
			}
		}
	}
}

func TestProved_IsSafeForConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				proved[(i+k)%len(proved)].Store(0)
				if PointerFree[[5]int]() != nil || PointerFree[[5]*int]() == nil {
					t.Error("wrong verdict")
				}
			}
		})
	}
	wg.Wait()
}
