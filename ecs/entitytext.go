package ecs

import (
	"bytes"
	"fmt"
	"strconv"
)

// MarshalText returns slot and generation, as "12:7", so that encoding/json writes an Entity
// wherever in a value it is, as the key of a map too; the zero Entity is "0:0". What a [Task] was
// promised by Spawn is no Entity yet, and an error.
//
// A struct that embeds an Entity is written as that alone, as Go promotes methods: name the field.
func (e Entity) MarshalText() ([]byte, error) {
	if e.gen&1 == 0 && !e.IsZero() {
		return nil, fmt.Errorf("ecs: %v is no entity of a world yet", e)
	}
	return e.appendText(make([]byte, 0, 24)), nil
}

func (e Entity) appendText(b []byte) []byte {
	b = strconv.AppendUint(b, uint64(e.index), 10)
	b = append(b, ':')
	return strconv.AppendUint(b, uint64(e.gen), 10)
}

// UnmarshalText reads what MarshalText wrote. Whether there is such an entity, and where, it does
// not know.
func (e *Entity) UnmarshalText(text []byte) error {
	slot, generation, ok := bytes.Cut(text, []byte(":"))
	index, err := strconv.ParseUint(string(slot), 10, 32)
	gen, also := strconv.ParseUint(string(generation), 10, 32)
	if !ok || err != nil || also != nil {
		return fmt.Errorf("ecs: %q is no entity, which is written as slot and generation, as \"12:7\"", clip(text))
	}
	if index|gen == 0 {
		*e = Entity{}
		return nil
	}
	if index == 0 || gen&1 == 0 {
		return fmt.Errorf("ecs: %q is no entity: slots begin at 1, and generations of entities are odd", clip(text))
	}
	*e = Entity{index: uint32(index), gen: uint32(gen)}
	return nil
}

// clip returns as much of a text as an error has room for.
func clip[T ~string | ~[]byte](text T) string {
	if len(text) > 64 {
		return string(text[:64]) + "…"
	}
	return string(text)
}
