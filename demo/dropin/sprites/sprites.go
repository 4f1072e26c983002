package main

import (
	"fmt"
	"math"
	"runtime"

	"github.com/strata-go/strata/engine/abtest"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

// A Sprite is a moving picture. It is a value of a pool, so it has no Go pointer.
type Sprite struct {
	X, Y, VX, VY float32
	Life         int32
	Picture      uint32
}

// A Quad is an entry of the list to draw: the position of a sprite and of its picture.
type Quad struct{ X, Y, U, V float32 }

const side = 1024 // of the world

// born returns sprite n: which sprites there are does not depend on the order in which a scene keeps them.
func born(n uint32) Sprite {
	h := n * 2654435761
	return Sprite{
		X: float32(h % side), Y: float32(h >> 10 % side), VX: float32(h>>20&7) - 3.5, VY: float32(h>>24&7) - 3.5,
		Life: 30 + int32(h>>8%90), Picture: h >> 28,
	}
}

// step moves a sprite, and reports whether it has ended.
func (s *Sprite) step() bool {
	s.X, s.Y, s.Life = s.X+s.VX, s.Y+s.VY, s.Life-1
	if s.X < 0 && s.VX < 0 || s.X > side && s.VX > 0 {
		s.VX = -s.VX
	}
	if s.Y < 0 && s.VY < 0 || s.Y > side && s.VY > 0 {
		s.VY = -s.VY
	}
	return s.Life <= 0
}

func (s *Sprite) quad() Quad {
	return Quad{s.X, s.Y, float32(s.Picture & 3), float32(s.Picture >> 2)}
}

// bits is a part of a sum that is the same in any order.
func (s *Sprite) bits() uint64 {
	return uint64(math.Float32bits(s.X))*31 + uint64(math.Float32bits(s.Y))*17 + uint64(s.Life)
}

// A scene replaces sprites that have ended and makes the list of quads.
type scene interface {
	tick()
	sum() uint64
}

type slice struct {
	sprites []Sprite
	quads   []Quad
	next    uint32
}

func newSlice(count int) *slice {
	s := &slice{sprites: make([]Sprite, 0, count), quads: make([]Quad, 0, count)}
	for range count {
		s.sprites, s.next = append(s.sprites, born(s.next)), s.next+1
	}
	return s
}

func (s *slice) tick() {
	count := len(s.sprites)
	for i := 0; i < len(s.sprites); {
		if s.sprites[i].step() {
			last := len(s.sprites) - 1
			s.sprites[i] = s.sprites[last]
			s.sprites = s.sprites[:last]
			continue
		}
		i++
	}
	for len(s.sprites) < count {
		s.sprites, s.next = append(s.sprites, born(s.next)), s.next+1
	}
	s.quads = s.quads[:0]
	for i := range s.sprites {
		s.quads = append(s.quads, s.sprites[i].quad())
	}
}

func (s *slice) sum() (sum uint64) {
	for i := range s.sprites {
		sum += s.sprites[i].bits()
	}
	return sum
}

type pointers struct {
	sprites []*Sprite
	quads   []Quad
	next    uint32
}

func newPointers(count int) *pointers {
	s := &pointers{sprites: make([]*Sprite, 0, count), quads: make([]Quad, 0, count)}
	for range count {
		s.add()
	}
	return s
}

func (s *pointers) add() {
	b := born(s.next)
	s.sprites, s.next = append(s.sprites, &b), s.next+1
}

func (s *pointers) tick() {
	count := len(s.sprites)
	for i := 0; i < len(s.sprites); {
		if s.sprites[i].step() {
			last := len(s.sprites) - 1
			s.sprites[i], s.sprites[last] = s.sprites[last], nil
			s.sprites = s.sprites[:last]
			continue
		}
		i++
	}
	for len(s.sprites) < count {
		s.add()
	}
	s.quads = s.quads[:0]
	for _, p := range s.sprites {
		s.quads = append(s.quads, p.quad())
	}
}

func (s *pointers) sum() (sum uint64) {
	for _, p := range s.sprites {
		sum += p.bits()
	}
	return sum
}

type strata struct {
	m       *tiers.Manager
	sprites *pool.Pool[Sprite]
	quads   []Quad // in frame memory
	next    uint32
}

var quadType = memory.MustType[Quad]()

func newStrata(m *tiers.Manager, count int) (*strata, error) {
	p, err := pool.New[Sprite](m.PoolSource(), pool.Config{Name: "sprites", Capacity: count})
	if err != nil {
		return nil, err
	}
	s := &strata{m: m, sprites: p}
	for range count {
		if err := s.add(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *strata) add() error {
	_, p, err := s.sprites.New()
	if err == nil {
		*p, s.next = born(s.next), s.next+1
	}
	return err
}

// must ends the program: the pool and the frame have the capacity that a tick needs.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *strata) tick() {
	must(s.m.NextFrame())
	count := s.sprites.Len()
	for run := range s.sprites.Runs() {
		for i := range run {
			if p := &run[i]; p.step() {
				s.sprites.Free(s.sprites.HandleOf(p))
			}
		}
	}
	for s.sprites.Len() < count {
		must(s.add())
	}
	quads, err := arena.MakeSliceUninit(s.m.Frame(), quadType, count)
	must(err)
	s.quads = quads[:0]
	for run := range s.sprites.Runs() {
		for i := range run {
			s.quads = append(s.quads, run[i].quad())
		}
	}
}

func (s *strata) sum() (sum uint64) {
	for _, p := range s.sprites.All() {
		sum += p.bits()
	}
	return sum
}

// newScenes makes slice twice, pointers and strata.
func newScenes(count int) (all []scene, closeAll func(), err error) {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		return nil, nil, err
	}
	s, err := newStrata(m, count)
	if err != nil {
		return nil, nil, err
	}
	return []scene{newSlice(count), newSlice(count), newPointers(count), s}, func() { must(m.EndFrame()); must(s.sprites.Close()); must(m.Close()) }, nil
}

// objects returns how many objects the process has made on the Go heap.
func objects() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// verdict writes the ratio to slice, and whether it is within the middle half of the rounds of slice to itself.
func verdict(f *abtest.Figures, i int, low, high float64) string {
	_, m, _ := f.Ratio(i, 0)
	switch {
	case i == 0:
		return "1"
	case i == 1:
		return fmt.Sprintf("%.2f (%.2f–%.2f)", m, low, high)
	case m >= low && m <= high:
		return fmt.Sprintf("%.2f tie", m)
	}
	return fmt.Sprintf("%.2f", m)
}
