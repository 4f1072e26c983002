package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/strata-go/strata/memory/trace"
)

// The numbers of operations, as in ../../c/record.c.
const (
	callAlloc = 1
	callFree  = 2
	callMove  = 3 // realloc begins: the address is no longer in use
	callMoved = 4 // the realloc of the same thread ends
)

const (
	callBytes   = 32 // struct call of record.c
	mallocAlign = 16 // that glibc's malloc gives to any block on 64-bit systems
)

// A call is struct call of record.c.
type call struct {
	address, size     uint64
	thread, op, align uint32
}

// readCall returns io.EOF at the end of the recording: at the end of the file, or at a call that is not complete.
func readCall(r io.Reader) (c call, err error) {
	var b [callBytes]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return c, err
	}
	le := binary.LittleEndian
	c = call{le.Uint64(b[0:]), le.Uint64(b[8:]), le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint32(b[24:])}
	if le.Uint32(b[28:]) == 0 {
		return c, io.EOF
	}
	return c, nil
}

// A converter names blocks by their numbers instead of their addresses.
type converter struct {
	w      *trace.Writer
	blocks map[uint64]uint64 // address to number, of live blocks
	moving map[uint32]moving // thread to the block that it resizes
	events uint64
}

type moving struct{ address, block uint64 }

// convert writes the first limit operations of the recording in r to w, and returns how many there were.
func convert(w *trace.Writer, r io.Reader, limit uint64) (uint64, error) {
	c := converter{w: w, blocks: map[uint64]uint64{}, moving: map[uint32]moving{}}
	for n := 0; c.events < limit; n++ {
		call, err := readCall(r)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = c.add(call)
		}
		if err != nil {
			return c.events, fmt.Errorf("call %d: %w", n, err)
		}
	}
	return c.events, w.Close()
}

func (c *converter) add(call call) error {
	at := trace.Where{Thread: call.thread}
	switch call.op {
	case callAlloc:
		if _, live := c.blocks[call.address]; live {
			return fmt.Errorf("an allocation at %#x, where a block is live", call.address)
		}
		c.blocks[call.address] = c.w.Alloc(at, call.size, alignment(call.size, call.align))
	case callFree:
		block, err := c.take(call.address)
		if err != nil {
			return err
		}
		c.w.Free(at, block)
	case callMove:
		block, err := c.take(call.address)
		if err != nil {
			return err
		}
		c.moving[call.thread] = moving{call.address, block}
		return nil
	case callMoved:
		from, ok := c.moving[call.thread]
		if !ok {
			return fmt.Errorf("thread %d ends a realloc that it has not begun", call.thread)
		}
		delete(c.moving, call.thread)
		if call.address == 0 { // it failed: the block stays
			c.blocks[from.address] = from.block
			return nil
		}
		if _, live := c.blocks[call.address]; live {
			return fmt.Errorf("a realloc to %#x, where a block is live", call.address)
		}
		c.blocks[call.address] = from.block
		c.w.Resize(at, from.block, call.size)
	default:
		return fmt.Errorf("operation %d: there are 1 to 4", call.op)
	}
	c.events++
	return nil
}

// take removes the block at an address.
func (c *converter) take(address uint64) (block uint64, err error) {
	block, live := c.blocks[address]
	if !live {
		return 0, fmt.Errorf("a free or realloc of %#x, where no block is live", address)
	}
	delete(c.blocks, address)
	return block, nil
}

// alignment returns what the program may rely on.
func alignment(size uint64, asked uint32) uint64 {
	if asked != 0 {
		return uint64(asked)
	}
	return min(mallocAlign, uint64(1)<<max(0, bits.Len64(size)-1))
}
