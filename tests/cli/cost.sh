#!/usr/bin/env bash
# tessera cost as a user has it: the bytes that a run of every scheme counts, to the byte; the figures
# of Table 1 of the LoFT paper within 2 %; wrong input refused with exit 2 and the sentence.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
key() { grep -o "\"$1\":[0-9.]*" "$2" | head -1 | cut -d: -f2; }

# ---- Every scheme, to the byte --------------------------------------------------------------
cat > run.yaml <<'Y'
data: {name: glyphs, n: 96, test_n: 20}
model: {name: mlp, hidden: [24, 16], norm: batch}
optim: {lr: 0.05, momentum: 0.9}
scheme: {name: dense}
epochs: 2
batch: 12
Y
schemes="dense dropout multisample masked ist loft local_sgd gpipe"
for scheme in $schemes; do
    settings="--set scheme.name=$scheme"
    case $scheme in
    multisample) settings="$settings --set scheme.workers=3 --set scheme.xi=0.4" ;;
    masked) settings="$settings --set scheme.workers=3 --set scheme.local_steps=3" ;;
    ist | local_sgd) settings="$settings --set scheme.workers=3 --set scheme.local_steps=2" ;;
    loft) settings="$settings --set scheme.workers=3 --set scheme.local_steps=2 --set model.name=vgg11 --set model.hidden=[256,256] --set model.norm=none --set model.width=4" ;;
    gpipe) settings="$settings --set scheme.workers=3" ;;
    esac
    # shellcheck disable=SC2086
    "$program" cost run.yaml --json $settings > cost
    # shellcheck disable=SC2086
    "$program" train run.yaml --out "$scheme" --quiet --json $settings > train
    [ "$(key bytes_total cost)" = "$(key bytes_total train)" ] ||
        fail "$scheme: cost says $(key bytes_total cost) bytes, the run $(key bytes_total train)"
    [ "$(key rounds cost)" = "$(key rounds train)" ] || fail "$scheme: other rounds"
    # shellcheck disable=SC2086
    "$program" check run.yaml --json $settings > check
    [ "$(key flops_step check)" = "$(key flops_step_whole cost)" ] ||
        fail "$scheme: a step of the whole has $(key flops_step_whole cost) operations, check says $(key flops_step check)"
    [ "$scheme" = dense ] || [ "$(key bytes_total cost)" -gt 0 ]
    for k in params params_share flops_step rounds bytes_round bytes_total memory_worker; do
        grep -q "\"$k\":" cost || fail "no $k"
    done
done
echo "bytes of $schemes: equal"

# A step of a gated network does without the network of its gates where these are known: in both commands.
gated="--set data.name=sphere --set data.n=40 --set data.test_n=5 --set data.task=regress --set model.name=grelu --set model.hidden=[256,256] --set model.norm=none --set model.width=20"
for scheme in dense local_sgd; do
    # shellcheck disable=SC2086
    "$program" check run.yaml --json $gated --set scheme.name=$scheme > check
    # shellcheck disable=SC2086
    "$program" cost run.yaml --json $gated --set scheme.name=$scheme > cost
    [ "$(key flops_step check)" = "$(key flops_step_whole cost)" ] ||
        fail "$scheme, gated: cost says $(key flops_step_whole cost) operations, check $(key flops_step check)"
done

# ---- Table 1 --------------------------------------------------------------------------------
# method, workers, gigabytes as printed
near() { # file, scheme, workers, printed, what
    local have
    have=$(grep -o "{\"scheme\":\"$2\",\"workers\":$3,[^}]*" "$1" | grep -o '"bytes_total":[0-9]*' | cut -d: -f2)
    awk -v h="$have" -v p="$4" -v w="$5 $2-$3" 'BEGIN {
        off = h / 1e9 / p - 1; printf "%-28s %9.2fG  printed %9.2fG  %+.2f %%\n", w, h / 1e9, p, 100 * off
        exit !(off < 0.02 && off > -0.02) }' || fail "not within 2 %"
}
table() { # run file, what, data, settings, cuts for 2 and 4, then six figures
    # shellcheck disable=SC2086
    "$program" cost "$source/examples/table1/$1.yaml" --compare --json $3 $4 --cuts "$5" --cuts "$6" > table
    local at=7
    for workers in 2 4; do
        for scheme in gpipe local_sgd loft; do
            [ "${!at}" = - ] || near table $scheme $workers "${!at}" "$2"
            at=$((at + 1))
        done
    done
}
cifar="--samples 50000 --shape 3x32x32 --classes 10"
table cifar10 PreActResNet-18/CIFAR-10 "$cifar" "" layer3.1 layer2.0,layer2.1,layer3.1 131.88 55.40 40.02 659.42 110.80 64.57
table cifar10 PreActResNet-34/CIFAR-10 "$cifar" "--set model.name=preresnet34" layer3.5 layer2.3,layer3.5,layer4.0 \
    131.88 105.93 65.36 461.60 211.86 90.17
table cifar10 ResNet-34/CIFAR-10 "$cifar" "--set model.name=resnet34" layer3.5 layer2.3,layer3.5,layer4.0 131.88 105.93 65.36 461.60 211.86 90.17
table imagenet PreActResNet-18/ImageNet "--samples 1281167 --shape 3x224x224 --classes 10" "" layer2.1 layer2.0,layer2.1,layer3.1 \
    20954.24 - 256.62 52385.59 711.46 414.84
# shellcheck disable=SC2086
"$program" cost "$source/examples/table1/cifar10.yaml" --compare $cifar > text
grep -q 'comm. cost' text

# ---- Plans ----------------------------------------------------------------------------------
# shellcheck disable=SC2086
"$program" cost "$source/examples/table1/cifar10.yaml" $cifar --workers 2,4,8,...,1024 --bandwidth 1Gbit --latency 1ms \
    --device-gflops 500 > text
for workers in 2 4 8 16 32 64 128 256 512 1024; do
    grep -Eq "^ *$workers  " text || fail "no row for $workers workers"
done
grep -q 'best l' text
grep -q '256 workers cannot share the 128 units' text
# shellcheck disable=SC2086
"$program" cost "$source/examples/table1/cifar10.yaml" $cifar --workers 2,4 --device-gflops 500 --json > json
grep -q '"best_local_steps":' json

"$program" cost run.yaml --set stop.metric=filter_distance | grep -q "^stop .*may end the run earlier"
"$program" cost run.yaml --device-gflops 5 --latency 0ms > /dev/null # none: an ideal wire

# ---- Must refuse ----------------------------------------------------------------------------
refuse() { refused 2 "$1" cost run.yaml "${@:2}"; }
refuse "not a number of workers" --workers 2,many
refuse "dots go on" --workers 5,...,9
refuse "give --device-gflops" --bandwidth 1Gbit
refuse "is not understood" --device-gflops 5 --bandwidth fast
refuse "is not understood" --device-gflops 5 --latency 1
refuse "need all of" --samples 5
refuse "makes 3 stages, and no row has 3 workers" --compare --cuts a,b
refuse "two for 2 workers" --compare --cuts a --cuts b
refuse "is for the rows of --compare" --cuts a
refuse "is not the shape" --samples 5 --shape 3x --classes 4
refuse "no pairs of convolutions" --set scheme.name=loft
refuse "cannot share" --set scheme.name=ist --workers 100,200
echo "cost: counted, compared and refused"
