# Groups the regions of iso_3166-2.json of three countries by type.
.["3166-2"]
| map(select(.code | startswith("F") or startswith("GB")))
| group_by(.type)
| map({ type: .[0].type, n: length, names: map(.name) | sort, codes: map(.code[3:]) | join(" ") })
