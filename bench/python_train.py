"""python_train.py RUN-FILE FOLDER: trains it from Python as `tessera train` would. Its metrics say how long that took."""
import sys

import tessera

tessera.train(sys.argv[1], folder=sys.argv[2], progress=False)
