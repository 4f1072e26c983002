// Package instances reads and makes sets of buffers on which planners are compared.
package instances

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/strata-go/strata/memory/plan"
)

// Load reads a file of lines "id,lower,upper,size", the format of MiniMalloc and idealloc: a buffer that lives in
// [lower, upper). The first line is a header. If the name ends in .gz, the file is decompressed. The IDs of the file
// are ignored: buffers are numbered in order from 0, and aligned to one byte.
func Load(name string) ([]plan.Buffer, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		in, err = gzip.NewReader(f)
	}
	var set []plan.Buffer
	if err == nil {
		set, err = Read(in)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return set, nil
}

// Read is Load for an open, uncompressed file.
func Read(r io.Reader) (set []plan.Buffer, err error) {
	lines := bufio.NewScanner(r)
	header := lines.Scan()
	for header && lines.Scan() {
		fields := strings.Split(strings.TrimSpace(lines.Text()), ",")
		if len(fields) != 4 {
			return nil, fmt.Errorf("line %d has %d fields, not 4", len(set)+2, len(fields))
		}
		var n [3]int
		for i := range n {
			if n[i], err = strconv.Atoi(fields[i+1]); err != nil {
				return nil, fmt.Errorf("line %d: %.40q is not a whole number", len(set)+2, fields[i+1])
			}
		}
		if n[2] < 0 {
			return nil, fmt.Errorf("line %d: size %d: want at least 0", len(set)+2, n[2])
		}
		if n[1] < n[0] {
			return nil, fmt.Errorf("line %d: upper %d is below lower %d", len(set)+2, n[1], n[0])
		}
		set = append(set, plan.Buffer{ID: uint32(len(set)), Birth: n[0], Death: n[1], Size: uintptr(n[2]), Align: 1})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", len(set)+2, err)
	}
	return set, nil
}

// Graph makes a set like those of a compiler of neural networks. It has n buffers, n > 0, of at most 60 sizes from 64
// bytes to less than 16 KiB, so that 100,000 fit in 32 bits. About 1 % live for n/2 to 3n/4 steps, like weights.
// About 10 % live for 2 to n/10+2 steps, like buffers that a backward pass needs again. The rest live for 2 to 31
// steps.
func Graph(seed uint64, n int) []plan.Buffer {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	sizes := make([]uintptr, 60)
	for i := range sizes {
		sizes[i] = uintptr(64+r.IntN(64)) << r.IntN(8)
	}
	set := make([]plan.Buffer, n)
	for i := range set {
		birth := i
		life := 2 + r.IntN(30)
		switch k := r.IntN(100); {
		case k == 0:
			birth, life = r.IntN(1+n/4), n/2+r.IntN(1+n/4)
		case k <= 10:
			life = 2 + r.IntN(1+n/10)
		}
		set[i] = plan.Buffer{ID: uint32(i), Size: sizes[r.IntN(len(sizes))], Align: 64, Birth: birth, Death: birth + life}
	}
	return set
}
