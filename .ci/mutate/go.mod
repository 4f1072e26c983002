module github.com/strata-go/strata/.ci/mutate

go 1.26.0
