"""python/tessera over the shared library: arrays in, networks out, bad input as exceptions, and every function called.

    PYTHONPATH=python TESSERA_LIBRARY=libtessera.so.0 python3 tests/python/api.py
"""
import ctypes
import gc
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import unittest
import warnings

import tessera  # before numpy, which then has the right kernels of OpenBLAS
import numpy as np

from tessera import _header as header
from tessera import _library
from tessera.arrays import describe

CALLED = set()


class Watched:
    """The library, noting which functions were called."""

    def __init__(self, library):
        self._library = library

    def __getattr__(self, name):
        CALLED.add(name)
        return getattr(self._library, name)


def watch():
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("tessera") and getattr(module, "library", None) is _library.library:
            if module is not _library:
                module.library = Watched(_library.library)
    _library.library = Watched(_library.library)


watch()
lib = _library.library


def problem(n=240, d=6, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)).astype(np.float32)
    return x, (x @ rng.normal(size=d) > 0).astype(int)


X, Y = problem()
SMALL = dict(hidden=[16], epochs=5, batch=20, lr=0.05, threads=1)


def net(**more):
    return tessera.train("mlp", X, Y, **{**SMALL, **more})


class Training(unittest.TestCase):
    def test_learns(self):
        made = net(epochs=20)
        self.assertGreater(made.accuracy, 0.9)
        self.assertGreater((made.predict(X) == Y).mean(), 0.95)
        self.assertEqual(len(made.metrics["round"]), len(made.metrics["test_accuracy"]))
        self.assertAlmostEqual(made.metrics["test_accuracy"][-1], made.accuracy)

    def test_same_bits_twice(self):
        a, b = net(), net()
        for name, values in a.parameters().items():
            np.testing.assert_array_equal(values, b.parameters()[name])

    def test_shares(self):
        made = net(scheme="ist", workers=2, local_steps=2)
        self.assertGreater(made.result.bytes_total, 0)

    def test_regression_in_its_own_units(self):
        y = 100 + 30 * X[:, 0]
        made = tessera.train("mlp", X, y, **{**SMALL, "epochs": 30})
        self.assertIsNone(made.accuracy)
        self.assertLess(made.result.rmse, 15)
        self.assertLess(abs(made.predict(X) - y).mean(), 15)

    def test_words_are_classes_by_name(self):
        words = np.where(Y, "yes", "no")
        made = tessera.train("mlp", X, words, **SMALL)
        self.assertEqual(made.classes, ["no", "yes"])
        self.assertEqual(made.evaluate(X, words).accuracy, made.evaluate(X, Y).accuracy)
        # words in another order, or one alone, mean what they meant in training
        some = Y == 1
        self.assertAlmostEqual(made.evaluate(X[some], words[some]).accuracy, (made.predict(X[some]) == 1).mean())

    def test_goes_on_from_a_model(self):
        first = net()
        later = tessera.train(first, X, Y, epochs=1)
        self.assertFalse(np.array_equal(first.parameters()["layers.0.weight"], later.parameters()["layers.0.weight"]))

    def test_callback_stops(self):
        seen = []
        made = net(epochs=50, on_round=lambda p: seen.append(p["round"]) or len(seen) < 7)
        self.assertEqual(seen, [1, 2, 3, 4, 5, 6, 7])
        self.assertIsNone(made.result)

    def test_callback_stops_and_the_run_is_saved(self):
        """What had been trained since the last checkpoint was lost."""
        with tempfile.TemporaryDirectory() as folder:
            whole = net(epochs=4)
            self.assertIsNone(net(epochs=4, folder=folder + "/run", on_round=lambda p: p["round"] < 7).accuracy)
            seen = []
            resumed = net(epochs=4, folder=folder + "/run", resume=True, on_round=lambda p: seen.append(p["round"]))
            self.assertEqual(seen[0], 9, "saved after round 8, the one that it was in")
            for name, values in whole.parameters().items():
                np.testing.assert_array_equal(values, resumed.parameters()[name])
            # After the last round there is nothing to stop: the run is finished.
            last = net(epochs=2, folder=folder + "/last", on_round=lambda p: p["round"] < p["rounds"])
            self.assertEqual(last.accuracy, net(epochs=2).accuracy)
            self.assertTrue(os.path.exists(folder + "/last/model.safetensors"))

    def test_callback_that_raises(self):
        def raising(_):
            raise KeyError("mine")
        with self.assertRaisesRegex(KeyError, "mine"):
            net(on_round=raising)

    def test_round_by_round(self):
        with tessera.Run(tessera.Config(model="mlp", **SMALL), tessera.data(X, Y)) as run:
            rounds = [p["round"] for p in run]
            self.assertEqual(rounds, list(range(1, len(rounds) + 1)))
            self.assertGreater(run.model.numbers, 0)
            self.assertEqual(run.config["model"], "mlp")
            self.assertGreaterEqual(run.finish().accuracy, 0)
        with self.assertRaisesRegex(ValueError, "closed"):
            run.step()

    def test_stop_from_another_thread(self):
        with tessera.Run(tessera.Config(model="mlp", **{**SMALL, "epochs": 1000000}), tessera.data(X, Y)) as run:
            threading.Timer(0.3, run.stop).start()
            with self.assertRaises(tessera.Interrupted):
                run.finish()

    def test_ctrl_c_saves_and_resumes_to_the_same_bits(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = net(epochs=40)
            with self.assertRaises(KeyboardInterrupt):
                net(epochs=40, folder=folder + "/run", on_round=lambda p: signal.raise_signal(signal.SIGINT) if p["round"] == 33 else None)
            self.assertTrue(os.listdir(folder + "/run/checkpoints"))
            resumed = net(epochs=40, folder=folder + "/run", resume=True)
            self.assertEqual(list(resumed.metrics), list(whole.metrics))
            for name, values in whole.metrics.items():  # also what was told before it was stopped
                if name != "seconds":
                    np.testing.assert_array_equal(values, resumed.metrics[name])
            for name, values in whole.parameters().items():
                np.testing.assert_array_equal(values, resumed.parameters()[name])

    def test_ctrl_c_while_the_library_computes(self):
        """Python heard it in the library's next callback, where ctypes threw it away, and the line of metrics with it."""
        thrown_away = []
        before, sys.unraisablehook = sys.unraisablehook, thrown_away.append
        x = np.random.default_rng(1).normal(size=(2000, 200)).astype(np.float32)
        data = tessera.data(x, np.arange(2000) % 2, x, np.arange(2000) % 2)
        try:
            for delay in (0.1, 0.13, 0.16, 0.19):
                run = tessera.Run(tessera.Config(model="mlp", hidden=[256], epochs=200, batch=1000, threads=1, eval_every=1), data)
                for _ in range(4):  # also where a busy machine gives no more than these in time
                    run.step()
                hit = threading.Timer(delay, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
                with self.assertRaises(KeyboardInterrupt):
                    hit.start()
                    run.finish()
                rounds = run.metrics["round"]
                np.testing.assert_array_equal(np.diff(rounds), 2)  # an evaluation for each epoch
        finally:
            sys.unraisablehook = before
        self.assertFalse(thrown_away)

    def test_ctrl_c_ends_long_jobs(self):
        """Sweeps, tickets and reproductions went on for hours."""
        config = tessera.Config({"data.name": "glyphs", "data.n": 500}, model="mlp", hidden=[64], epochs=1000, batch=20, threads=1)
        before = _library.library.tsr_memory_in_use()
        with tempfile.TemporaryDirectory() as folder:
            for job in (lambda: tessera.sweep(config, {"lr": [0.01, 0.02, 0.03]}, seeds=100, folder=folder + "/sweep"),
                        lambda: tessera.tickets(config, folder + "/tickets"),
                        lambda: tessera.reproduce("loft/fig4", folder + "/study", data="glyphs")):
                hit = threading.Timer(0.5, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
                begin = time.monotonic()
                with self.assertRaises(KeyboardInterrupt):
                    hit.start()
                    job()
                self.assertLess(time.monotonic() - begin, 60)
            self.assertTrue(os.listdir(folder + "/tickets/checkpoints"))
        self.assertEqual(_library.library.tsr_memory_in_use(), before)
        with self.assertRaisesRegex(tessera.UsageError, "loft/fig4"):  # failures come out of them as before
            tessera.reproduce("loft/figg4", "nowhere")

    def test_two_at_once(self):
        found = {}
        alone = net(epochs=40).parameters()["layers.0.weight"]

        def one(i):
            found[i] = net(epochs=40).parameters()["layers.0.weight"]
        threads = [threading.Thread(target=one, args=(i,)) for i in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        np.testing.assert_array_equal(found[0], alone)
        np.testing.assert_array_equal(found[1], alone)

    def test_messages(self):
        said = []
        net(messages=lambda level, text: said.append((level, text)))
        with warnings.catch_warnings(record=True):
            net()

    def test_diverges(self):
        with self.assertRaises(tessera.Diverged):
            net(lr=1e6, epochs=30)


class Arrays(unittest.TestCase):
    def test_views_and_types(self):
        made = net()
        want = made.outputs(X)
        for x in (X.astype(np.float64), X[::-1][::-1], np.asfortranarray(X), X.tolist(), memoryview(X), X.astype(">f4")):
            np.testing.assert_array_equal(made.outputs(x), want)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("python3-torch is not installed")
        made = tessera.train("mlp", torch.from_numpy(X), torch.from_numpy(Y), **SMALL)
        np.testing.assert_array_equal(made.outputs(torch.from_numpy(X)), net().outputs(X))
        module = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
        module.load_state_dict({k.replace("layers.", ""): v for k, v in made.state_dict().items()})
        scaled = torch.from_numpy((X - X[0] * 0))
        self.assertEqual(module(scaled).shape, (len(X), 2))
        made.load_state_dict(made.state_dict())

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("python3-pandas is not installed")
        frame = pandas.DataFrame(X, columns=list("abcdef"))
        np.testing.assert_array_equal(tessera.train("mlp", frame, Y, **SMALL).outputs(X), net().outputs(X))
        with self.assertRaisesRegex(tessera.UsageError, "column a .* words"):
            tessera.data(frame.assign(a="x"), Y)

    def test_borrowed(self):
        data = tessera.data(X, Y, copy=False)
        np.testing.assert_array_equal(tessera.train("mlp", data, **SMALL).outputs(X), net().outputs(X))

    def test_images_and_sequences(self):
        rng = np.random.default_rng(3)
        pixels = rng.integers(0, 256, (40, 1, 8, 8), dtype=np.uint8)
        y = np.arange(40) % 2
        made = tessera.train("mlp", pixels, y, **SMALL)
        self.assertEqual(made.predict_proba(pixels).shape, (40, 2))
        walks = rng.normal(size=(30, 5, 3)).astype(np.float32)
        lengths = rng.integers(2, 6, 30)
        data = tessera.data(walks, np.arange(30) % 3, form="sequences", lengths=lengths)
        made = tessera.train("rnn", data, width=8, model_train="all", loss="cross_entropy", epochs=1, batch=10)
        self.assertEqual(made.outputs(walks, lengths).shape, (30, 3))

    def test_known_data(self):
        data = tessera.data("glyphs", n=50, test_n=20)
        self.assertEqual((len(data), data.shape, len(data.classes)), (50, (1, 28, 28), 10))
        self.assertEqual((data.x.shape[0], data.y.shape, data.test_x.shape[0], data.test_y.shape), (50, (50,), 20, (20,)))
        self.assertIn("glyphs", repr(data))


class Models(unittest.TestCase):
    def test_files(self):
        made = net()
        with tempfile.TemporaryDirectory() as folder:
            made.save(folder + "/m.safetensors")
            again = tessera.load(folder + "/m.safetensors")
        for other in (again, tessera.load(made.to_bytes()), pickle.loads(pickle.dumps(made)), made.copy()):
            np.testing.assert_array_equal(other.outputs(X), made.outputs(X))

    def test_onnx(self):
        with tempfile.TemporaryDirectory() as folder:
            try:
                made = net().export_onnx(folder + "/net.onnx")
                self.assertEqual(made["bytes"], os.path.getsize(folder + "/net.onnx"))
                speed = net().onnx_speed(beside=net(hidden=[8]), seconds=0.01)
                self.assertTrue(all(0 < a <= b for a, b in zip(speed["ours_ms"], speed["ours_median_ms"])), speed)
                self.assertTrue(speed["runtime"] or speed["missing"])
            except tessera.TesseraError as problem:
                self.assertRegex(str(problem), "without ONNX")

    def test_onnx_of_sequences_with_gaps(self):
        """The file filled every position as the first: other answers than the network's, without a word."""
        walks = np.random.default_rng(3).normal(size=(30, 5, 3))
        walks[4, 2, 1] = np.nan
        data = tessera.data(walks, np.arange(30) % 3, form="sequences", missing=True)
        made = tessera.train("rnn", data, width=8, epochs=1, batch=10)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(tessera.TesseraError, "position by position|without ONNX"):
                made.export_onnx(folder + "/net.onnx", transform=True)
            self.assertFalse(os.listdir(folder))

    def test_parameters_in_and_out(self):
        made = net()
        state = made.parameters()
        state["layers.2.bias"] = state["layers.2.bias"] + 1
        before = made.outputs(X)
        made.load_state_dict(state)
        np.testing.assert_allclose(made.outputs(X), before + 1, atol=1e-5)
        for bad, why in (({**state, "x": 1}, "no parameter x"), ({}, "there is no"),
                         ({**state, "layers.0.bias": np.zeros(3)}, "shape"),
                         ({**state, "layers.0.bias": np.full(16, np.nan)}, "layers.0.bias")):
            with self.assertRaisesRegex(tessera.UsageError, why):
                made.load_state_dict(bad)
            np.testing.assert_allclose(made.outputs(X), before + 1, atol=1e-5)

    def test_first_weights(self):
        made = tessera.model("preresnet18", shape=(3, 32, 32), outputs=10, width=4)
        self.assertEqual(made.outputs(np.zeros((2, 3, 32, 32), np.float32)).shape, (2, 10))
        like = tessera.model("mlp", like=tessera.data(X, Y), hidden=[5])
        self.assertEqual(like.parameters()["layers.0.weight"].shape, (5, 6))

    def test_ticket(self):
        made = net(hidden=[32], epochs=20)
        ticket = made.prune(0.5)
        self.assertLess(ticket.numbers, 0.6 * made.numbers)
        self.assertEqual(len(made.distance(ticket)), 1)
        tuned = ticket.finetune(X, Y, epochs=5)
        self.assertEqual(tuned.numbers, ticket.numbers)
        self.assertGreater(tuned.evaluate(X, Y).accuracy, 0.9)
        with self.assertRaisesRegex(tessera.UsageError, "no option"):
            made.prune(0.5, colour="red")

    def test_many_threads_predict(self):
        made = net()
        want = made.outputs(X)
        wrong = []

        def one():
            for _ in range(30):
                if not np.array_equal(made.outputs(X), want):
                    wrong.append(1)
        threads = [threading.Thread(target=one) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertFalse(wrong)


class Shares(unittest.TestCase):
    def test_a_round_by_hand(self):
        """Drawn in chunks every unit is in one share; taken and put back without training, nothing changes."""
        made = net(hidden=[12])
        before = made.outputs(X)
        shares = [tessera.Share(made).draw("chunks", workers=3, worker=l) for l in range(3)]
        self.assertEqual(sorted(np.concatenate([s.axes["hidden.0"] for s in shares]).tolist()), list(range(12)))
        small = [s.take(made) for s in shares]
        self.assertEqual([m.parameters()["layers.0.weight"].shape for m in small], [(4, 6)] * 3)
        tessera.put(made, shares, small)
        np.testing.assert_array_equal(made.outputs(X), before)
        trained = [tessera.train(m, X, Y, epochs=1) for m in small]
        tessera.put(made, shares, trained)
        rows = shares[0].axes["hidden.0"]
        np.testing.assert_array_equal(made.parameters()["layers.0.weight"][rows], trained[0].parameters()["layers.0.weight"])
        self.assertEqual(shares[0].cuttable, ["hidden.0"])

    def test_ticket_by_hand(self):
        made = net(hidden=[12])
        scores = made.scores("hidden.0")
        np.testing.assert_allclose(scores, np.linalg.norm(made.parameters()["layers.0.weight"], axis=1), rtol=1e-6)
        best = tessera.Share(made).best("hidden.0", scores, 6)
        np.testing.assert_array_equal(best.axes["hidden.0"], np.sort(np.argsort(-scores)[:6]))
        np.testing.assert_array_equal(best.take(made).outputs(X), made.prune(0.5).outputs(X))
        given = tessera.Share(made).give("hidden.0", best.axes["hidden.0"])
        np.testing.assert_array_equal(given.take(made).outputs(X), made.prune(0.5).outputs(X))
        for call, why in ((lambda: given.give("hidden.0", [3, 3]), "twice"), (lambda: given.give("hidden.9", [1]), "hidden.9"),
                          (lambda: given.best("hidden.0", scores[:3], 2), "3 scores"), (lambda: given.draw("dice"), "dice"),
                          (lambda: tessera.put(made, [given], []), "0 models")):
            with self.assertRaisesRegex(tessera.UsageError, why):
                call()


class Theory(unittest.TestCase):
    def test_kernel(self):
        x = X / np.linalg.norm(X, axis=1, keepdims=True)
        data = tessera.data(x, X[:, 0], x[:5], X[:5, 0])  # without a test part a run would leave samples out
        config = tessera.Config(model="shallow", width=50)
        kernel = tessera.ntk(config, data, n=20)
        self.assertEqual(kernel.shape, (20, 20))
        np.testing.assert_allclose(kernel, kernel.T)
        np.testing.assert_allclose(tessera.eigenvalues(kernel), np.linalg.eigvalsh(kernel), atol=1e-12)
        made = tessera.model(config, like=data)
        np.testing.assert_allclose(tessera.ntk(made, data, n=20), kernel)
        with self.assertRaisesRegex(tessera.UsageError, "not square"):
            tessera.eigenvalues(np.zeros((2, 3)))

    def test_certificate(self):
        config = tessera.Config({"data.name": "sphere", "data.n": 30, "data.dim": 5, "data.test_n": 5, "data.task": "regress",
                                 "model.name": "shallow", "model.width": 40, "scheme.name": "masked", "scheme.workers": 2,
                                 "optim.name": "gd", "optim.lr": 0.1, "rounds": 3})
        c = tessera.certify(config)
        self.assertTrue(c.paper and "Theorem" in str(c))
        self.assertEqual(len(c.rows), len(c.json()["rows"]) if "rows" in c.json() else len(c.rows))
        self.assertTrue({row["verdict"] for row in c.rows} <= {None, "holds", "fails", "vacuous", "open", "does not apply"})
        self.assertGreater(tessera.cost(config)["bytes_total"], 0)
        self.assertEqual(tessera.check(config)["train_n"], 30)

    def test_many_runs(self):
        config = tessera.Config({"data.name": "glyphs", "data.n": 60, "data.test_n": 20, "epochs": 1, "batch": 20,
                                 "model.hidden": [8], "threads": 1})
        found = tessera.sweep(config, {"lr": [0.01, 0.02]}, seeds=2)
        self.assertEqual((found["runs"], len(found["outcomes"])), (4, 4))
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("rows", tessera.tickets(config, folder + "/t"))
            self.assertIn("deeprelu/width", tessera.studies())
            self.assertEqual(tessera.reproduce("deeprelu/width", folder + "/s", quick=True, seeds=1)["name"], "deeprelu/width")
            with self.assertRaisesRegex(tessera.UsageError, "nothing"):
                tessera.reproduce("nothing", folder + "/n")

    def test_jobs_on_folders(self):
        config = tessera.Config({"data.name": "glyphs", "data.n": 60, "data.test_n": 20, "epochs": 1, "batch": 20,
                                 "model.hidden": [8], "threads": 1})
        with tempfile.TemporaryDirectory() as folder:
            for seed, name in enumerate("ab"):
                config["seed"] = seed
                tessera.train(config, folder=f"{folder}/{name}")
            runs = [folder + "/a", folder + "/b"]
            found = tessera.compare(runs, folder + "/compare.html", accuracies=[5])
            self.assertEqual([r["run"] for r in found["runs"]], ["a", "b"])
            self.assertTrue(os.path.exists(folder + "/compare.html"))
            self.assertIn("test_loss", tessera.metrics_csv(folder))
            self.assertGreater(tessera.metrics_csv(folder, path=folder + "/m.csv"), 1)
            self.assertEqual(tessera.metrics_tensorboard(folder, folder + "/board")[0], 2)
            with tessera.Watch(folder) as watch:
                self.assertEqual(len(watch), 2)
                self.assertEqual({r["state"] for r in watch.look()}, {"finished"})
                self.assertIn("finished", str(watch))
                self.assertEqual(len(watch.draw(60, 10).split("\n")), 10)
            a, b = (tessera.load(f"{run}/model.safetensors") for run in runs)
            self.assertIn("hidden.0", [r["layer"] for r in tessera.rankings(a, b)["layers"]])
            cut = tessera.ticket(folder + "/t.safetensors", runs[0] + "/model.safetensors", measure="params", keep=0.5)
            self.assertLessEqual(cut["reached"], 0.5)
            self.assertEqual(tessera.load(folder + "/t.safetensors").numbers, cut["params_after"])
            answers = tessera.answers(a, probabilities=True)
            self.assertEqual((answers["n"], len(answers["predictions"][0]["probabilities"])), (20, 10))
            self.assertEqual(tessera.answers(a, folder + "/p.npy")["file"], folder + "/p.npy")
            self.assertEqual(np.load(folder + "/p.npy").shape, (20, 10))
            tessera.write_module(a, folder + "/net.py", "a/model.safetensors")
            tessera.write_evaluation(a, folder + "/evaluation.json")
            with open(folder + "/net.py") as module:
                self.assertIn("class Net", module.read())
            with self.assertRaisesRegex(tessera.UsageError, "nowhere"):
                tessera.Watch(folder + "/nowhere")

    def test_jobs_on_data_and_theory(self):
        config = tessera.Config({"data.name": "sphere", "data.n": 12, "data.dim": 4, "data.task": "regress", "data.test_n": 4,
                                 "model.name": "shallow", "model.width": 16, "scheme.name": "masked", "optim.name": "gd",
                                 "rounds": 1, "threads": 1})
        self.assertEqual(tessera.build()["version"], tessera.__version__)
        self.assertGreater(tessera.bench(config, repeats=1)["step"]["min_ms"], 0)
        self.assertIn("glyphs", [s["name"] for s in tessera.data_sets()])
        seen = tessera.load_data(config)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(tessera.describe(seen, folder + "/sheet.png")["train_n"], 12)
            tessera.write_data(seen, folder + "/arrays")
            self.assertEqual(np.load(folder + "/arrays/x.npy").shape[0], 12)
            with self.assertRaisesRegex(tessera.UsageError, "tsr_data_read"):
                tessera.train(config, seen)
            kernel = np.arange(6.0).reshape(2, 3)
            array = describe(kernel)
            self.assertEqual(lib.tsr_array_write(os.fsencode(folder + "/k.npy"), ctypes.byref(array)), 0)
            np.testing.assert_array_equal(np.load(folder + "/k.npy"), kernel)
            gated = tessera.Config({"data.name": "sphere", "data.n": 8, "data.dim": 4, "data.test_n": 4, "model.name": "grelu",
                                    "model.width": 12, "optim.lr": 1e-6, "epochs": 1, "batch": 4, "threads": 1})
            net_ = tessera.train(gated, folder=folder + "/g")
            self.assertEqual(tessera.gates(net_, rank=2)["gates"]["rank"], 2)
            self.assertIn("equal", tessera.convert(net_, folder + "/relu.safetensors", least_squares=True))
            with self.assertRaises(tessera.UsageError):
                tessera.study_index(folder)
            tessera.study_gallery(folder, folder + "/gallery")
            self.assertTrue(os.path.exists(folder + "/gallery/README.md"))
        found = tessera.spectrum(config, n=6, kernel=True)
        np.testing.assert_allclose(np.linalg.eigvalsh(found["kernel"]), found["eigenvalues"], atol=1e-9)
        self.assertEqual(tessera.certify_widths(config, [8, 12, 16])["widths"], [8, 12, 16])
        self.assertEqual(len(tessera.theories(n=50, lambda_=0.1)["theories"]), 11)
        with self.assertRaisesRegex(TypeError, "not about depth"):
            tessera.theories(depth=3)
        self.assertEqual(tessera.study("loft/fig4")[0]["name"], "loft/fig4")
        self.assertEqual(tessera.study_cells("loft/table1", "*18-dense-seed1"), ["preresnet18-dense-seed1"])
        with self.assertRaisesRegex(tessera.UsageError, "nothing"):
            tessera.get_data("nothing")

    def test_documents(self):
        text, doc = ctypes.c_void_p(), ctypes.c_void_p()
        w = lib.tsr_json_create()
        lib.tsr_json_open(w, b"list", b"[")
        lib.tsr_json_int(w, None, 3)
        lib.tsr_json_real(w, None, 0.5)
        lib.tsr_json_bool(w, None, True)
        lib.tsr_json_close(w, b"]")
        lib.tsr_json_text(w, b"name", b"x")
        lib.tsr_json_put(w, b"more", b"{}")
        self.assertEqual(lib.tsr_json_end(ctypes.byref(text), w), 0)
        first = _library.text_of(text.value)
        self.assertEqual(first, '{"format":1,"list":[3,0.5,true],"name":"x","more":{}}')
        w = lib.tsr_json_from(first.encode())
        self.assertEqual(lib.tsr_json_end(ctypes.byref(text), w), 0)
        self.assertEqual(_library.text_of(text.value), first)
        self.assertEqual(lib.tsr_doc_parse(ctypes.byref(doc), first.encode()), 0)
        doc = doc.value
        numbers = lib.tsr_doc_get(doc, b"list")
        self.assertEqual((lib.tsr_doc_count(numbers), lib.tsr_doc_int(lib.tsr_doc_at(numbers, 0), None)), (3, 3))
        self.assertEqual(lib.tsr_doc_real(lib.tsr_doc_at(numbers, 1), None), 0.5)
        self.assertTrue(lib.tsr_doc_bool(lib.tsr_doc_at(numbers, 2), None))
        self.assertEqual((lib.tsr_doc_text(doc, b"name"), lib.tsr_doc_key(doc, 1)), (b"x", b"list"))
        lib.tsr_doc_destroy(doc)

    def test_small_things(self):
        size, text = ctypes.c_int(), ctypes.c_void_p()
        self.assertEqual((lib.tsr_rank(ctypes.byref(size)), size.value), (0, 1))
        self.assertEqual(lib.tsr_quote(b"a\x07"), b"a\\x07")
        words = (ctypes.c_char_p * 2)(b"train", b"ticket")
        self.assertEqual(lib.tsr_nearest(b"trian", words, 2), b"train")
        self.assertEqual(lib.tsr_data_name(0), b"fashion-mnist")
        self.assertEqual(lib.tsr_key_expected(ctypes.byref(text), b"epochs"), 0)
        self.assertIn("whole number", _library.text_of(text.value))
        config = tessera.Config({"data.name": "glyphs"})
        self.assertEqual(lib.tsr_data_where(ctypes.byref(text), config._handle), 0)
        self.assertIsNone(text.value)
        self.assertEqual(lib.tsr_config_forget(config._handle), 0)
        made = net()
        self.assertEqual(lib.tsr_model_use_data(made._handle, b"glyphs"), 0)

    def test_report_shows_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            net(folder=folder + "/r")
            page = tessera.report(folder + "/r")
            self.assertIn("<iframe", page._repr_html_())
            tessera.report(folder + "/r", pictures=folder + "/p")
            with open(folder + "/p-learning.svg", encoding="utf-8") as file:
                self.assertIn("<svg", file.read())

    def test_import(self):
        try:
            import torch
        except ImportError:
            self.skipTest("python3-torch is not installed")
        made = tessera.model("resnet18", shape=(3, 32, 32), outputs=10, width=8)
        with tempfile.TemporaryDirectory() as folder:
            torch.save(made.state_dict(), folder + "/net.pth")
            again = tessera.import_network(folder + "/net.pth", "resnet18", side=32)
        for name, values in made.parameters().items():
            np.testing.assert_array_equal(values, again.parameters()[name])

    def test_convert(self):
        x = X[:20] / np.linalg.norm(X[:20], axis=1, keepdims=True)
        with tempfile.TemporaryDirectory() as folder:
            np.save(folder + "/x.npy", x), np.save(folder + "/y.npy", X[:20, 0])
            config = tessera.Config({"data.path": folder, "data.split": 0, "model.name": "grelu", "model.width": 64,
                                     "model.layers": 2, "epochs": 2, "batch": 20, "optim.lr": 0.0001})
            gated = tessera.train(config)
            twin, came = gated.convert()
        self.assertEqual(came["points"], 20)
        self.assertLess(came["residual"], 1e-3)
        self.assertGreater(twin.numbers, 0)


class BadInput(unittest.TestCase):
    def test_sentences(self):
        made = net()
        for call, why in ((lambda: tessera.train("mpl", X, Y), "did you mean mlp"),
                          (lambda: tessera.train("mlp", X, Y, learning=1), "no key 'learning'"),
                          (lambda: tessera.train("mlp", X, Y, every=1), "may be"),
                          (lambda: tessera.train("mlp", X[:9], Y), "9 samples"),
                          (lambda: tessera.train("mlp", X * np.nan, Y), "nan"),
                          (lambda: tessera.data(X, Y, classes=["one"]), "1"),
                          (lambda: tessera.data(X), "y is missing"),
                          (lambda: tessera.data(np.array([object()] * 3), Y[:3]), "not numbers"),
                          (lambda: tessera.data(np.zeros((1,) * 9), Y[:1]), "dimensions"),
                          (lambda: tessera.data("glyphs", Y), "brings its own y"),
                          (lambda: tessera.data(X, Y, form="clouds"), "form is"),
                          (lambda: tessera.data(X, Y, colour=1), "colour is not for arrays"),
                          (lambda: tessera.data(X, Y, columns=["a"]), "1 names"),
                          (lambda: made.predict(X[:, :2]), "2 numbers"),
                          (lambda: made.predict(np.array(["a"])), "not numbers"),
                          (lambda: tessera.model("mlp"), "needs data"),
                          (lambda: made.prune(1.5), "ratio"),
                          (lambda: tessera.Config.parse("modle: {}"), "modle")):
            with self.assertRaisesRegex(tessera.UsageError, why):
                call()
        with self.assertRaisesRegex(OSError, "cannot open"):
            tessera.load("/proc/nowhere.safetensors")
        with self.assertRaises(tessera.FileError):
            tessera.load(b"not a model")

    def test_closed(self):
        made, data = net(), tessera.data(X, Y)
        made.close(), made.close(), data.close()
        for call in (lambda: made.predict(X), made.parameters, lambda: made.save("x"), lambda: data.x, lambda: made.config):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()

    def test_sizes_of_structs_are_asked_for(self):
        made, out = header.tsr_model_info(), net()
        self.assertEqual(lib.tsr_model_look(ctypes.byref(made), out._handle), header.TSR_USAGE)

    def test_fork(self):
        made = net()
        want = made.outputs(X)
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(made.outputs(X), want) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Settings(unittest.TestCase):
    def test_keys(self):
        self.assertIn("optim.lr", tessera.KEYS)
        for key in tessera.KEYS.values():
            self.assertTrue(key.help, key.key)

    def test_in_and_out(self):
        config = tessera.Config(model="mlp", lr=0.25, hidden=[3, 4])
        self.assertEqual((config["lr"], config["model.hidden"], config["scheme"]), ("0.25", "[3, 4]", "dense"))
        self.assertTrue(config.given("lr") and not config.given("epochs"))
        self.assertEqual(tessera.Config.parse(str(config))["lr"], "0.25")
        self.assertEqual(pickle.loads(pickle.dumps(config))["lr"], "0.25")
        config["lr"] = None
        self.assertFalse(config.given("lr"))
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/run.yaml", "w", encoding="utf-8") as file:
                file.write(str(config))
            self.assertEqual(tessera.Config.read(folder + "/run.yaml")["model"], "mlp")
        self.assertEqual(tessera.Config(threads=np.int64(2), lr=np.float32(0.5), hidden=np.array([1, 2]))["hidden"], "[1, 2]")


class Whole(unittest.TestCase):
    def test_nothing_is_kept(self):
        """Handles give back what they took: create and end many."""
        data = tessera.data(X, Y)
        gc.collect()
        before = lib.tsr_memory_in_use()
        for _ in range(2000):
            tessera.Config(lr=0.1).close()
            tessera.data(X[:4], Y[:4]).close()
        made = net()
        for _ in range(200):
            copy = made.copy()
            copy.predict(X[:1])
            copy.close()
        made.close()
        gc.collect()
        self.assertEqual(lib.tsr_memory_in_use(), before)
        data.close()

    def test_z_every_function_was_called(self):
        context = ctypes.c_void_p()
        self.assertEqual(lib.tsr_context_create(ctypes.byref(context)), 0)
        context = context.value
        old = lib.tsr_context_use(context)
        self.assertGreaterEqual(lib.tsr_context_memory_peak(context), lib.tsr_context_memory_in_use(context))
        lib.tsr_context_stop(context)
        lib.tsr_context_clear_stop(context)
        lib.tsr_context_use(old)
        lib.tsr_context_destroy(context)
        self.assertGreater(lib.tsr_memory_peak(), 0)
        self.assertEqual(lib.tsr_status_text(2), b"wrong usage or run file")
        self.others()
        CALLED.update({"tsr_version", "tsr_key_count", "tsr_key_at"})  # when the package was imported
        missing = set(header.FUNCTIONS) - CALLED
        self.assertFalse(missing, f"no test calls {sorted(missing)}")

    def others(self):
        """Functions that the package itself does not need, called as they are."""
        made = net()
        param = _library.sized(header.tsr_param)
        self.assertEqual(lib.tsr_model_find(ctypes.byref(param), made._handle, b"layers.0.weight"), 0)
        self.assertIsNone(lib.tsr_model_meta(made._handle, b"nothing"))
        config = tessera.Config({"data.name": "glyphs", "data.n": 60, "data.test_n": 20, "model.hidden": [4], "epochs": 1})
        self.assertEqual(lib.tsr_config_set(config._handle, b"batch=20"), 0)
        self.assertEqual(lib.tsr_config_use_data(config._handle, b"glyphs"), 0)
        needs, cost = _library.sized(header.tsr_needs), _library.sized(header.tsr_cost)
        self.assertEqual(lib.tsr_check(ctypes.byref(needs), config._handle), 0)
        self.assertEqual(lib.tsr_cost_count(ctypes.byref(cost), config._handle, None), 0)
        self.assertEqual((needs.params, needs.train_n), (cost.params, 60))
        machine, said = header.tsr_machine(1e9, 1e8, 1e-4, 0.1), header.tsr_prediction()
        lib.tsr_cost_predict(ctypes.byref(said), ctypes.byref(cost), ctypes.byref(machine))
        self.assertGreater(said.seconds_step, 0)
        result = _library.sized(header.tsr_result)
        with tempfile.TemporaryDirectory() as folder:
            o = _library.sized(header.tsr_run_options, folder=os.fsencode(folder + "/r"))
            self.assertEqual(lib.tsr_train(ctypes.byref(result), config._handle, ctypes.byref(o)), 0)
            trained = tessera.load(folder + "/r/model.safetensors")
        self.assertEqual(lib.tsr_model_evaluate(ctypes.byref(result), trained._handle, False), 0)
        out, labels = ctypes.POINTER(ctypes.c_float)(), ctypes.POINTER(ctypes.c_int32)()
        n, width = ctypes.c_int64(), ctypes.c_int64()
        self.assertEqual(lib.tsr_model_predict(ctypes.byref(out), ctypes.byref(labels), ctypes.byref(n), ctypes.byref(width),
                                               trained._handle, False), 0)
        self.assertEqual((n.value, width.value), (20, 10))
        lib.tsr_free(ctypes.cast(out, ctypes.c_void_p))
        lib.tsr_free(ctypes.cast(labels, ctypes.c_void_p))
        p = made._predictor(header.TSR_PROBABILITIES, 1)
        classes = (ctypes.c_int32 * len(X))()
        self.assertEqual(lib.tsr_predictor_classes(classes, p._handle, ctypes.byref(describe(X)), None), 0)
        np.testing.assert_array_equal(np.array(classes), made.predict(X))
        self.processes()
        self.jobs_that_are_stopped()

    def processes(self):
        """What belongs to a process: its memory, messages and ranks, left as they were."""
        context = ctypes.c_void_p()
        self.assertEqual(lib.tsr_context_create(ctypes.byref(context)), 0)
        context = context.value
        said = []
        hear = header.tsr_log_function(lambda _, level, text: said.append((level, text)))
        lib.tsr_context_set_allocator(context, None)
        lib.tsr_context_set_log(context, hear, None, header.TSR_LOG_DEBUG)
        lib.tsr_context_on_hang(context, header.tsr_hang_function(0), None)
        old = lib.tsr_context_use(context)
        net(epochs=1)
        lib.tsr_context_use(old)
        lib.tsr_context_destroy(context)
        lib.tsr_set_allocator(None)
        lib.tsr_set_log(_library._hear_all, None, header.TSR_LOG_WARNING)  # as the package has it
        self.assertEqual(lib.tsr_ranks_ending(), header.TSR_END_PLAIN)
        self.assertFalse(lib.tsr_ranks_excuse())  # nobody started this process
        lib.tsr_ranks_end(0)
        lib.tsr_request_stop()
        lib.tsr_context_clear_stop(None)
        with tempfile.TemporaryDirectory() as folder:
            net().save(folder + "/m.safetensors")
            o = _library.sized(header.tsr_prune_options, ratio=0.5, criterion=b"l2", round_to=1, seed=1)
            self.assertEqual(lib.tsr_prune(os.fsencode(folder + "/t.safetensors"), os.fsencode(folder + "/m.safetensors"),
                                           ctypes.byref(o)), 0)
            self.assertLess(tessera.load(folder + "/t.safetensors").numbers, net().numbers)

    def jobs_that_are_stopped(self):
        """A server that is stopped as soon as it listens, and studies without a folder."""
        context = ctypes.c_void_p()
        self.assertEqual(lib.tsr_context_create(ctypes.byref(context)), 0)
        context = context.value
        old = lib.tsr_context_use(context)
        with tempfile.TemporaryDirectory() as folder, tessera.Watch(folder) as watch:
            addresses = []
            heard = dict(header.tsr_serve_options._fields_)["ready"](
                lambda _, address: addresses.append(address) or lib.tsr_context_stop(context))
            o = _library.sized(header.tsr_serve_options, ready=heard)
            status = lib.tsr_watch_serve(watch._handle, ctypes.byref(o))
            self.assertTrue(status == header.TSR_USAGE or addresses[0].startswith(b"http://127.0.0.1:"))
            o = _library.sized(header.tsr_study_options, quick=True)
            self.assertEqual(lib.tsr_reproduce_all(ctypes.byref(o)), header.TSR_USAGE)
        lib.tsr_context_use(old)
        lib.tsr_context_destroy(context)


if __name__ == "__main__":
    began = time.process_time()
    program = unittest.main(exit=False, verbosity=int("-v" in sys.argv) + 1)
    print(f"api: {program.result.testsRun} tests, {time.process_time() - began:.1f} s of processor")
    sys.exit(not program.result.wasSuccessful())
