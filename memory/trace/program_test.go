package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

// compiled returns the program of events.
func compiled(t testing.TB, events []Event) *Program {
	t.Helper()
	r, err := NewReader(bytes.NewReader(written(t, Config{}, events)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// modest returns a random program whose sizes a Program allows.
func modest(seed uint64, n int) []Event {
	all := program(rand.New(rand.NewPCG(seed, 1)), n)
	for i := range all {
		all[i].Size %= 5000
	}
	return all
}

func TestCompile_ReusesSlotsAndFreesTheRest(t *testing.T) {
	p := compiled(t, []Event{
		{Kind: Level, Begin: true},
		{Kind: Alloc, Block: 0, Size: 100, Align: 16},
		{Kind: Alloc, Block: 1, Size: 3, Align: 1},
		{Kind: Free, Block: 0},
		{Kind: Alloc, Block: 2, Size: 50, Align: 64, Where: Where{Tier: 5}},
		{Kind: Tick},
		{Kind: Resize, Block: 2, Size: 400},
		{Kind: Used, Size: 1 << 40},
		{Kind: Alloc, Block: 3, Size: 8, Align: 1 << 20},
		{Kind: Free, Block: 1},
	})
	want := []Op{
		{Kind: OpAlloc, Shift: 4, Slot: 0, Size: 100},
		{Kind: OpAlloc, Slot: 1, Size: 8},
		{Kind: OpFree, Slot: 0, Size: 100},
		{Kind: OpAligned, Shift: 6, Slot: 0, Size: 50, Tier: 5},
		{Kind: OpTick},
		{Kind: OpResize, Slot: 0, Size: 400, Old: 50},
		{Kind: OpAligned, Shift: 12, Slot: 2, Size: 8},
		{Kind: OpFree, Slot: 1, Size: 8},
		{Kind: OpFree, Slot: 0, Size: 400},
		{Kind: OpFree, Slot: 2, Size: 8},
	}
	if !slices.Equal(p.Ops, want) {
		t.Errorf("%+v", p.Ops)
	}
	if p.Slots != 3 || p.Timed != 8 || p.Operations != 7 || p.Peak != 416 || p.PeakAt != 6 || p.Largest != 400 {
		t.Errorf("%+v", p)
	}
}

func TestProgram_RandomProgramsRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 10, 5000} {
		p := compiled(t, modest(uint64(n), n))
		var b bytes.Buffer
		if size, err := p.WriteTo(&b); err != nil || size != int64(b.Len()) || b.Len() != programHeader+len(p.Ops)*opBytes {
			t.Errorf("%d bytes, %v", size, err)
		}
		for shift := range 4 { // aligned and not
			moved := append(make([]byte, shift), b.Bytes()...)[shift:]
			if got, err := ParseProgram(moved); err != nil || !slices.Equal(got.Ops, p.Ops) {
				t.Errorf("%d events, moved by %d bytes: %v", n, shift, err)
			}
		}
		got, err := ParseProgram(b.Bytes())
		if err != nil || got.Slots != p.Slots || got.Peak != p.Peak || got.PeakAt != p.PeakAt || !slices.Equal(got.Ops, p.Ops) {
			t.Errorf("%d events: %v", n, err)
		}
	}
}

// half takes half of what it is given, and breaks the contract of io.Writer: it returns no error.
type half struct{}

func (half) Write(b []byte) (int, error) { return len(b) / 2, nil }

func TestProgram_ShortWriteIsAnError(t *testing.T) {
	p := compiled(t, modest(1, 10))
	if _, err := p.WriteTo(half{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v, want io.ErrShortWrite", err)
	}
}

// The number of slots is that of the blocks that are live at once.
func TestCompile_SlotsAreTheMostLiveBlocks(t *testing.T) {
	events := modest(3, 4000)
	live, most := 0, 0
	for _, e := range events {
		switch e.Kind {
		case Alloc:
			live++
		case Free:
			live--
		}
		most = max(most, live)
	}
	if p := compiled(t, events); p.Slots != most {
		t.Errorf("%d slots for %d blocks", p.Slots, most)
	}
}

func TestCompile_TruncatedTraceGivesItsWholeChunks(t *testing.T) {
	file := written(t, Config{}, modest(4, 60_000))
	r, err := NewReader(bytes.NewReader(file[:len(file)-1]))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(r)
	if !errors.Is(err, ErrTruncated) || p == nil || p.Operations < 20_000 || p.verify() != nil {
		t.Errorf("%v", err)
	}
	file[len(file)/2] ^= 1
	r, _ = NewReader(bytes.NewReader(file))
	if p, err := Compile(r); !errors.Is(err, ErrFormat) || p != nil {
		t.Errorf("a damaged trace: %v, %v", p, err)
	}
}

func TestCompile_ReaderThatWasReadIsRefused(t *testing.T) {
	for _, first := range []Kind{Alloc, Tick} {
		file := written(t, Config{}, []Event{{Kind: first, Size: 8, Align: 8}, {Kind: Alloc, Size: 8, Align: 8}, {Kind: Free}})
		r, err := NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if p, err := Compile(r); p != nil || !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "read from the Reader: 1") {
			t.Errorf("after %v: %v, %v", first, p, err)
		}
	}
}

func TestCompile_HugeBlocksAreRefused(t *testing.T) {
	for _, events := range [][]Event{
		{{Kind: Alloc, Size: 1 << 32, Align: 1}},
		{{Kind: Alloc, Size: 1, Align: 1}, {Kind: Resize, Size: 1 << 32}},
	} {
		r, _ := NewReader(bytes.NewReader(written(t, Config{}, events)))
		if _, err := Compile(r); err == nil || !strings.Contains(err.Error(), "block 0 has 4294967296 bytes: at most 4294967295") {
			t.Error(err)
		}
	}
	compiled(t, []Event{{Kind: Alloc, Size: 1<<32 - 1, Align: 1}})
}

func TestParseProgram_DamageIsRefused(t *testing.T) {
	var b bytes.Buffer
	if _, err := compiled(t, modest(5, 30)).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	for i := range file {
		if _, err := ParseProgram(file[:i]); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", i, err)
		}
		for bit := range 8 {
			damaged := slices.Clone(file)
			damaged[i] ^= 1 << bit
			if _, err := ParseProgram(damaged); !errors.Is(err, ErrFormat) && !errors.Is(err, ErrVersion) {
				t.Errorf("byte %d bit %d: %v", i, bit, err)
			}
		}
	}
}

func TestParseProgram_WrongOperationsAreRefused(t *testing.T) {
	a, f := Op{Kind: OpAlloc, Slot: 0, Size: 8}, Op{Kind: OpFree, Slot: 0, Size: 8}
	good := Program{Slots: 1, Ops: []Op{a, f}, Timed: 2, Operations: 2, Peak: 8, Largest: 8}
	for name, change := range map[string]func(p *Program){
		"the slot is live":     func(p *Program) { p.Ops[1] = a },
		"the slot is vacant":   func(p *Program) { p.Ops[0] = f },
		"resize of vacant":     func(p *Program) { p.Ops[0] = Op{Kind: OpResize, Size: 8} },
		"other size":           func(p *Program) { p.Ops[1].Size = 16 },
		"small":                func(p *Program) { p.Ops[0].Size, p.Ops[1].Size = 7, 7 },
		"no such slot":         func(p *Program) { p.Ops[0].Slot = 1 },
		"kind":                 func(p *Program) { p.Ops[0].Kind = opKinds },
		"alignment":            func(p *Program) { p.Ops[0].Kind, p.Ops[0].Shift = OpAligned, 13 },
		"alloc above 16":       func(p *Program) { p.Ops[0].Shift = 5 },
		"aligned to 16":        func(p *Program) { p.Ops[0].Kind, p.Ops[0].Shift = OpAligned, 4 },
		"alignment of a free":  func(p *Program) { p.Ops[1].Shift = 1 },
		"tier":                 func(p *Program) { p.Ops[0].Tier = 16 },
		"alignment of a tick":  func(p *Program) { insertTick(p, Op{Shift: 1}) },
		"tier of a tick":       func(p *Program) { insertTick(p, Op{Tier: 16}) },
		"slot of a tick":       func(p *Program) { insertTick(p, Op{Slot: 1}) },
		"size of a tick":       func(p *Program) { insertTick(p, Op{Size: 8}) },
		"old size of a tick":   func(p *Program) { insertTick(p, Op{Old: 8}) },
		"old size of an alloc": func(p *Program) { p.Ops[0].Old = 8 },
		"old size of a free":   func(p *Program) { p.Ops[1].Old = 8 },
		"tick after the end":   func(p *Program) { p.Ops = append(p.Ops, Op{Kind: OpTick}) },
		"stays live":           func(p *Program) { p.Ops, p.Timed, p.Operations = []Op{a}, 1, 1 },
		"alloc after the end":  func(p *Program) { p.Timed, p.Operations = 0, 0 },
		"peak":                 func(p *Program) { p.Peak = 9 },
		"place of the peak":    func(p *Program) { p.PeakAt = 1 },
		"operations":           func(p *Program) { p.Operations = 1 },
		"more operations":      func(p *Program) { p.Operations = 3 },
		"largest":              func(p *Program) { p.Largest = 16 },
		"more timed than ops":  func(p *Program) { p.Timed = 3 },
		"more slots than ops":  func(p *Program) { p.Slots = 3 },
		"peak behind the last": func(p *Program) { p.PeakAt = 2 },
	} {
		p := good
		p.Ops = slices.Clone(good.Ops)
		change(&p)
		var b bytes.Buffer
		if _, err := p.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := ParseProgram(b.Bytes()); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ticking := good
	ticking.Ops = slices.Clone(good.Ops)
	insertTick(&ticking, Op{Tier: 15})
	for _, p := range []Program{good, ticking} {
		var b bytes.Buffer
		if _, err := p.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := ParseProgram(b.Bytes()); err != nil {
			t.Error(err)
		}
	}
	if _, err := good.WriteTo(&failing{err: errFull}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// insertTick inserts a tick between the two operations of p.
func insertTick(p *Program, tick Op) {
	tick.Kind = OpTick
	p.Ops = slices.Insert(p.Ops, 1, tick)
	p.Timed++
}

var errFull = errors.New("no space left")

// FuzzParseProgram gives ParseProgram any list with a right checksum, and writes what it accepts.
func FuzzParseProgram(f *testing.F) {
	for seed := range uint64(3) {
		var b bytes.Buffer
		if _, err := compiled(f, modest(seed, 20)).WriteTo(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if file = slices.Clone(file); len(file) >= programHeader {
			binary.LittleEndian.PutUint32(file[programHeader-sumBytes:], programSum(file))
		}
		p, err := ParseProgram(file)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrVersion) {
				t.Fatal(err)
			}
			return
		}
		var b bytes.Buffer
		if _, err := p.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if again, err := ParseProgram(b.Bytes()); err != nil || !slices.Equal(again.Ops, p.Ops) {
			t.Fatal(err)
		}
	})
}
