module github.com/strata-go/strata/.ci/ports

go 1.26.0
