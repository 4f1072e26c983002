package memtest

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A given allocator keeps what a source gave it.
type given struct {
	mem    page.Memory
	n      uint64
	check  error
	closes error
}

func (g *given) Check() error        { return g.check }
func (g *given) Close() error        { return g.closes }
func (g *given) Stats() memory.Stats { return memory.Stats{Reserved: g.n} }

func TestGifts_WantsNoneRefusedAndMuchCutToWhatWasAskedFor(t *testing.T) {
	right := func(g given) func(page.Source) (*given, error) {
		return func(src page.Source) (*given, error) {
			m, err := src.Reserve(1 << 20)
			if err == nil && m.Size == 0 {
				return nil, errors.New("given: the source reserved 0 bytes at nil")
			}
			g.mem = m
			return &g, err
		}
	}
	for name, c := range map[string]struct {
		construct func(page.Source) (*given, error)
		want      string
	}{
		"right":              {right(given{n: 1 << 20}), ""},
		"too much is taken":  {right(given{n: 1<<20 + 1}), "1048577 bytes are reserved; want the 1 MiB"},
		"the books break":    {right(given{n: 1 << 20, check: errFull}), "full"},
		"it does not close":  {right(given{n: 1 << 20, closes: errFull}), "full"},
		"nothing is refused": {func(page.Source) (*given, error) { return nil, errFull }, `full; want an error with "reserved 0 bytes at"`},
		"nothing is taken":   {func(page.Source) (*given, error) { return &given{n: 1 << 20}, nil }, `New: true, <nil>; want an error`},
		"something comes with the error": {func(src page.Source) (*given, error) {
			g, err := right(given{n: 1 << 20})(src)
			if err != nil {
				return &given{}, err
			}
			return g, nil
		}, "New: true, given: "},
	} {
		saysOnly(t, name, c.want, func(tb testing.TB) { Gifts(tb, c.construct) })
	}
}

func TestRefuses_WantsTheErrorAndNothingElse(t *testing.T) {
	leaks := func(src page.Source, _ int) (*int, error) {
		_, err := src.Reserve(1 << 20)
		return nil, errors.Join(err, errFull)
	}
	for name, c := range map[string]struct {
		construct func(page.Source, int) (*int, error)
		want      string
	}{
		"right":      {func(page.Source, int) (*int, error) { return nil, errFull }, ""},
		"no error":   {func(page.Source, int) (*int, error) { return nil, nil }, `New(7) = <nil>; want an error with "full"`},
		"other text": {func(page.Source, int) (*int, error) { return nil, errors.ErrUnsupported }, `want an error with "full"`},
		"a value":    {func(page.Source, int) (*int, error) { return new(int), errFull }, "with its error and kept 0 reservations"},
		"a leak":     {leaks, "with its error and kept 1 reservations"},
	} {
		saysOnly(t, name, c.want, func(tb testing.TB) { Refuses(tb, c.construct, map[string]int{"full": 7}) })
	}
}

func TestMortal_ItsMemoryIsGivenBackOnce(t *testing.T) {
	src := NewFaulty()
	m := NewMortal(t, src, 1<<20)
	if src.Reserved() != 1 {
		t.Errorf("%d reservations", src.Reserved())
	}
	lost := 0
	if m.Watch(func() { lost++ }) == nil {
		t.Error("nobody can wait for its end")
	}
	saysOnly(t, "End", "", func(tb testing.TB) { m.End(tb) })
	if src.Reserved() != 0 || lost != 1 {
		t.Errorf("%d reservations are left; its end was told %d times", src.Reserved(), lost)
	}
	NewMortal(t, nil, 1<<20).End(t)
	src.FailReturns = true
	kept := NewMortal(t, src, 1<<20)
	saysOnly(t, "a release that fails", "injected release failure", kept.End)
	src.FailReturns = false
	kept.End(t)
	returns := src.Returns()
	kept.End(t)
	if src.Returns() != returns {
		t.Error("a second End has called the source")
	}
	src.FailAt, src.ForGood = src.Calls()+1, true
	saysOnly(t, "no memory", "injected reserve", func(tb testing.TB) { NewMortal(tb, src, 1<<20) })
}
