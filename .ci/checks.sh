# Functions of the gate and the nightly, which source this file. .ci/selftest tests them.

# judge reads the output of go test -v and fails unless the selected tests were run: every package
# has one that passed, every alternative of the pattern names one, also if it selects parts of tests,
# and none was skipped because something is missing on this machine (testenv.Missing says so).
judge() { # log, pattern
  local log=$1 pattern=$2 name passed bad=0
  passed=$(awk '/^ *--- PASS: / { print $3 }' "$log")
  if grep -q -F '[no tests to run]' "$log"; then
    echo "selects nothing: $pattern"
    grep -F '[no tests to run]' "$log"
    bad=1
  fi
  if [ -z "$passed" ]; then echo "no test has passed: $pattern" && bad=1; fi
  if grep -E '^ +[a-z0-9_]+\.go:[0-9]+: missing: ' "$log"; then echo "a test was skipped for what is missing" && bad=1; fi
  case $pattern in
    *[\(\[]*) echo "write the alternatives out, each can then be judged: $pattern" && bad=1 ;;
    ?*)
      while read -r name; do
        if ! grep -q -E -- "$(expression "$name")" <<<"$passed"; then
          echo "no test that passed matches $name"
          bad=1
        fi
      done < <(tr '|' '\n' <<<"$pattern")
      ;;
  esac
  return "$bad"
}

# expression turns an alternative of a pattern of go test, whose elements between slashes match the names of a
# test and its parts, into an expression for their whole path.
expression() { # alternative
  local rest=$1 part out=^
  while :; do
    part=${rest%%/*}
    case $part in ^*) part=${part#^} ;; *) part="[^/]*$part" ;; esac
    case $part in *\$) part=${part%$} ;; *) part="$part[^/]*" ;; esac
    out+=$part
    case $rest in */*) rest=${rest#*/} out+=/ ;; *) break ;; esac
  done
  echo "$out\$"
}

# ran runs go test with the tests that a pattern selects, and judges the output. It prints all of it
# if something is wrong, and the summary otherwise.
ran() { # pattern, arguments of go test
  local pattern=$1 log failed=0
  shift
  log=$(mktemp)
  go test -v -run "$pattern" "$@" >"$log" 2>&1 </dev/null || failed=1
  if [ "$failed" = 0 ]; then judge "$log" "$pattern" || failed=1; fi
  if [ "$failed" = 0 ]; then grep -E '^(ok|\?) ' "$log"; else grep -v '^=== ' "$log"; fi
  if [ -n "${keep:-}" ]; then cp "$log" "$keep"; fi
  rm -f "$log"
  return "$failed"
}

# modules checks a list of nested modules: each is there, and none of the tree is left out. It prints
# the list, one a line.
modules() { # folders
  local dir bad=0 found
  for dir; do
    if [ ! -f "$dir/go.mod" ]; then echo "there is no module in $dir" >&2 && bad=1; fi
  done
  while read -r found; do
    found=${found%/go.mod} found=${found#./}
    case " $* " in *" $found "*) ;; *) echo "$found is a module that no step knows" >&2 && bad=1 ;; esac
  done < <(find . -mindepth 2 -name go.mod -not -path '*/testdata/*' -not -path './.git/*' -not -path ./.ci/go.mod)
  printf '%s\n' "$@"
  return "$bad"
}

# commands prints the commands that CONTRIBUTING.md names under "Running it", one a line.
commands() { # file
  awk '/^## / { on = $0 == "## Running it" } on && /^    [A-Za-z]/ { sub(/^ +/, ""); sub(/ +#.*$/, ""); print }' "$1"
}

# meeting prints a pattern of the tests and examples in the files of tests that match an expression, and of those elsewhere
# in the folder that call a function of tests with a match, of each folder. It fails if a folder has none.
meeting() { # expression, folders
  local meets=$1 dir names pattern=
  shift
  for dir; do
    names=$(grep -nHE -- "$meets" "$dir"/*_test.go | awk '
      pass == 0 { split($0, at, ":"); hit[at[1] ":" at[2]] = file[at[1]] = 1; next }
      FNR == 1 { name = ""; test = called = 0 }
      /^func / { name = $0; sub(/^func (\([^)]*\) )?/, "", name); sub(/[^A-Za-z0-9_].*/, "", name); method = /^func \(/; test = !method && name ~ /^(Test|Example)/ }
      pass == 1 { if ((FILENAME ":" FNR) in hit && name && !method && name !~ /^(Test|Example|Benchmark|Fuzz)/) helper[name] = 1; next }
      test && FILENAME in file { print name; test = 0 }
      test { for (rest = $0; match(rest, /[A-Za-z0-9_]+\(/); rest = substr(rest, RSTART + RLENGTH)) if (substr(rest, RSTART, RLENGTH - 1) in helper) called = 1 }
      called { print name; called = test = 0 }
    ' pass=0 - pass=1 "$dir"/*_test.go pass=2 "$dir"/*_test.go) || true
    if [ -z "$names" ]; then echo "no test in $dir matches $meets" >&2; return 1; fi
    pattern+=$(printf '^%s$|' $names)
  done
  echo "${pattern%|}"
}

# reading prints the packages below memory/ whose code, without tests, matches an expression, as arguments of go test.
reading() { # expression
  local found
  found=$(grep -rlE --include='*.go' --exclude='*_test.go' -- "$1" memory | xargs -r -n1 dirname | sort -u | sed 's,^,./,')
  if [ "$(wc -l <<<"$found")" -lt 3 ]; then echo "fewer than three packages read $1: ${found:-none}" >&2; return 1; fi
  echo "$found"
}

# space makes sure that so many MiB are free for the build cache and for temporary files. Go empties its cache by age alone, and
# the builds of some hundred commits fill a disk: the cache is emptied where less is free.
space() { # MiB
  local need=$1 cache dir free
  cache=$(go env GOCACHE)
  mkdir -p "$cache"
  for dir in "$cache" "${TMPDIR:-/tmp}"; do
    if [ "$(free_in "$dir")" -lt "$need" ]; then echo "emptying the build cache, $cache" && go clean -cache; fi
    free=$(free_in "$dir")
    if [ "$free" -lt "$need" ]; then echo "$free MiB are free in $dir, and $need are needed"; return 1; fi
  done
}

free_in() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }
