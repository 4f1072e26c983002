package tiers

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/strata-go/strata/memory"
)

// TierRecord is a tier's row in files, with fields of [TierStats]. All numbers are bytes or counts. The JSON names are
// stable.
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

// Records returns a row for each tier, in the order of the tiers.
func (s *Snapshot) Records() []TierRecord {
	rows := make([]TierRecord, Count)
	for t, x := range s.Tiers {
		rows[t] = TierRecord{Name: Tier(t).String(), Reserved: x.Reserved, Committed: x.Committed, InUse: x.InUse, Peak: x.Peak,
			Live: x.Live, Allocs: x.Allocs, Frees: x.Frees, Failures: x.Failures, Budget: x.Budget}
	}
	return rows
}

// WriteJSON writes the tiers as a JSON array of [TierRecord]. It returns the error of w.
func (s *Snapshot) WriteJSON(w io.Writer) error { return writeJSON(w, s.Records()) }

// WriteCSV writes a header and a row per tier. It returns the error of w.
func (s *Snapshot) WriteCSV(w io.Writer) error { return writeCSV(w, s.Records()) }

// TagRecord is a tag's row in files, with the fields of [TagStats] except Committed, Reserved, LargestFree and Free.
// All numbers are bytes or counts. The JSON names are stable. The row of all untagged blocks has an empty Name. No
// tag has an empty name.
type TagRecord struct {
	Name        string `json:"name"`
	InUse       uint64 `json:"in_use"`
	Peak        uint64 `json:"peak"`
	Requested   uint64 `json:"requested"`
	Measured    uint64 `json:"measured"`
	Live        uint64 `json:"live"`
	Allocs      uint64 `json:"allocs"`
	Frees       uint64 `json:"frees"`
	Failures    uint64 `json:"failures"`
	FrameBytes  uint64 `json:"frame_bytes"`
	FrameBlocks uint64 `json:"frame_blocks"`
	LevelBytes  uint64 `json:"level_bytes"`
	LevelBlocks uint64 `json:"level_blocks"`
}

// TagRecords returns a row for each tag, in the order of creation, and last the row of all untagged blocks. Without
// Config.Tags it returns an empty slice that is not nil.
func (s *Snapshot) TagRecords() []TagRecord {
	rows := make([]TagRecord, len(s.Tags))
	for i := range s.Tags {
		x := &s.Tags[i]
		rows[i] = TagRecord{Name: x.Name, InUse: x.InUse, Peak: x.Peak, Requested: x.Requested, Measured: x.Measured,
			Live: x.Live, Allocs: x.Allocs, Frees: x.Frees, Failures: x.Failures,
			FrameBytes: x.Frame.Bytes, FrameBlocks: x.Frame.Blocks, LevelBytes: x.Level.Bytes, LevelBlocks: x.Level.Blocks}
	}
	return rows
}

// WriteTagsJSON writes the rows of TagRecords as a JSON array of [TagRecord]. It returns the error of w.
func (s *Snapshot) WriteTagsJSON(w io.Writer) error { return writeJSON(w, s.TagRecords()) }

// WriteTagsCSV writes a header and the rows of TagRecords. Names are quoted if necessary, as in RFC 4180.
// WriteTagsCSV returns the error of w.
func (s *Snapshot) WriteTagsCSV(w io.Writer) error { return writeCSV(w, s.TagRecords()) }

func writeJSON(w io.Writer, rows any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}

// writeCSV writes a header of the JSON names of R's fields, and the fields of each row.
func writeCSV[R any](w io.Writer, rows []R) error {
	c := csv.NewWriter(w)
	fields := reflect.VisibleFields(reflect.TypeFor[R]())
	line := make([]string, len(fields))
	for i, f := range fields {
		line[i] = f.Tag.Get("json")
	}
	_ = c.Write(line)
	for _, r := range rows {
		for i := range fields {
			line[i] = fmt.Sprint(reflect.ValueOf(r).Field(i))
		}
		_ = c.Write(line)
	}
	c.Flush() // the first error stays
	return c.Error()
}

// WriteText writes the tiers, and with Config.Tags also the tags, as tables for people. It returns the error of w.
func (s *Snapshot) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %10s %10s %10s %10s %9s %9s %8s\n", "tier", "in use", "peak", "committed", "budget", "allocs", "frees", "failures")
	for _, r := range s.Records() {
		fmt.Fprintf(&b, "%-8s %10s %10s %10s %10s %9d %9d %8d\n", r.Name, memory.FormatBytes(r.InUse), memory.FormatBytes(r.Peak), memory.FormatBytes(r.Committed), memory.FormatBytes(r.Budget), r.Allocs, r.Frees, r.Failures)
	}
	s.tagText(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// tagText writes the rows of the tags, if there are any.
func (s *Snapshot) tagText(b *strings.Builder) {
	if len(s.Tags) == 0 {
		return
	}
	wide := 16
	for i := range s.Tags {
		wide = max(wide, utf8.RuneCountInString(s.Tags[i].Name))
	}
	fmt.Fprintf(b, "\n%-*s %10s %10s %10s %9s %9s %8s %10s %10s\n", wide, "tag", "in use", "peak", "requested", "allocs", "frees", "failures", "frame", "level")
	for i := range s.Tags {
		r := &s.Tags[i]
		name := cmp.Or(r.Name, "(none)")
		fmt.Fprintf(b, "%-*s %10s %10s %10s %9d %9d %8d %10s %10s\n", wide, name, memory.FormatBytes(r.InUse), memory.FormatBytes(r.Peak), memory.FormatBytes(r.Requested),
			r.Allocs, r.Frees, r.Failures, memory.FormatBytes(r.Frame.Bytes), memory.FormatBytes(r.Level.Bytes))
	}
}
