module github.com/strata-go/strata/.ci/sheet

go 1.26.0
