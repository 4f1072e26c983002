// The scripts of the gate are a module, so that the zip file of Strata's module, which the go command downloads, lacks them.
module github.com/strata-go/strata/.ci

go 1.26
