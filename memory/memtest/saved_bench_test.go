package memtest

import (
	"flag"
	"testing"

	"github.com/strata-go/strata/memory/save"
)

func TestBenchSaved_PrintsARatioForEachSide(t *testing.T) {
	former := flag.Lookup("test.benchtime").Value.String()
	if err := flag.Set("test.benchtime", "12x"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = flag.Set("test.benchtime", former) }()
	set, numbers := new(save.Set), make([]uint64, 5000)
	if err := save.Slice(set, "numbers", &numbers); err != nil {
		t.Fatal(err)
	}
	if err := set.Seal(); err != nil {
		t.Fatal(err)
	}
	numbers[77] = 7
	printed := testing.Benchmark(func(b *testing.B) { BenchSaved(b, set) }).Extra
	for _, name := range []string{
		"state-B", "copy-µs", "copy-again/copy", "pieces/copy", "save/copy", "hash/copy", "copy-again-back/back", "pieces-back/back", "load/back",
	} {
		if printed[name] <= 0 {
			t.Errorf("%s is %g, in %v", name, printed[name], printed)
		}
	}
	if printed["state-B"] < 40_000 || numbers[77] != 7 {
		t.Errorf("a state of %g bytes, number 77 is %d", printed["state-B"], numbers[77])
	}
}
