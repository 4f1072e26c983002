module github.com/strata-go/strata/.ci/mutate

go 1.26.0

require github.com/strata-go/strata v0.0.0

replace github.com/strata-go/strata => ../..
