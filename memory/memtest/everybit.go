package memtest

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/cputime"
	"github.com/strata-go/strata/memory/page"
)

// The bounds of a Check, whatever its books hold: a game that asks a ruined heap what is
// wrong with it wants an answer, not a hang or the end of the process.
const checkBytes = 64 << 20

// Variables for the tests of this package, which have no minute: what a Check may take of the
// processor, and how long it is waited for, however many others share that.
var (
	checkTime = time.Second
	hangTime  = 20 * time.Second
)

// manyElements is how many elements of a slice or an array are flipped: the first, the last
// and others evenly between them. Every bit of a map of a million bits tells no more.
const manyElements = 24

// Flips are the counts of one [EveryBit].
type Flips struct {
	Integers int // integers, floats and bools that were found
	Flipped  int // bits that were flipped, one at a time
	Named    int // flipped bits that Check reported as a fault; Check tolerated the other bits
}

// EveryBit flips each bit of each integer, float and bool that it visits from roots, one at a time. For each bit it
// calls check, on another goroutine, and restores the bit. The function check may return an error, which Flips.Named
// counts, or tolerate the bit and return nil. check must not panic or access unmapped memory. It must end within a
// second of its thread's processor time and allocate at most 64 MiB. While no bit is flipped, check must return nil. If
// check breaks one of these rules, the test fails. In a debug build (-tags memdebug or -race) in which testenv.Short
// returns true, EveryBit flips only every fourth bit.
//
// The values of roots are pointers. EveryBit visits fields, also unexported ones, elements, and values behind pointers,
// also in interfaces. It enters named structs of this module and of sync/atomic only. If a slice or an array has more
// than 24 elements, EveryBit visits 24 of them, evenly spread. It does not visit maps, strings, functions, unsafe
// pointers, or the value in a variable of type page.Source. If metadata lies behind an unsafe pointer, pass a pointer
// to a slice of it.
func EveryBit(tb testing.TB, check func() error, roots ...any) Flips {
	tb.Helper()
	return EveryNthBit(tb, 1, check, roots...)
}

// EveryNthBit is [EveryBit] for every n-th bit of each value. The first bit of the i-th value that it visits, from 0,
// is i modulo n. So n successive values of one size together cover every bit. n must be at least 1. In a debug build in
// which testenv.Short returns true, an n below 4 counts as 4.
func EveryNthBit(tb testing.TB, n int, check func() error, roots ...any) Flips {
	tb.Helper()
	if brief() {
		n = max(n, 4)
	}
	w := walker{seen: map[visit]bool{}}
	for _, b := range roots {
		w.walk(reflect.ValueOf(b), fmt.Sprintf("%T", b))
	}
	c := startChecker(check)
	defer close(c.ask)
	if v := c.run(); v.fault != "" || v.err != nil {
		tb.Fatalf("Check of sound metadata: %v %s", v.err, v.fault)
	}
	f := Flips{Integers: len(w.found)}
	for i, number := range w.found {
		for bit := i % n; bit < number.bits; bit += n {
			f.Flipped++
			number.flip(bit)
			v := c.run()
			if v.slow() {
				v = c.run() // the machine may have been busy with something else
			}
			if v.hung {
				tb.Fatalf("Check hangs with bit %d of %s flipped", bit, number.path)
			}
			number.flip(bit)
			switch {
			case v.fault != "":
				tb.Errorf("Check with bit %d of %s flipped: %s", bit, number.path, v.fault)
			case v.slow() || v.bytes > checkBytes:
				tb.Errorf("Check with bit %d of %s flipped takes %v and %d bytes", bit, number.path, v.took, v.bytes)
			case v.err != nil:
				f.Named++
			}
		}
	}
	if v := c.run(); v.fault != "" || v.err != nil {
		tb.Fatalf("Check once every bit is back: %v %s", v.err, v.fault)
	}
	return f
}

// Keep saves the value *p and returns a function that restores this value, for tests that corrupt metadata.
func Keep[T any](p *T) (restore func()) {
	saved := *p
	return func() { *p = saved }
}

// A number is an integer in a book.
type number struct {
	at   unsafe.Pointer
	bits int
	path string
}

func (n number) flip(bit int) {
	b := (*byte)(unsafe.Add(n.at, bit/8)) // the order of bytes does not matter: each gets its turn
	*b ^= 1 << (bit % 8)
}

type visit struct {
	at unsafe.Pointer
	t  reflect.Type
}

// A walker gathers the numbers of a book.
type walker struct {
	seen  map[visit]bool
	found []number
}

func (w *walker) walk(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && ours(v.Type().Elem()) && !w.seen[visit{v.UnsafePointer(), v.Type()}] {
			w.seen[visit{v.UnsafePointer(), v.Type()}] = true
			w.walk(v.Elem(), path)
		}
	case reflect.Interface:
		if e := v.Elem(); e.Kind() == reflect.Pointer && v.Type() != reflect.TypeFor[page.Source]() {
			w.walk(e, path)
		}
	case reflect.Struct:
		if !ours(v.Type()) {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name != "_" {
				w.walk(v.Field(i), path+"."+f.Name)
			}
		}
	case reflect.Slice, reflect.Array:
		n := v.Len()
		for k := range min(n, manyElements) {
			i := k
			if n > manyElements {
				i = k * (n - 1) / (manyElements - 1)
			}
			w.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Bool:
		w.add(v, 1, path) // a bool whose other bits are set is no bool
	default:
		if v.CanInt() || v.CanUint() || v.CanFloat() {
			w.add(v, 8*int(v.Type().Size()), path)
		}
	}
}

func (w *walker) add(v reflect.Value, bits int, path string) {
	if !v.CanAddr() {
		return
	}
	if at := (visit{v.Addr().UnsafePointer(), v.Type()}); !w.seen[at] { // a pointer may lead into a value
		w.seen[at] = true
		w.found = append(w.found, number{at.at, bits, path})
	}
}

// ours reports whether t is a book: a type of this module, an atomic number, or something
// without a package of its own, as a slice or an integer.
func ours(t reflect.Type) bool {
	return t.PkgPath() == "" || t.PkgPath() == "sync/atomic" || strings.HasPrefix(t.PkgPath(), "github.com/strata-go/strata")
}

// A checker runs Check on a goroutine of its own, so that one that hangs can be told.
type checker struct {
	ask    chan struct{}
	answer chan verdict
}

type verdict struct {
	err   error
	fault string // a panic, or a touch of memory that is not there
	took  time.Duration
	bytes uint64
	hung  bool
}

func (v verdict) slow() bool { return v.took > checkTime }

func startChecker(check func() error) checker {
	c := checker{make(chan struct{}), make(chan verdict, 1)}
	go func() {
		debug.SetPanicOnFault(true)
		for range c.ask {
			c.answer <- judge(check)
		}
	}()
	return c
}

func (c checker) run() verdict {
	c.ask <- struct{}{}
	select {
	case v := <-c.answer:
		return v
	case <-time.After(hangTime):
		return verdict{hung: true}
	}
}

func judge(check func() error) (v verdict) {
	before := allocated()
	v.took = cputime.Of(func() {
		defer func() {
			if r := recover(); r != nil {
				v.fault = fmt.Sprintf("panic: %v", r)
			}
		}()
		v.err = check()
	})
	v.bytes = allocated() - before
	return v
}

// allocated returns the bytes that the Go heap has ever handed out.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
