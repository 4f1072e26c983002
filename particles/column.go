package particles

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

const (
	columnCount = 8

	// rowBytes is what one particle takes, and columnBytes what it takes in each column.
	rowBytes = 38

	// stagger is the distance, in bytes, by which each column begins later in its
	// reservation than the one before. Without it row i of all columns falls into one set
	// of the first-level cache: a million took 3.6 ns each in Update where this took 2.8.
	stagger = 5 * 64

	// stepRows is how many rows are committed at least: one granule of a byte column, so
	// that a System of 100,000 particles grows in seven steps. leastRows is what is tried
	// at last when memory is short: one granule of a float column.
	stepRows  = page.Granule
	leastRows = page.Granule / 4
	// slackRows is what the stagger takes from the granules of a column.
	slackRows = 1024
)

var columnBytes = [columnCount]uintptr{1, 1, 4, 4, 4, 4, 4, 16}

// The staggers must fit into the slack of the byte columns and of the others, in bytes.
var (
	_ [slackRows - 1*stagger]byte
	_ [4*slackRows - (columnCount-1)*stagger]byte
)

// columns is the storage: a prefix for each column and the slices over them, each of usable rows.
//
// Update reads and writes x to left, and reads kind: 41 bytes a particle. The fields that it does
// not need are together in birth, so that a removal touches one cold line for them instead of
// four. A column for each field took 3.0–3.2 ns a particle for a million, this 2.7–3.0, in blocks
// of 4096.
//
// Invariants, verified by check:
//
//	(1) each prefix passes its own Check
//	(2) each prefix is committed for the usable rows, and each slice covers them
type columns struct {
	usable int // rows that are committed
	max    int // rows that are reserved

	kind, tint   []uint8
	x, y, vx, vy []float32
	left         []float32 // seconds to live
	birth        []birth
	mem          [columnCount]page.Prefix
	refused      bool // a growth was refused; the next is tried after Reset, Reserve or Trim
}

// A birth is a particle's values from its birth that Build needs.
type birth struct {
	inv  float32 // 1/s: the inverse of the life it was given
	size float32 // side of the quad, before the size curve
	rot  float32 // turns
	spin float32 // turns in the whole life
}

// extent is how many bytes of a column's prefix the first rows take.
func extent(column, rows int) uintptr {
	return uintptr(column)*stagger + uintptr(rows)*columnBytes[column]
}

// reserve reserves the address space of every column, or less if the system refuses.
func (c *columns) reserve(src page.Source, rows int) error {
	c.max = rows
	for i := range c.mem {
		p, err := page.NewPrefix(src, extent(i, rows), extent(i, min(rows, leastRows)), page.Granule)
		if err != nil {
			return err
		}
		c.mem[i] = p
		c.max = min(c.max, int((p.Reserved()-extent(i, 0))/columnBytes[i]))
	}
	return nil
}

// grow commits need rows, or as many as the source allows, found by bisection.
//
//go:noinline
func (s *System) grow(need int) {
	if s.refused || s.usable == s.max {
		return
	}
	over := min((need+slackRows+stepRows-1)/stepRows*stepRows-slackRows, s.max)
	if s.commit(over) == nil {
		return
	}
	s.failures++
	s.refused = true
	for {
		half := ((s.usable+over)/2+slackRows)/leastRows*leastRows - slackRows
		if half <= s.usable {
			return
		}
		if s.commit(half) != nil {
			over = half
		}
	}
}

// commit makes exactly rows rows usable, or changes nothing, also if the source panics.
func (c *columns) commit(rows int) (err error) {
	committed := false
	defer func() {
		if !committed { // pages that cannot be decommitted are used by the next growth
			err = errors.Join(err, c.trim(c.usable))
		}
	}()
	for i := range c.mem {
		if err := c.mem[i].Ensure(extent(i, rows)); err != nil {
			return err
		}
	}
	if committed = true; c.mem[0].Base() == nil { // a function that the source has called has closed the System
		return errors.Join(memory.ErrClosed, c.trim(0))
	}
	c.usable = rows
	c.slice()
	return nil
}

// shrink decommits all rows from rows on, unless a commit is running.
func (c *columns) shrink(rows int) error {
	if c.committing() {
		return nil
	}
	c.usable, c.refused = rows, false
	c.slice()
	return c.trim(rows)
}

// committing reports whether a function of the source is running within commit, which relies on the columns that it has
// grown.
func (c *columns) committing() bool {
	for i := range c.mem {
		if c.mem[i].Busy() {
			return true
		}
	}
	return false
}

// trim decommits the memory behind the first rows, unless a commit is running.
func (c *columns) trim(rows int) error {
	if c.committing() {
		return nil
	}
	var errs []error
	for i := range c.mem {
		keep := extent(i, rows)
		if rows == 0 {
			keep = 0 // no stagger without rows
		}
		errs = append(errs, c.mem[i].Trim(keep))
	}
	return errors.Join(errs...)
}

// slice sets the slices to the usable rows of the prefixes.
func (c *columns) slice() {
	c.kind, c.tint = lay[uint8](c, 0), lay[uint8](c, 1)
	c.x, c.y = lay[float32](c, 2), lay[float32](c, 3)
	c.vx, c.vy = lay[float32](c, 4), lay[float32](c, 5)
	c.left, c.birth = lay[float32](c, 6), lay[birth](c, 7)
}

func lay[T uint8 | float32 | birth](c *columns, column int) []T {
	if c.usable == 0 {
		return nil
	}
	return unsafe.Slice((*T)(c.first(column)), c.usable)
}

func (c *columns) first(column int) unsafe.Pointer {
	return unsafe.Add(c.mem[column].Base(), extent(column, 0))
}

// watch registers lost, which is called when the source of the columns ends.
func (c *columns) watch(lost func()) {
	for i := range c.mem {
		c.mem[i].Watch(lost)
	}
}

// vacate empties the slices.
func (c *columns) vacate() {
	c.usable, c.max = 0, 0
	c.slice()
}

// release releases the address space. It may be called again after an error.
func (c *columns) release() error {
	c.vacate()
	var errs []error
	for i := range c.mem {
		errs = append(errs, c.mem[i].Close())
	}
	return errors.Join(errs...)
}

func (c *columns) stats() (m memory.Stats) {
	for i := range c.mem {
		m.Reserved += uint64(c.mem[i].Reserved())
		m.Committed += uint64(c.mem[i].Committed())
	}
	return m
}

func (c *columns) check() error {
	var errs []error
	for i := range c.mem {
		errs = append(errs, c.mem[i].Check())
		if c.usable > 0 && c.mem[i].Committed() < extent(i, c.usable) {
			errs = append(errs, fmt.Errorf("particles: column %d has %d bytes committed; %d rows take %d", i, c.mem[i].Committed(), c.usable, extent(i, c.usable)))
		}
	}
	return errors.Join(append(errs,
		lies(c, 0, c.kind), lies(c, 1, c.tint),
		lies(c, 2, c.x), lies(c, 3, c.y), lies(c, 4, c.vx), lies(c, 5, c.vy),
		lies(c, 6, c.left), lies(c, 7, c.birth))...)
}

func lies[T uint8 | float32 | birth](c *columns, column int, got []T) error {
	if len(got) != c.usable || len(got) > 0 && unsafe.Pointer(unsafe.SliceData(got)) != c.first(column) {
		return fmt.Errorf("particles: column %d has %d of %d rows, or lies elsewhere", column, len(got), c.usable)
	}
	return nil
}
