"""The package in a notebook, run by nbclient with a real kernel: the bar that training shows, the page of a report, and what
an exception looks like. Exit 77 where nbclient or ipykernel is not installed.

    PYTHONPATH=python TESSERA_LIBRARY=libtessera.so.0 python3 tests/python/notebook.py FOLDER
"""
import json
import os
import sys

try:
    import nbformat
    from nbclient import NotebookClient
    import ipykernel  # noqa: the kernel
except ImportError as problem:
    print(f"notebook: {problem}: left out (python3-nbclient, python3-ipykernel)")
    sys.exit(77)

CELLS = [
    "import tessera\ndata = tessera.data('glyphs', n=400, test_n=100)",
    "net = tessera.train('mlp', data, hidden=[64], epochs=20, batch=20, folder='run')\nnet",
    "tessera.report('run')",
    "tessera.train('mlp', data, hidden=[8], epochs=1, progress=False)\nNone",
    "try:\n    tessera.Config(lerning_rate=1)\nexcept tessera.UsageError as error:\n    print(error)",
    "net.frame().tail(1)",
]


def kernel(folder):
    """A kernel of this interpreter, whatever kernels the machine has."""
    place = os.path.join(folder, "share", "jupyter", "kernels", "here")
    os.makedirs(place)
    with open(os.path.join(place, "kernel.json"), "w", encoding="utf-8") as file:
        json.dump({"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                   "display_name": "here", "language": "python"}, file)
    os.environ["JUPYTER_PATH"] = os.path.join(folder, "share", "jupyter")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        os.environ[name] = os.path.join(folder, name.lower())
        os.makedirs(os.environ[name], exist_ok=True)
    return "here"


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    client = NotebookClient(book, timeout=120, kernel_name=kernel(folder), resources={"metadata": {"path": folder}})
    client.execute()
    outputs = [cell.outputs for cell in book.cells]

    bars = [o for o in outputs[1] if o.output_type == "display_data"]
    assert len(bars) == 1, f"one bar, which is updated where it stands, not {len(bars)}: {outputs[1]}"
    shown = bars[0].data["text/html"]
    assert '<progress max="1" value="1.0000">' in shown and "round 400/400" in shown and "test" in shown, shown
    assert "100 %" in bars[0].data["text/plain"]
    assert not [o for o in outputs[1] if o.output_type == "stream"], "nothing goes to the terminal"
    assert any("numbers in 4 parameters" in o.data["text/plain"] for o in outputs[1] if o.output_type == "execute_result")

    page = next(o for o in outputs[2] if o.output_type == "execute_result").data
    assert page["text/html"].startswith("<iframe srcdoc=") and "&lt;svg" in page["text/html"], page["text/html"][:200]
    assert page["text/plain"].endswith("report.html'")
    assert not outputs[3], f"progress=False shows nothing: {outputs[3]}"
    assert "lerning_rate" in outputs[4][0].text
    if "pandas" in sys.modules or outputs[5]:
        assert "test_accuracy" in outputs[5][0].data["text/html"]
    print(f"notebook: {len(CELLS)} cells run by nbclient, the bar and the page shown")


if __name__ == "__main__":
    main()
