"""What scripts/plot makes of documents, up to the drawing: which rows it recognises, which belong to one line, and how fast they grow."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "plots"))

import documents
import series


def attn(*arguments):
    """The rows that the program itself writes."""
    done = subprocess.run([os.environ["ATTN_PROGRAM"], *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["results"]


def kinds(*arguments):
    return {documents.kind_of(row) for row in attn(*arguments)} - {None}


class Documents(unittest.TestCase):
    def test_rows_of_every_sweep_are_recognised(self):
        self.assertEqual(kinds("timing-sweep", "--n", "16,32"), {"time"})
        self.assertEqual(kinds("timing-sweep", "--what", "standard,fused", "--n", "16,32", "--reps", "2"), {"time"})
        self.assertEqual(kinds("scaling-sweep", "--d-k", "4,8", "--trials", "20"), {"scaling"})
        self.assertLessEqual({"gradients"}, kinds("scaling-sweep", "--gradients", "--d-k", "4", "--trials", "20"))
        self.assertEqual(kinds("figure", "sentence"), {"weights"})
        self.assertEqual(kinds("demo"), set())

    def test_rows_that_did_not_pass_are_left_out(self):
        self.assertIsNone(documents.kind_of({"time_s": {"median": 1}, "status": "failed"}))
        self.assertEqual(documents.kind_of({"time_s": {"median": 1}, "status": "passed"}), "time")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("one.json", "two.jsonl", "env.json", "none.json")]
            row = {"time_s": {"median": 1}, "status": "passed"}
            paths[0].write_text(json.dumps({"results": [row]}))
            paths[1].write_text(json.dumps({"context": {}}) + "\n" + json.dumps(row) + "\n")
            paths[2].write_text(json.dumps({"results": [{"ceiling": "copy", "value": 7}]}))
            paths[3].write_text("[]")
            rows, ceilings = documents.rows_of(paths[:3])
            self.assertEqual([r["file"] for r in documents.by_kind(rows, [])["time"]], ["one", "two"])
            self.assertEqual(documents.by_kind(rows[:1], [])["time"][0]["file"], "")
            self.assertEqual(ceilings, {"copy": 7})
            self.assertEqual(documents.by_kind(rows, ["layer"]), {})
            for bad in (paths[3], pathlib.Path(folder) / "missing.json"):
                with self.assertRaises(documents.DocumentFault):
                    documents.read(bad)


class Series(unittest.TestCase):
    def test_the_slope_of_a_power_is_its_exponent(self):
        sizes = [3, 10, 70, 500]
        self.assertAlmostEqual(series.slope(sizes, [5 * n**1.75 for n in sizes]), 1.75)
        self.assertIsNone(series.slope([4], [1]))

    def test_lines_are_named_by_what_tells_them_apart(self):
        rows = [{"algorithm": a, "dtype": "f32", "heads": h, "mask": "none", "seq_q": n} for a in ("standard", "fused") for h in (1, 8) for n in (20, 10)]
        lines = series.lines(rows, "seq_q")
        self.assertEqual(list(lines), ["standard, heads 1", "standard, heads 8", "fused, heads 1", "fused, heads 8"])
        self.assertEqual([row["seq_q"] for row in lines["fused, heads 8"]], [10, 20])
        self.assertEqual(list(series.lines(rows[:2], "seq_q")), ["standard"])

    def test_times(self):
        self.assertEqual(series.seconds({"time_s": {"median": 2, "half_iqr": 0.5, "mean": 3}}), (2, 0.5))
        self.assertEqual(series.seconds({"time_s": {"mean": 3}}), (3, 0))


if __name__ == "__main__":
    unittest.main()
