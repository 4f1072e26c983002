package tiers

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// TierRecord is a tier's row in files: bytes and counts, stable names.
type TierRecord struct {
	Name      string `json:"name"`
	Reserved  uint64 `json:"reserved"`
	Committed uint64 `json:"committed"`
	InUse     uint64 `json:"in_use"`
	Peak      uint64 `json:"peak"`
	Live      uint64 `json:"live"`
	Allocs    uint64 `json:"allocs"`
	Frees     uint64 `json:"frees"`
	Failures  uint64 `json:"failures"`
	Budget    uint64 `json:"budget"`
}

// Records returns the tiers as rows for a file, in the order of the tiers.
func (s *Snapshot) Records() []TierRecord {
	rows := make([]TierRecord, Count)
	for t, x := range s.Tiers {
		rows[t] = TierRecord{Name: Tier(t).String(), Reserved: x.Reserved, Committed: x.Committed, InUse: x.InUse, Peak: x.Peak,
			Live: x.Live, Allocs: x.Allocs, Frees: x.Frees, Failures: x.Failures, Budget: x.Budget}
	}
	return rows
}

// WriteJSON writes the tiers as a JSON array of [TierRecord].
func (s *Snapshot) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(s.Records())
}

// WriteCSV writes a header and a row per tier.
func (s *Snapshot) WriteCSV(w io.Writer) error {
	var b strings.Builder
	b.WriteString("name,reserved,committed,in_use,peak,live,allocs,frees,failures,budget\n")
	for _, r := range s.Records() {
		b.WriteString(r.Name)
		for _, v := range [...]uint64{r.Reserved, r.Committed, r.InUse, r.Peak, r.Live, r.Allocs, r.Frees, r.Failures, r.Budget} {
			b.WriteByte(',')
			b.WriteString(strconv.FormatUint(v, 10))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes a table for a person.
func (s *Snapshot) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s %10s %10s %10s %10s %9s %9s %8s\n", "tier", "in use", "peak", "committed", "budget", "allocs", "frees", "failures")
	for _, r := range s.Records() {
		fmt.Fprintf(&b, "%-6s %10s %10s %10s %10s %9d %9d %8d\n", r.Name, Bytes(r.InUse), Bytes(r.Peak), Bytes(r.Committed), Bytes(r.Budget), r.Allocs, r.Frees, r.Failures)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Bytes formats a number of bytes with the unit that leaves at most four digits before the
// point: "640 B", "12.5 KiB", "3.0 GiB".
func Bytes(n uint64) string {
	if n < 1024 {
		return strconv.FormatUint(n, 10) + " B"
	}
	v, unit := float64(n)/1024, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB", "PiB", "EiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, next
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + unit
}
