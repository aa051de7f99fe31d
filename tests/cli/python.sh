#!/usr/bin/env bash
# The Python package: its declarations are the header's, its tests pass, its pages' examples run as written, and pip
# installs it without a network.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
build=$(dirname "$program")
grep -q '^TESSERA_SANITIZE:STRING=$' "$build/CMakeCache.txt" ||
    { echo "python: a library with sanitizers cannot be loaded by a plain interpreter: skipped" && exit 77; }
python3=/usr/bin/python3
"$python3" -c 'import numpy' 2>/dev/null || { echo "python: python3-numpy is not installed: skipped" && exit 77; }
"$source/tools/python-header" --check
export TESSERA_LIBRARY=$build/libtessera.so.0 PYTHONPATH=$source/python PYTHONDONTWRITEBYTECODE=1

"$python3" "$source/tests/python/api.py" >api.txt 2>&1 || fail "$(tail -n 40 api.txt)"
"$python3" "$source/tests/python/habits.py" "$program" >habits.txt 2>&1 || fail "$(tail -n 40 habits.txt)"
"$python3" "$source/tests/python/gpu_arrays.py" >gpu.txt 2>&1 || fail "$(tail -n 40 gpu.txt)"
"$python3" "$source/tests/python/hostile.py" >hostile.txt 2>&1 || fail "$(cat hostile.txt)"
"$python3" "$source/tests/python/pages.py" "$source/docs/python.md" "$source/README.md" >pages.txt || fail "$(cat pages.txt)"
if "$python3" -c 'import sklearn' 2>/dev/null; then
    "$python3" "$source/tests/python/estimators.py" >estimators.txt 2>&1 || fail "$(cat estimators.txt)"
else
    echo "python: scikit-learn's checks of estimators are left out: python3-sklearn is not installed" >estimators.txt
fi

# A notebook, with a kernel of this interpreter.
status=0
"$python3" "$source/tests/python/notebook.py" "$PWD/notebook" >notebook.txt 2>&1 || status=$?
[ $status = 0 ] || [ $status = 77 ] || fail "$(tail -n 20 notebook.txt)"

# A package that was installed needs neither the tree nor the variables.
if "$python3" -m venv --system-site-packages venv >venv.txt 2>&1; then
    PYTHONPATH='' venv/bin/pip install --quiet --no-index "$source" >pip.txt 2>&1 || fail "pip install: $(cat pip.txt)"
    (cd / && env -u TESSERA_LIBRARY -u PYTHONPATH "$OLDPWD/venv/bin/python" -c '
import tessera
assert "/venv/" in tessera.__file__, tessera.__file__
net = tessera.model("mlp", shape=(3,), outputs=2, hidden=[4])
assert net.outputs([[1.0, 2.0, 3.0]]).shape == (1, 2)') || fail "the installed package does not work"
fi
tail -q -n 1 api.txt habits.txt hostile.txt
cat pages.txt
grep scikit-learn estimators.txt
grep notebook: notebook.txt
