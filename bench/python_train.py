"""python_train.py RUN-FILE FOLDER: trains it from Python as `tessera train` would; prints the processor's milliseconds of
training alone (the interpreter and its modules are loaded before), twice, as bench/compare.py reads them."""
import resource
import sys

import tessera

config = tessera.Config.read(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF)
tessera.train(config, folder=sys.argv[2], progress=False)
after = resource.getrusage(resource.RUSAGE_SELF)
spent = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
print(f"{spent:.1f} {spent:.1f}")
