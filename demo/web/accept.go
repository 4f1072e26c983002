package main

import (
	"strconv"
	"strings"
)

// chosen returns the form that a client with these Accept-Encoding headers prefers (RFC 9110, 12.5.3), or nil if
// it accepts none. Of equal weights the first form wins.
func chosen(forms []form, headers []string) (best *form) {
	weights := weights(headers)
	most := 0
	for i := range forms {
		if w := weigh(weights, forms[i].encoding); w > most {
			most, best = w, &forms[i]
		}
	}
	return best
}

// The lowest and the highest weight of a form that is named, in thousandths. An uncompressed file that is not
// named is acceptable, after all that are.
const (
	unnamed = 1
	full    = 1001
)

// weigh returns how much an encoding is wanted; 0 refuses it.
func weigh(weights map[string]int, encoding string) int {
	if w, ok := weights[encoding]; ok {
		return w
	}
	w, ok := weights["*"]
	switch {
	case encoding == "identity" && (!ok || w > 0):
		return unnamed
	case encoding == "identity":
		return 0
	}
	return w
}

// weights reads Accept-Encoding: names of encodings, each with a weight from 0, which refuses it, to 1. What is
// malformed refuses its encoding. Of an encoding that is named twice the lower weight holds.
func weights(headers []string) map[string]int {
	out := map[string]int{}
	for _, h := range headers {
		for item := range strings.SplitSeq(h, ",") {
			name, params, has := strings.Cut(item, ";")
			name = strings.ToLower(strings.Trim(name, " \t"))
			if name == "x-gzip" {
				name = "gzip"
			}
			if name == "" {
				continue
			}
			w := full
			if has {
				w = weight(params)
			}
			if before, twice := out[name]; !twice || w < before {
				out[name] = w
			}
		}
	}
	return out
}

// weight reads q=0.5: 0 to 1 with at most three decimals. Zero and what is malformed is 0.
func weight(params string) int {
	key, value, _ := strings.Cut(strings.Trim(params, " \t"), "=")
	if !strings.EqualFold(key, "q") || value == "" || len(value) > len("0.000") || strings.Trim(value, "0123456789.") != "" {
		return 0
	}
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || q > 1 || q == 0 {
		return 0
	}
	return unnamed + int(q*1000+0.5)
}
