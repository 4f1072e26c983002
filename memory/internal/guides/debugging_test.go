package guides

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

func Example_misuse() {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(err)
	defer m.Close()
	path, err := memory.MakeSlice[uint32](m, 2000)
	must(err)
	memory.FreeSlice(m, path)
	defer func() {
		var misuse *memory.Misuse
		if err, _ := recover().(error); errors.As(err, &misuse) {
			fmt.Println(misuse.Op, "of", misuse.Size, "bytes:", strings.Contains(misuse.Reason, "double free"))
		}
	}()
	memory.FreeSlice(m, path) // once more
	// Output: Free of 8000 bytes: true
}

func Example_guard() {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(err)
	defer m.Close()
	watched, err := guard.New(m, guard.Config{QuarantineBytes: 1 << 20})
	must(err)
	name, err := memory.MakeSlice[byte](watched, 10)
	must(err)
	memory.FreeSlice(watched, name)
	name[0] = 'x' // after the free
	what, sites, _ := strings.Cut(watched.Close().Error(), "; ")
	_, what, _ = strings.Cut(what, "size 10): ")
	fmt.Println(what)
	fmt.Println(strings.Contains(sites, "allocated at memory.MakeSlice"), strings.Contains(sites, "first freed at memory.FreeSlice"))
	// Output:
	// use after free: byte 0 of the block of 10 bytes was overwritten with 0x78
	// true true
}

func Example_leaks() {
	m, err := tiers.New(tiers.Config{Tags: true, GC: gcpace.Config{Keep: true}})
	must(err)
	defer m.Close()
	ai, err := m.Tag("ai")
	must(err)
	must(m.BeginLevel())
	_, err = memory.MakeSlice[uint32](ai, 100) // is never freed
	must(err)
	leaks, err := m.EndLevel()
	must(err)
	fmt.Println(leaks)
	// Output: level 1 left behind 1 block of 416 bytes in slab; by tag: ai 1 block of 416 bytes
}

// profile writes a profile for go tool pprof.
func profile(m *tiers.Manager, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(meter.WriteProfile(f, m), f.Close())
}

func Example_profile() {
	m, err := tiers.New(tiers.Config{Tags: true, SampleBytes: 64 << 10, GC: gcpace.Config{Keep: true}})
	must(err)
	defer m.Close()
	dir, err := os.MkdirTemp("", "guides")
	must(err)
	defer os.RemoveAll(dir)
	must(profile(m, dir+"/memory.pb.gz"))
	info, err := os.Stat(dir + "/memory.pb.gz")
	fmt.Println(info.Size() > 0, err)
	// Output: true <nil>
}
