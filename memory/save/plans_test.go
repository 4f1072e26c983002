package save_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"reflect"
	"runtime"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

type bigObject struct{ V [2048]uint64 }

// A forged file names another type, of no field, in each run of slots. Each pair of types gets a scratch value as large
// as the object: 16 KiB for 42 bytes of the file. The bound is that of TestSet_HostileFilesAllocateLittle.
func TestSet_ManyTypesOfOnePoolAllocateLittle(t *testing.T) {
	const runs = 4000
	p, err := pool.New[bigObject](nil, pool.Config{Name: "big", Capacity: 4})
	set := new(save.Set)
	must(t, err, set.Add("big", p), set.Seal())
	defer p.Close()
	le64 := binary.LittleEndian.AppendUint64
	number := func(kind reflect.Type) []byte {
		d, err := layout.Of(kind)
		must(t, err)
		return d.AppendTo(nil)
	}
	head := le32(nil, 1)
	head = layout.AppendText(head, "big")
	head = le32(head, 2+runs)
	head = append(head, number(reflect.TypeFor[uint32]())...)
	head = append(head, number(reflect.TypeFor[uint64]())...)
	empty := layout.Type{Kind: "struct"}
	for range runs {
		head = empty.AppendTo(head)
	}
	var body []byte
	for _, n := range []uint64{1, 1, 0, 0, 1, 0} { // known, open, vacant, retired, allocs, failures
		body = le64(body, n)
	}
	body = le64(le64(body, 0<<40|1), 1) // the generation of slot 0
	body = le64(body, 0)                // no vacant slot
	body = le64(le64(body, 1<<40|1), 1) // slot 0 is live
	for i := range uint64(runs) {
		body = le64(le64(le64(body, 0), 1), (2+i)<<40|1)
	}
	body = le64(le64(body, 0), 0)
	in := fileWith(head, append(le64(nil, uint64(len(body))), body...))
	data, err := io.ReadAll(in)
	must(t, err)
	var x, y runtime.MemStats
	runtime.ReadMemStats(&x)
	err = set.Verify(bytes.NewReader(data), nil)
	runtime.ReadMemStats(&y)
	most := 40 * uint64(len(data))
	if invariant.Debug {
		most = 48 * uint64(len(data)) // objects of Go are larger with -race
	}
	if n := y.TotalAlloc - x.TotalAlloc; n > 64<<10+most {
		t.Errorf("%d bytes for a file of %d, %v", n, len(data), err)
	}
	if err != nil {
		t.Logf("Verify: %v", err)
	}
}
