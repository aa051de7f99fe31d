"""What people who work with Python every day do without thinking: data frames in another order, labels that are words or do
not begin at 0, tensors of others, clones and pickles, help() and the tab key, and the program beside it.

    PYTHONPATH=python TESSERA_LIBRARY=libtessera.so.0 python3 tests/python/habits.py PROGRAM
"""
import copy
import ctypes
import datetime
import fcntl
import gc
import inspect
import json
import os
import pickle
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import warnings

import tessera  # before numpy: it then has the right kernels of OpenBLAS
import numpy as np

try:
    import pandas
except ImportError:
    pandas = None
try:
    import torch
except ImportError:
    torch = None

PROGRAM = ""
rng = np.random.default_rng(1)
X = rng.normal(size=(300, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
SMALL = dict(hidden=[16], epochs=10, batch=30, lr=0.05, threads=1)


def address(array):
    return array.__array_interface__["data"][0]


def tessera_of(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def houses(n=300):
    """A frame of numbers, words, truths, dates and gaps."""
    frame = pandas.DataFrame(X[:n].copy(), columns=["size", "age", "rooms", "noise"])
    frame["city"] = np.where(X[:n, 2] > 0, "Bern", "Ulm")
    frame["garden"] = X[:n, 3] > 0
    frame["sold"] = pandas.Timestamp("2020-01-01") + pandas.to_timedelta(np.arange(n), "D")
    frame["price"] = 100 + 20 * X[:n, 0] + 30 * (frame["city"] == "Bern")
    frame.loc[5, "size"] = np.nan
    frame.loc[7, "city"] = None
    return frame


@unittest.skipUnless(pandas, "python3-pandas is not installed")
class Frames(unittest.TestCase):
    def test_columns_are_known_by_name(self):
        frame = pandas.DataFrame(X, columns=list("abcd"))
        net = tessera.train("mlp", frame, Y, **SMALL)
        self.assertEqual(net.columns, list("abcd"))
        want = net.outputs(X)
        other = frame[list("dbca")].assign(more=1.0)
        np.testing.assert_array_equal(net.outputs(other), want)
        self.assertEqual(net.evaluate(other, Y).accuracy, net.evaluate(X, Y).accuracy)
        with self.assertRaisesRegex(tessera.UsageError, "no column 'b'"):
            net.predict(frame.drop(columns="b"))
        # the test's columns, too
        for test in (frame, frame[list("dcba")]):
            data = tessera.data(frame, Y, test, Y)
            np.testing.assert_array_equal(data.test_x, data.x)
        with self.assertRaisesRegex(tessera.UsageError, "cannot be matched"):
            tessera.data(X, Y, frame, Y)

    def test_words_dates_and_gaps_as_in_a_file(self):
        frame = houses()
        data = tessera.data(frame, target="price", task="regress")
        net = tessera.train("mlp", data, **{**SMALL, "epochs": 40, "lr": 0.02})
        inputs = frame.drop(columns="price")
        answers = net.predict(inputs)
        self.assertLess(np.abs(answers - frame["price"]).mean(), 8)
        shuffled = inputs[list(inputs.columns[::-1])]
        np.testing.assert_array_equal(net.predict(shuffled), answers)
        # judged on a frame that has the target, too: the sentence that asks for target= led to one that asked for y
        with self.assertRaisesRegex(tessera.UsageError, "say target='price'"):
            net.evaluate(frame, "price")
        self.assertAlmostEqual(net.evaluate(frame, target="price").rmse, np.sqrt(np.mean((answers - frame["price"]) ** 2)), 3)
        with self.assertRaisesRegex(tessera.UsageError, "'Rom'; the network knows Bern, Ulm"):
            net.predict(inputs.assign(city="Rom"))
        # the program answers the same of the same table
        with tempfile.TemporaryDirectory() as folder:
            net.save(folder + "/net.safetensors")
            inputs.assign(garden=inputs["garden"].astype(int)).to_csv(folder + "/new.csv", index=False)
            tessera_of("predict", folder + "/net.safetensors", "--data", folder + "/new.csv", "--out", folder + "/out.json")
            with open(folder + "/out.json", encoding="utf-8") as file:
                said = [row["predicted"][0] for row in json.load(file)["predictions"]]
        np.testing.assert_allclose(answers, said, rtol=1e-5)

    def test_sentences_name_the_frame(self):
        """They named the temporary file that a frame is read from, which nobody could look into."""
        frame = houses()
        bad = frame.assign(size=frame["size"].astype(object))
        bad.loc[3, "size"] = "12 kg"
        with self.assertRaisesRegex(tessera.FileError, "^the data frame: line 5, column 1 .size.: \"12 kg\""):
            tessera.data(bad, target="price")
        with self.assertRaisesRegex(tessera.FileError, "^test_x: line 5, column 1 .size.") as caught:
            tessera.data(frame, target="price", test_x=bad)
        self.assertNotIn("tessera-frame-", str(caught.exception))

    def test_columns_of_another_kind(self):
        """Days as numbers were read as nanoseconds: 1970; dates in a column of numbers as 1.7e18."""
        frame = houses()
        net = tessera.train("mlp", tessera.data(frame, target="price", task="regress"), **SMALL)
        days = frame["sold"].astype("int64") // (86400 * 10**9)
        for sold in (days, days.astype(float), frame["sold"].dt.strftime("%Y%m%d").astype(int), frame["garden"],
                     days.astype(object), pandas.to_timedelta(days, "D"), "20200101", "2020", "01.02.2020"):
            with self.assertRaisesRegex(tessera.UsageError, "column sold .* was trained on dates"):
                net.predict(frame.assign(sold=sold))
        for size, held in ((frame["sold"], "dates"), (pandas.to_timedelta(days, "D"), "durations"), (1 + 2j, "complex")):
            with self.assertRaisesRegex(tessera.UsageError, f"column size .* holds {held}"):
                net.predict(frame.assign(size=size))
            with self.assertRaises(tessera.TesseraError):
                tessera.data(frame.assign(size=size), target="price", dates="refuse")
        for cell, held in ((np.datetime64("2020-01-01"), "holds dates"), (np.timedelta64(3, "D"), "holds durations"),
                           (np.complex64(1 + 2j), "holds complex"), ([1.5], "not a number"), (10**400, "not a number")):
            objects = pandas.Series([cell] * len(frame), dtype=object)
            with self.assertRaisesRegex(tessera.UsageError, f"column size .* {held}"):
                net.predict(frame.assign(size=objects))
        want = net.predict(frame)
        for sold in (frame["sold"].dt.strftime("%Y-%m-%d"), frame["sold"].dt.date, frame["sold"].dt.tz_localize("UTC")):
            np.testing.assert_array_equal(net.predict(frame.assign(sold=sold)), want)
        self.assertTrue(np.isfinite(net.predict(frame.assign(sold=np.nan))).all())

    def test_dates_that_nanoseconds_cannot_count(self):
        """9999-12-31, which often stands for never, was read as a day of 1816; NaT of numpy's among objects as one of 1677."""
        days = [datetime.date(2020, 1, 1 + i % 28) for i in range(100)]
        days[3], days[7] = datetime.date(9999, 12, 31), datetime.date(1500, 1, 1)
        frame = pandas.DataFrame({"day": days, "y": np.arange(100) / 7})
        data = tessera.data(frame, target="y", split=0, dates="days", normalize="none", target_scale="none", missing="zero")
        self.assertEqual(data.x.max(), 2932896)
        config = tessera.Config({"model.name": "mlp", "model.hidden": [16], "optim.lr": 0, "epochs": 1, "batch": 30})
        net = tessera.train(config, data)
        np.testing.assert_array_equal(net.predict(frame), net.outputs(data.x)[:, 0])
        np.testing.assert_array_equal(net.predict(frame.assign(day=[str(day) for day in days])), net.outputs(data.x)[:, 0])
        gaps = pandas.Series([np.datetime64(day) for day in days], dtype=object)
        gaps[5] = np.datetime64("NaT")
        x = data.x.copy()
        x[5] = np.nan
        np.testing.assert_array_equal(net.predict(frame.assign(day=gaps), missing=True), net.outputs(x, missing=True)[:, 0])

    def test_a_network_takes_the_frame_it_learned_from(self):
        """Words with spaces, missing ones of all kinds, numbers as texts and as categories were refused."""
        for cells in (["a ", " b", "?", "", "NA"], pandas.array(["a", "b", None, "a", "b"], dtype="string"),
                      ["1.5", " 2.5", "3", "4e0", "5"], pandas.Categorical([3, 1, 2, 1, 3]),
                      ["1970-01-02", "", "NA", " 1970-01-04 ", None]):
            frame = pandas.DataFrame({"cell": pandas.Series(cells).repeat(20).values, "y": np.arange(100) / 7})
            data = tessera.data(frame, target="y", split=0, normalize="none", target_scale="none", missing="zero", dates="days")
            net = tessera.train("mlp", data, **SMALL)
            np.testing.assert_array_equal(net.predict(frame, missing=True), net.outputs(data.x, missing=True)[:, 0])

    def test_names_that_are_numbers(self):
        """The first line was taken for a row of data, and the target for the number of a column."""
        frame = pandas.DataFrame(X)  # columns 0, 1, 2, 3
        for target in (3, "3"):
            data = tessera.data(frame, target=target, task="regress", split=0, target_scale="none", normalize="none")
            np.testing.assert_allclose(data.y[:, 0], X[:, 3], rtol=1e-6)
            np.testing.assert_allclose(data.x, X[:, :3], rtol=1e-6)
        with self.assertRaisesRegex(tessera.UsageError, "no column 4; it has 0, 1, 2, 3"):
            tessera.data(frame, target=4)

    def test_test_frame_and_classes_of_words(self):
        frame = houses().drop(columns=["price", "sold"])
        with self.assertRaisesRegex(tessera.FileError, "target is missing"):
            tessera.data(frame, target="city")
        frame = frame[frame["city"].notna()]
        data = tessera.data(frame[:200], test_x=frame[200:], target="city")
        self.assertEqual((len(data), data._info.test_n, data.classes), (200, 99, ["Bern", "Ulm"]))
        net = tessera.train("mlp", data, **SMALL)
        self.assertGreater(net.accuracy, 0.85)

    def test_kinds_of_columns(self):
        mixed = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1] > 0, "c": np.arange(300), "d": X[:, 3].astype(float)})
        data = tessera.data(mixed, Y)
        np.testing.assert_array_equal(data.x, np.stack([X[:, 0], X[:, 1] > 0, np.arange(300), X[:, 3]], 1).astype(np.float32))
        gaps = mixed.assign(c=pandas.array([None] + [1] * 299, dtype="Int64"))
        self.assertTrue(np.isnan(tessera.data(gaps, Y, missing=True).x[0, 2]))
        with self.assertRaisesRegex(tessera.UsageError, "NaN means missing"):
            tessera.data(gaps, Y)
        for words in (mixed.assign(c="x"), mixed.assign(c=pandas.Categorical(["x"] * 300))):
            with self.assertRaisesRegex(tessera.UsageError, "column c .* words.*target="):
                tessera.data(words, Y)

    def test_metrics_are_a_frame(self):
        frame = tessera.train("mlp", X, Y, **SMALL).frame()
        self.assertIn("test_accuracy", frame.columns)
        self.assertEqual(frame["round"].iloc[-1], 80)


class Types(unittest.TestCase):
    """The same numbers are the same inputs, whatever their type, to predictions and to evaluations. Without a normalisation
    those of another type than the training's were 255 times as large, or as small, for one of the two."""

    def asked(self, net, x):
        """The losses of predictions and of an evaluation, which are the same."""
        given = net.outputs(x).astype(float)
        loss = (np.logaddexp.reduce(given, axis=1) - given[np.arange(len(Y)), Y]).mean()
        np.testing.assert_allclose(net.evaluate(x, Y).loss, loss, rtol=1e-4)
        return loss

    def test_bytes_and_reals(self):
        pixels = np.random.default_rng(5).integers(0, 256, (300, 1, 3, 3))
        for x in (pixels, pixels.reshape(300, 9)):
            for normalize in ("none", "channel", "standardize", "unit"):
                for learned in (np.uint8, np.float32):
                    config = tessera.Config({"data.normalize": normalize, "optim.lr": 1e-4, "epochs": 2, "batch": 30}, hidden=[8])
                    net = tessera.train(config, x.astype(learned), Y)
                    losses = [self.asked(net, x.astype(kind)) for kind in (np.uint8, np.float32, np.int64)]
                    if normalize == "none" and learned is np.float32 and x.ndim == 4:
                        losses[0] = losses[1]  # pictures are bytes / 255 to a network of pictures as they are: 0 .. 1
                    np.testing.assert_allclose(losses, losses[0], rtol=1e-4, err_msg=f"{normalize}, learned {learned}")


    def test_truth_is_one(self):
        """In pictures it was 1/255: a network of masks as they are answered something else, or learned nothing."""
        masks = np.random.default_rng(5).random((300, 1, 3, 3)) > 0.5
        for x in (masks, masks.reshape(300, 9)):
            for normalize in ("none", "channel"):
                config = tessera.Config({"data.normalize": normalize, "epochs": 2, "batch": 30}, hidden=[8])
                whole, truth = (tessera.train(config, x.astype(kind), Y) for kind in (np.float32, bool))
                np.testing.assert_array_equal(whole.parameters()["layers.0.weight"], truth.parameters()["layers.0.weight"])
                self.assertEqual(self.asked(truth, x), self.asked(truth, x.astype(float)))
        net = tessera.model("mlp", shape=(1, 3, 3), outputs=3, hidden=[8])
        np.testing.assert_array_equal(net.outputs(masks), net.outputs(masks.astype(np.float32)))


class Labels(unittest.TestCase):
    def test_labels_come_back(self):
        for labels in (Y, Y + 1, 10 * Y - 10, Y.astype(np.uint8), Y.astype(np.int16)):
            net = tessera.train("mlp", X, labels, **SMALL)
            self.assertGreater((net.predict(X) == labels).mean(), 0.9, labels[:3])
            self.assertGreater(net.evaluate(X, labels).accuracy, 0.9)
            self.assertEqual(net.classes, [str(c) for c in sorted(set(labels.tolist()))])
        truth = tessera.train("mlp", X, Y > 0, **SMALL)
        self.assertGreater((truth.predict(X) == (Y > 0)).mean(), 0.9)

    def test_trained_on_with_classes_of_other_numbers(self):
        """Class 0 of the network became class 1 of the new data, and so on."""
        net = tessera.train("mlp", X, Y, **SMALL)
        self.assertEqual(net.finetune(X, Y, epochs=1, progress=False).classes, ["0", "1", "2"])
        with self.assertRaisesRegex(tessera.UsageError, "class 0 is 0 there, 1 here"):
            net.finetune(X, Y + 1, epochs=1, progress=False)
        later = tessera.train("mlp", X, Y + 1, **SMALL)
        with self.assertRaisesRegex(tessera.UsageError, "class 0 is 1 there, 0 here"):
            later.finetune(X, Y, epochs=1, progress=False)
        self.assertEqual(net.finetune(X, np.array(list("abc"))[Y], epochs=1, progress=False).classes, list("abc"))

    def test_evaluate_takes_what_training_took(self):
        """Whole numbers were classes for a network of real targets, real ones targets for one of classes."""
        net = tessera.train("mlp", X, Y, **SMALL)
        self.assertEqual(net.evaluate(X, Y.astype(float)).accuracy, net.evaluate(X, Y).accuracy)
        with self.assertRaisesRegex(tessera.UsageError, "real numbers"):
            net.evaluate(X, Y + 0.5)
        real = tessera.train("mlp", X, 100 * X[:, 0], **SMALL)
        whole = np.round(100 * X[:, 0])
        self.assertEqual(real.evaluate(X, whole.astype(int)).rmse, real.evaluate(X, whole).rmse)

    def test_targets_that_single_precision_cannot_tell_apart(self):
        for y in (1.7e9 + X[:, 0].astype(float), 1700000000 + Y):
            with self.assertWarnsRegex(UserWarning, "y: .* single precision cannot tell them apart"):
                tessera.data(X, y, regress=True)

    def test_words(self):
        words = np.array(["zero", "one", "two"])[Y]
        for y in (words, words.astype(object), words.astype("S"), words.tolist()):
            net = tessera.train("mlp", X, y, **SMALL)
            self.assertEqual(net.classes, ["one", "two", "zero"])
            self.assertGreater((np.array(net.classes)[net.predict(X)] == words).mean(), 0.9)
            np.testing.assert_allclose(net.predict_proba(X).sum(1), 1, atol=1e-5)

    def test_words_that_are_the_same_number(self):
        """They were judged, and answered, as if they were one class."""
        for names in (["01", "1"], ["007", "7", "+7"], ["0", "-0"]):
            y = Y % len(names)
            words = np.array(sorted(names))[y]
            net = tessera.train("mlp", X, words, **{**SMALL, "epochs": 20})
            self.assertEqual(net.classes, sorted(names))
            self.assertGreater((net.predict(X) == y).mean(), 0.9)
            self.assertGreater(net.evaluate(X, words).accuracy, 0.9)
        codes = tessera.train("mlp", X, np.array(["001", "002", "010"])[Y], **SMALL)
        self.assertGreater((codes.predict(X) == np.array([1, 2, 10])[Y]).mean(), 0.9)

    def test_words_and_numbers(self):
        """Words were classes by their sorted order, numbers by their own: "1" and 1 were two classes, and the accuracy was 0."""
        words = (Y + 1).astype(str)
        for y, test_y in ((words, Y + 1), (Y + 1, words), (words.tolist(), (Y + 1).tolist()), (words.astype("S"), Y + 1),
                          (X[:, 0], words)):
            with self.assertRaisesRegex(tessera.UsageError, "^y holds (words and test_y numbers|numbers and test_y words): give both"):
                tessera.data(X, y, X, test_y)
        self.assertEqual(tessera.data(X, words, X, words.astype(object)).classes, ["1", "2", "3"])
        named = tessera.data(X, Y, X, np.array(list("abc"))[Y], classes=list("abc"))  # numbers are places among those
        np.testing.assert_array_equal(named.test_y, named.y)

    def test_words_that_are_no_text(self):
        """b"K\\xf6ln" and b"K\\xe4ln" became one class."""
        for words in ([b"K\xf6ln", b"K\xe4ln", b"Bonn"], ["\udcf6", "\udce4", "b"]):
            with self.assertRaisesRegex(tessera.UsageError, "y has a word that is not UTF-8"):
                tessera.data(X, np.array(words)[Y])

    def test_real_numbers_that_look_like_classes(self):
        with self.assertWarnsRegex(UserWarning, "regress=False"):
            self.assertIsNone(tessera.data(X, Y.astype(float)).classes)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIsNone(tessera.data(X, Y.astype(float), regress=True).classes)
            self.assertEqual(tessera.data(X, Y.astype(float), regress=False).classes, ["0", "1", "2"])
            self.assertIsNone(tessera.data(X, X[:, 0]).classes)
        with self.assertRaisesRegex(tessera.UsageError, "not classes"):
            tessera.data(X, X[:, 0], regress=False)


class Warnings(unittest.TestCase):
    def test_what_the_library_doubts_is_a_warning(self):
        """Numbers that single precision cannot tell apart; the warning is at the line that called."""
        with self.assertWarnsRegex(UserWarning, "cannot tell them apart") as caught:
            tessera.data(X.astype(float) * 0.01 + 1e9, Y)
        self.assertEqual(os.path.basename(caught.filename), "habits.py")

    def test_classes_are_matched_by_label(self):
        """Judged on one class alone, a network once took it for its first."""
        for first in (0, 1):
            net = tessera.train("mlp", X, Y + first, **{**SMALL, "epochs": 30})
            for k in sorted(set(Y)):
                some = Y == k
                self.assertAlmostEqual(net.evaluate(X[some], Y[some] + first).accuracy,
                                       (net.predict(X[some]) == k + first).mean(), 5)
            with self.assertRaisesRegex(tessera.UsageError, "not trained on"):
                net.evaluate(X, Y + 7)

    def test_whole_numbers_as_inputs(self):
        whole = (10 * X).astype(np.int64)
        net = tessera.train("mlp", whole, Y, **SMALL)
        np.testing.assert_array_equal(net.outputs(whole), net.outputs(whole.astype(np.float32)))
        self.assertEqual(net.predict(whole[:0]).shape, (0,))


class Memory(unittest.TestCase):
    def test_borrowed_is_where_it_was(self):
        x, y = X.copy(), X[:, 0].copy()
        data = tessera.data(x, y, copy=False)
        self.assertEqual((address(data.x), address(data.y)), (address(x), address(y)))
        self.assertFalse(data.x.flags.writeable)
        view = data.x
        data.close()
        del data, x
        gc.collect()
        np.testing.assert_array_equal(view, X)  # the view keeps what it looks at

    def test_parameters_are_views(self):
        net = tessera.model("mlp", shape=(4,), outputs=2, hidden=[8])
        seen, copied = net.parameters(copy=False), net.parameters()
        self.assertEqual([address(v) for v in seen.values()], [address(v) for v in net.parameters(copy=False).values()])
        for name, values in seen.items():
            np.testing.assert_array_equal(values, copied[name])
            self.assertNotEqual(address(values), address(copied[name]))
        net.close()
        gc.collect()
        np.testing.assert_array_equal(seen["layers.0.weight"], copied["layers.0.weight"])

    @unittest.skipUnless(torch, "python3-torch is not installed")
    def test_tensors_are_where_they_were(self):
        x, y = torch.from_numpy(X.copy()), torch.from_numpy(X[:, 0].copy())
        data = tessera.data(x, y, copy=False)
        self.assertEqual((address(data.x), address(data.y)), (x.data_ptr(), y.data_ptr()))

        class Only:  # an array of a library that speaks DLPack and nothing else
            def __dlpack__(self, stream=None):
                return x.__dlpack__()

            def __dlpack_device__(self):
                return x.__dlpack_device__()
        data = tessera.data(Only(), y, copy=False)
        self.assertEqual(address(data.x), x.data_ptr())
        # and out again: torch reads what numpy shows, without a copy
        weights = tessera.model("mlp", shape=(4,), outputs=2, hidden=[8]).parameters()
        self.assertEqual(torch.from_dlpack(weights["layers.0.weight"]).data_ptr(), address(weights["layers.0.weight"]))
        answers = tessera.model("mlp", shape=(4,), outputs=2).outputs(x)
        self.assertEqual(torch.from_dlpack(answers).data_ptr(), address(answers))

    @unittest.skipUnless(torch, "python3-torch is not installed")
    def test_tensors_of_other_classes(self):
        """Of a class of somebody's own one that needs a gradient was PyTorch's RuntimeError; one with a negative bit was refused."""
        mine = type("Mine", (torch.Tensor,), {"__module__": "mine"})
        x = torch.from_numpy(X).as_subclass(mine).clone().requires_grad_()
        data = tessera.data(x, torch.from_numpy(Y))
        np.testing.assert_array_equal(data.x, X)
        np.testing.assert_array_equal(tessera.data(list(x), list(torch.from_numpy(Y))).x, X)
        np.testing.assert_array_equal(tessera.data(torch._neg_view(torch.from_numpy(-X)), Y).x, X)
        np.testing.assert_array_equal(tessera.data(torch.complex(torch.from_numpy(X), torch.from_numpy(-X)).conj().imag, Y).x, X)

    @unittest.skipUnless(torch, "python3-torch is not installed")
    def test_a_module_goes_in_and_comes_back(self):
        made = tessera.model("resnet18", shape=(3, 32, 32), outputs=10, width=8)
        for given in (made.state_dict(), type("Module", (), {"state_dict": lambda self: made.state_dict()})(), made.parameters(),
                      made.parameters(copy=False)):
            again = tessera.import_network(given, "resnet18", side=32)
            for name, values in made.state_dict().items():
                self.assertTrue(torch.equal(values, again.state_dict()[name]), name)

    def test_buffers(self):
        import array
        flat = array.array("d", X[:2].ravel().tolist())
        net = tessera.model("mlp", shape=(4,), outputs=2)
        want = net.outputs(X[:2])
        np.testing.assert_array_equal(net.outputs(memoryview(flat).cast("B").cast("d", (2, 4))), want)
        np.testing.assert_array_equal(net.outputs(X[:2].tolist()), want)
        frozen = X[:2].copy()
        frozen.flags.writeable = False
        np.testing.assert_array_equal(net.outputs(frozen), want)


class Lives(unittest.TestCase):
    def test_copies_and_pickles(self):
        net = tessera.train("mlp", X, Y, **SMALL)
        for other in (copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            np.testing.assert_array_equal(other.outputs(X), net.outputs(X))
            self.assertEqual(other.accuracy, net.accuracy)
            np.testing.assert_array_equal(other.metrics["round"], net.metrics["round"])
        config = tessera.Config(lr=0.25, hidden=[3])
        for other in (copy.copy(config), copy.deepcopy(config), pickle.loads(pickle.dumps(config)), tessera.Config(dict(config))):
            self.assertEqual((other["lr"], other["hidden"]), ("0.25", "[3]"))

    def test_many_lives(self):
        """Nothing is left of handles that were made and ended, with and without close(); TESSERA_LIFE says how often."""
        net = tessera.model("mlp", shape=(4,), outputs=3, hidden=[8])
        data = tessera.data(X[:4], Y[:4])
        memory = tessera._library.library.tsr_memory_in_use

        def live(i):
            made = net.copy()
            share = tessera.Share(made).draw("chunks", workers=2)
            tessera.put(made, [share], [share.take(made)])
            made.predict(X[:1])
            tessera.Config(lr=0.1)
            tessera.data(X[:4], Y[:4], copy=i % 2 == 0)
            if i % 2:
                made.close()
        for i in range(20):
            live(i)
        gc.collect()
        before, resident = memory(), resident_bytes()
        for i in range(int(os.environ.get("TESSERA_LIFE", "500"))):
            live(i)
        gc.collect()
        self.assertEqual(memory(), before)
        self.assertLess(resident_bytes() - resident, 20e6)
        data.close()

    def test_kernels_are_not_those_of_2004(self):
        """Where tessera is imported first, numpy's OpenBLAS has the right kernels, and nobody needs to be warned."""
        code = ("import tessera, numpy as np\n"
                "tessera.train('mlp', np.eye(8, dtype='f'), [0, 1] * 4, hidden=[4], epochs=1, batch=4, threads=1)")
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env={**os.environ, "OPENBLAS_CORETYPE": ""})


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Looks(unittest.TestCase):
    def test_everything_is_documented_and_typed(self):
        """help() has a sentence for, and editors know the types of, whatever a program may call."""
        import tessera.sklearn as estimators
        things = {name: getattr(tessera, name) for name in tessera.__all__ if name != "KEYS"}
        things |= {"TesseraClassifier": estimators.TesseraClassifier, "TesseraRegressor": estimators.TesseraRegressor}
        checked = 0
        for name, thing in things.items():
            self.assertTrue(inspect.getdoc(thing), name)
            members = [(name, thing)] if not inspect.isclass(thing) else [
                (f"{name}.{k}", v.fget if isinstance(v, property) else getattr(v, "__func__", v))
                for k, v in vars(thing).items() if isinstance(v, property) or inspect.isroutine(getattr(v, "__func__", v))]
            for what, member in members:
                if what.rpartition(".")[2].startswith("_") and not what.endswith("__init__") or not inspect.isfunction(member):
                    continue
                signature = inspect.signature(member)
                self.assertIsNot(signature.return_annotation, inspect.Signature.empty, what)
                for parameter in signature.parameters.values():
                    self.assertTrue(parameter.name in ("self", "cls") or parameter.annotation is not parameter.empty, f"{what}: {parameter}")
                if not what.endswith("__init__"):
                    self.assertTrue(inspect.getdoc(member), what)
                checked += 1
        self.assertGreater(checked, 80)

    def test_the_bar_in_a_terminal(self):
        """It stays in its line: at 80 columns it was longer, so that the terminal scrolled with every update."""
        code = ("import tessera, time\ndata = tessera.data('glyphs', n=200, test_n=100)\n"
                "tessera.train('mlp', data, hidden=[8], epochs=100, batch=20, threads=1, on_round=lambda p: time.sleep(0.0005))")
        for columns in (80, 40, 12):
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            process = subprocess.Popen([sys.executable, "-c", code], stderr=slave)
            os.close(slave)
            said = b""
            try:
                while piece := os.read(master, 65536):
                    said += piece
            except OSError:  # nobody writes any more
                pass
            self.assertEqual((process.wait(), os.close(master)), (0, None))
            shown = said.decode().replace("\r\n", "\n")
            self.assertTrue(shown.endswith("\n") and shown.count("\n") == 1, shown[-200:])
            lines = shown.strip("\r\n").split("\r")
            self.assertGreater(len(lines), 2)
            self.assertLess(max(map(len, lines)), columns)
            if columns >= 80:
                self.assertRegex(lines[-1], r"^█+ 100 %  round 1000/1000  loss [0-9.e-]+  test [0-9.]+ %\s*$")
                self.assertRegex(lines[-2], r"^█+·* +\d+ %  round \d+/1000  loss .* s left\s*$")

    def test_the_tab_key(self):
        self.assertEqual([name for name in dir(tessera) if not name.startswith("_")], sorted(tessera.__all__))
        self.assertIn("optim.lr", tessera.Config()._ipython_key_completions_())

    def test_functions_of_c_say_what_the_header_says(self):
        from tessera import _library
        self.assertIn("Reads a model.safetensors", _library.library.tsr_model_read.__doc__)

    def test_reprs(self):
        net = tessera.train("mlp", X, Y, **SMALL)
        self.assertEqual(repr(net), "<mlp: 131 numbers in 4 parameters, 3 classes>")
        self.assertRegex(repr(net.result), "<loss .*, accuracy .* % on 60 samples>")
        self.assertIn("lr=0.05", repr(net.config))
        self.assertIn("300 samples of (4, 1, 1)", repr(tessera.data(X, Y)))


class Program(unittest.TestCase):
    def test_both_ways(self):
        """A model of Python's in the program, and the other way round: the same answers, names kept."""
        with tempfile.TemporaryDirectory() as folder:
            table = "a,b,c,kind\n" + "".join(f"{x[0]},{x[1]},{x[2]},{'odd' if y else 'even'}\n" for x, y in zip(X, Y % 2))
            with open(folder + "/t.csv", "w", encoding="utf-8") as file:
                file.write(table)
            with open(folder + "/run.yaml", "w", encoding="utf-8") as file:
                file.write(f"data: {{path: {folder}/t.csv, target: kind}}\nmodel: {{hidden: [8]}}\nepochs: 5\nbatch: 30\n")
            tessera_of("train", folder + "/run.yaml", "--out", folder + "/run", "--quiet")
            theirs = tessera.load(folder + "/run/model.safetensors")
            self.assertEqual((theirs.classes, theirs.columns), (["even", "odd"], ["a", "b", "c"]))
            tessera_of("predict", folder + "/run/model.safetensors", "--data", folder + "/t.csv", "--out", folder + "/y.npy")
            np.testing.assert_allclose(theirs.outputs(X[:, :3]), np.load(folder + "/y.npy"), atol=1e-5)
            # trained further here, judged there
            ours = theirs.finetune(tessera.data(folder + "/t.csv", target="kind"), epochs=2)
            ours.save(folder + "/ours.safetensors")
            self.assertEqual((ours.classes, ours.columns), (["even", "odd"], ["a", "b", "c"]))
            said = json.loads(tessera_of("eval", folder + "/ours.safetensors", "--data", folder + "/t.csv", "--json"))
            self.assertAlmostEqual(said["accuracy"], ours.evaluate(tessera.data(folder + "/t.csv", target="kind")).accuracy, 5)

    def test_columns_of_arrays_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            net = tessera.train("mlp", X, Y, data={"columns": list("abcd"), "target": "kind"}, **SMALL)
            net.save(folder + "/m.safetensors")
            with open(folder + "/new.csv", "w", encoding="utf-8") as file:  # other order, no target
                file.write("d,c,b,a\n" + "".join(",".join(map(repr, row[::-1].tolist())) + "\n" for row in X))
            tessera_of("predict", folder + "/m.safetensors", "--data", folder + "/new.csv", "--out", folder + "/y.npy")
            np.testing.assert_allclose(net.outputs(X), np.load(folder + "/y.npy"), atol=1e-5)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    program = unittest.main(exit=False, verbosity=1)
    print(f"habits: {program.result.testsRun} tests, {len(program.result.skipped)} skipped")
    sys.exit(not program.result.wasSuccessful())
