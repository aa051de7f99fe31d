#!/usr/bin/env bash
# The frame of the command line: usage errors with their exit codes and nearest names, help for
# every command, man page, completion, and that docs/run-file.md is what the program prints.
set -u
program=$1 source=$2
. "$2/tests/cli.sh"

# refuse WORDS ARGUMENT...: usage, in one line that starts "tessera: ".
refuse() { refused 2 "$@"; [ "$(grep -c '^tessera: ' err)" -eq 1 ] || complain "tessera ${*:2}: not one line: $(cat err)"; }
refuse "which command?"
# Without a command: how to begin, on one screen, and what it says works.
awk 'length > 80 { long = 1 } END { exit long || NR > 23 }' err || complain "the beginning does not fit a terminal"
grep '^  data: ' err >run.yaml && "$program" check run.yaml --set data.n=200 >/dev/null || complain "the run file of the beginning"
[ "$(grep -c '^  tessera ' err)" -ge 4 ] || complain "the beginning names no commands"
while read -r _ command _; do "$program" help "$command" >/dev/null || complain "there is no $command"; done < <(grep '^  tessera ' err)
refuse "did you mean help?" hlep
refuse "'tessera help' lists the commands" xyzzyxyzzy
refuse "unknown option '--helq'" --helq
refuse "did you mean --completion?" help --completon bash
refuse "needs a value" help --completion
refuse "must be one of bash|zsh|fish" help --completion tcsh
refuse "takes no value" help --man=yes
refuse "of the program or of a command" help optim --man
refuse "unknown option '-z'" version -z
refuse "unexpected argument 'x'" version x
refuse "there is no command, section or key 'zork'" help zork
refuse "goes with run-file" help --markdown
refuse 'unknown command '"'"'\x1b[31m' $'\e[31m'

# With --json the failure is an object on stdout, too.
"$program" help zork --json >out 2>err
grep -qE '^\{"format":1,"error": ?"help: .*zork.*", ?"code": ?2\}$' out ||
    complain "--json: $(cat out)"

# Output that cannot be written is a failure; a reader that went away is none.
"$program" help run-file >/dev/full 2>err
rc=$?
if [ $rc -ne 1 ] || ! grep -q 'cannot write to standard output' err; then
    complain "/dev/full: $rc, $(cat err)"
fi
"$program" help run-file 2>err | head -1 >/dev/null
[ -s err ] && complain "closed pipe: $(cat err)"

# Every command has its help, by both ways, and stands in the overview, the man page, the completion.
"$program" help >overview || complain "help"
"$program" --help | cmp -s - overview || complain "--help is not help"
"$program" help --man >tessera.1 || complain "--man"
commands=$(sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p' overview)
[ -n "$commands" ] || complain "the overview names no commands"
"$program" help --json >help.json
"$program" help run-file --json >schema.json
grep -q '"key": *"optim.lr"' schema.json || complain "run-file --json lacks optim.lr"
if command -v python3 >/dev/null; then
    for f in help.json schema.json; do
        python3 -m json.tool $f >/dev/null || complain "$f is not JSON"
    done
fi
for c in $commands; do
    "$program" help "$c" >a || complain "help $c"
    "$program" "$c" --help >b || complain "$c --help"
    head -c "$(stat -c %s b)" a | cmp -s - b || complain "$c: help and --help differ" # a section of that name may follow
    grep -q "^Usage: tessera $c " a || complain "$c: no usage"
    grep -q "\"name\": *\"$c\"" help.json || complain "$c is not in help --json"
    grep -q "tessera $c " tessera.1 || complain "$c is not in the man page"
    "$program" help "$c" --man >page.1 || complain "help $c --man"
    grep -q "^tessera-$c " page.1 && grep -q '^\.SH OPTIONS' page.1 || complain "$c: its man page lacks its name or its options"
done
[ "$("$program" --version)" = "$("$program" version)" ] || complain "--version"
awk 'length > 100 {bad = 1} END {exit bad}' overview || complain "the overview has long lines"

# The documentation of the run file is the program's own.
"$program" help run-file --markdown >run-file.md
diff -u "$source/docs/run-file.md" run-file.md >difference ||
    complain "docs/run-file.md is old; run: tessera help run-file --markdown > docs/run-file.md
$(head -20 difference)"

# The man page has no complaints from the formatters that are here.
if command -v man >/dev/null; then
    MANROFFSEQ='' LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l tessera.1 >/dev/null 2>err
    [ -s err ] && complain "man: $(head -3 err)"
fi
if command -v mandoc >/dev/null; then
    mandoc -T lint -W error tessera.1 >err 2>&1 || complain "mandoc: $(head -3 err)"
fi

# Sections and keys: each has its help, what is unknown gets the nearest.
for section in $("$program" help run-file --json | grep -o '"key":"[a-z]*\.' | sed 's/"key":"//; s/\.//' | sort -u); do
    "$program" help "$section" >out 2>err || complain "help $section: $(cat err)"
    grep -qE "^$section: .{20}" out || complain "help $section does not say what the section is for"
done
"$program" help optim | grep -q "^  lr  .*learning rate" || complain "help optim does not explain lr"
"$program" help optim.lr | grep -q "^  default  0.1; with optim.name=adam" || complain "help optim.lr has no default"
"$program" help data | grep -q "^Usage: tessera data" || complain "help data does not explain the command"
"$program" help data | grep -q "^  target  " || complain "help data does not explain the section"
"$program" help optim.lr --json | grep -q '"keys":\[{"key":"optim.lr",' || complain "help optim.lr --json"
[ "$("$program" help stop --json | grep -o '"key"' | wc -l)" = "$("$program" help run-file --json | grep -o '"key":"stop\.' | wc -l)" ] ||
    complain "help stop --json has other keys"
refuse "did you mean optim?" help optm
refuse "did you mean optim.momentum?" help optim.momentm
refuse "there is no command, section or key" help xyzzy

# Completion: bash is run, the others are parsed where they are installed.
"$program" help --completion bash >completion.bash
complete_words() { # complete_words WORD...: what the last word may become
    bash --norc -c 'source ./completion.bash; compopt() { :; }
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tessera; echo "${COMPREPLY[*]}"' bash "$@"
}
expect() { # expect WORDS WORD...
    local want=$1 got
    shift
    got=$(complete_words "$@")
    case " $got " in *" $want "* | "  $want") ;; *) complain "completion of '$*': '$got', expected '$want'" ;; esac
}
expect help tessera he
expect version tessera ''
expect --completion tessera help --co
expect zsh tessera help --completion ''
expect run-file tessera help r
expect optim tessera help opt
expect reproduce tessera help repr
expect masked/fig2a tessera reproduce masked/
expect "" tessera reproduce nothing
expect cifar10 tessera data get ci
expect info tessera data in
expect "" tessera data fashion # the word before it comes first
expect glyphs tessera train run.yaml --data gly
expect cifar10 tessera reproduce loft/fig1 --data cif
"$program" reproduce --list --json | grep -o '"name":"[^"]*"' | sed 's/"name":"//; s/"//' | while read -r name; do
    expect "$name" tessera reproduce "${name%?}"
    [ $failed -eq 0 ] || exit 1
done || failed=1
expect --json tessera version --j
if "$program" help train >/dev/null 2>&1; then
    expect optim.momentum= tessera train --set optim.mom
    expect cosine tessera train --set optim.schedule = co
    expect true tessera train --set optim.nesterov =
    expect "" tessera train --set optim.lr = ''
    touch run.yaml
    expect run.yaml tessera train run
fi
if command -v zsh >/dev/null; then
    "$program" help --completion zsh >_tessera
    zsh -n _tessera 2>err || complain "zsh: $(cat err)"
fi
if command -v fish >/dev/null; then
    "$program" help --completion fish >tessera.fish
    fish -n tessera.fish 2>err || complain "fish: $(cat err)"
fi
