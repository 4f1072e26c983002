package stack_test

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/stack"
)

// What is freed out of order is refused, and the message names both blocks.
func ExampleStack() {
	s, err := stack.New(nil, stack.Config{Bytes: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	outer, _ := s.Alloc(100, 16)
	inner, _ := s.Alloc(50, 16)
	func() {
		defer func() { fmt.Println("refused:", recover() != nil) }()
		s.Free(outer, 100)
	}()
	s.Free(inner, 50)
	s.Free(outer, 100)
	fmt.Println(s.Used(), "bytes in use")
	// Output:
	// refused: true
	// 0 bytes in use
}

type wall struct{ X0, Y0, X1, Y1 float32 }

// A level loader keeps its configuration at the top while the level grows from the bottom;
// then the top is reset, and the level has all the space.
func ExampleDouble() {
	d, err := stack.NewDouble(nil, stack.DoubleConfig{Bytes: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()

	config, err := memory.MakeSlice[uint32](d.Top(), 1000)
	walls, err2 := memory.MakeSlice[wall](d.Bottom(), 500)
	fmt.Println(len(config), len(walls), err, err2)
	fmt.Println(d.Bottom().Used(), d.Top().Used(), d.Available())
	d.ResetTop()
	fmt.Println(d.Bottom().Used(), d.Top().Used(), d.Available())
	// Output:
	// 1000 500 <nil> <nil>
	// 8000 4000 53536
	// 8000 0 57536
}

// The header of a message is written once the body is known, in front of it.
func ExamplePivot() {
	p, err := stack.NewPivot(nil, stack.PivotConfig{Forward: 1024, Backward: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()

	body, _ := p.Forward().Alloc(5, 1)
	copy(unsafe.Slice((*byte)(body), 5), "hello")
	if p.Extend(body, 5, 11) {
		copy(unsafe.Slice((*byte)(unsafe.Add(body, 5)), 6), " world")
	}
	header := fmt.Sprintf("len=%d ", len(p.Bytes()))
	h, _ := p.Backward().Alloc(uintptr(len(header)), 1)
	copy(unsafe.Slice((*byte)(h), len(header)), header)
	fmt.Println(string(p.Bytes()))
	// Output:
	// len=11 hello world
}
