// The program's manners: exit codes, stderr, and what becomes of files.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "cli/check_refused.h"
#include "cli/run_attn.h"
#include "io/read_file.h"
#include "support/temporary_folder.h"

using namespace attn;

namespace {

// One line on stderr, nothing on stdout.
void check_refused(const std::vector<std::string>& arguments, int exit_code, const std::string& message, const RunOptions& options = {}) {
  std::string call;
  for (const std::string& argument : arguments) call += argument + " ";
  INFO(call);
  check_refused(run_attn(arguments, options), exit_code, {message});
}

}  // namespace

TEST_CASE("a file is not written over another one of the same call, read or written") {
  const TemporaryFolder folder;
  folder.write("kept.txt", "kept");
  const std::string kept = folder / "kept.txt";
  check_refused({"figure", "sentence", "--svg", kept, "--out", kept}, 2, "expected two files");
  check_refused({"scaling-sweep", "--trials", "2", "--expect", kept, "--out", kept}, 2, "expected two files");
  check_refused({"run", "--q", kept, "--k", "k.npy", "--v", "v.npy", "--save-output", kept}, 2, "expected two files");
  check_refused({"run", "--q", "q.npz#q", "--k", "q.npz#k", "--v", "q.npz#v", "--out", "./q.npz"}, 2, "expected two files");
  CHECK(read_file(kept) == "kept");
}

TEST_CASE("a required option that is misspelt gets a hint; --explain takes nothing that it would ignore") {
  check_refused({"run", "--q", "q.npy", "--k", "k.npy", "--vv", "v.npy"}, 2, "unknown option '--vv'; did you mean '--v'?");
  check_refused({"check", "--q", "q", "--k", "k", "--v", "v", "--expect-outptu", "o"}, 2, "did you mean '--expect-output'?");
  check_refused({"run", "--q", "q.npy", "--k", "k.npy"}, 2, "--v is required");
  check_refused({"timing-sweep", "--explain", "--dry-run"}, 2, "--explain");
  check_refused({"timing-sweep", "--explain", "--what", "fused"}, 2, "--explain");
}

TEST_CASE("usage errors are one line that names the fault, exit 2") {
  check_refused({}, 2, "no subcommand");
  check_refused({"dmeo"}, 2, "unknown subcommand 'dmeo'; did you mean 'demo'?");
  check_refused({"--jsn"}, 2, "unknown option '--jsn'");
  check_refused({"demo", "--sed", "3"}, 2, "unknown option '--sed'; did you mean '--seed'?");
  check_refused({"demo", "--sed=3"}, 2, "unknown option '--sed'; did you mean '--seed'?");
  check_refused({"demo", "extra"}, 2, "unexpected argument 'extra'");
  check_refused({"demo", "--seed"}, 2, "--seed");
  check_refused({"demo", "--seed", "-1"}, 2, "--seed: expected a non-negative integer, found '-1'");
  check_refused({"demo", "--seed", "1.5"}, 2, "--seed");
  check_refused({"demo", "--document", "3"}, 2, "--document: expected 1 or 2, found '3'");
  check_refused({"demo", "--format", "yaml"}, 2, "--format");
  check_refused({"demo", "--isa", "AVX9"}, 2, "AVX9");
  check_refused({"demo"}, 2, "nonsense", {{{"ATTN_ISA", "nonsense"}}, "", "", ""});
  check_refused({"demo", "--threads", "0"}, 2, "--threads");
  check_refused({"demo", "--threads", "1000000"}, 2, "threads");
  check_refused({"causal", "--document", "2", "--seed", "1"}, 2, "--seed");
  check_refused({"reproduce", "--documents", "/tmp"}, 2, "--check");
  check_refused({"reproduce", "--seed", "1"}, 2, "--seed");
  for (const char* sizes : {"0", "4,,16", "12abc", "4096..512", "512..", "-3", "", "1e400"}) {
    check_refused({"scaling-sweep", "--dk", sizes}, 2, "--d-k");
    check_refused({"timing-sweep", "--n", sizes}, 2, "--n");
  }
}

TEST_CASE("a size that is none is named with what it stood in") {
  check_refused({"scaling-sweep", "--dk", "4..x"}, 2, "found '4..x'");
  check_refused({"scaling-sweep", "--dk", "4..x2"}, 2, "found '4..x2'");
  check_refused({"scaling-sweep", "--dk", "4..16+"}, 2, "found '4..16+'");
  check_refused({"timing-sweep", "--n", "99999999999999999999"}, 2,
                "--n: expected a whole number below 2^63, found '99999999999999999999'");
  check_refused({"timing-sweep", "--n", "9007199254740993M"}, 2, "below 2^63");
  check_refused({"demo", "--threads", "9999999"}, 2, "--threads: expected 1 to ");
  check_refused({"demo", "--format", "text", "--json"}, 2, "--json: expected no other --format beside it, found text");
}

TEST_CASE("an option that says nothing about what is timed is refused") {
  for (const char* option : {"--heads", "--kv-heads", "--batch", "--d-v"}) {
    check_refused({"timing-sweep", "--what", "gemm", option, "2"}, 2,
                  std::string(option) + ": expected a --what that has it, found gemm alone");
  }
  check_refused({"timing-sweep", "--what", "scores,gemm", "--causal"}, 2, "--causal: expected a --what that has it, found scores,gemm");
  check_refused({"timing-sweep", "--what", "scores", "--softcap", "3"}, 2, "--softcap");
  check_refused({"timing-sweep", "--what", "gemm", "--window", "3,0"}, 2, "--window");
  check_refused({"timing-sweep", "--what", "decode", "--n-k", "8"}, 2, "--n-k");
  CHECK(run_attn({"timing-sweep", "--what", "gemm,fused", "--causal", "--heads", "2", "--n", "8", "--reps", "1", "--quiet"}).exit_code ==
        0);
}

TEST_CASE("help and version go to stdout, exit 0") {
  CHECK(contains(run_attn({"--help"}).out, "scaling-sweep"));
  CHECK(contains(run_attn({"demo", "--help"}).out, "--d-model"));
  CHECK(run_attn({"--version"}).out.starts_with("attn "));
  CHECK(run_attn({"--help"}).exit_code == 0);
}

TEST_CASE("timing-sweep refuses what makes no sense before anything runs") {
  check_refused({"timing-sweep", "--what", "flash"}, 2, "--what: expected scores, standard, fused, decode or gemm, found 'flash'");
  check_refused({"timing-sweep", "--what", "scores,,fused"}, 2, "--what");
  check_refused({"timing-sweep", "--dtype", "f16"}, 2, "--dtype: expected f32 or f64, found 'f16'");
  check_refused({"timing-sweep", "--protocol", "fast"}, 2, "--protocol");
  check_refused({"timing-sweep", "--protocol", "article", "--what", "fused"}, 2, "--protocol");
  check_refused({"timing-sweep", "--what", "fused", "--heads", "8", "--kv-heads", "3"}, 2,
                "--kv-heads: expected a divisor of 8 heads, found 3");
  check_refused({"timing-sweep", "--what", "fused", "--window", "3"}, 2, "--window");
  check_refused({"timing-sweep", "--what", "fused", "--softcap", "-1"}, 2, "--softcap");
  check_refused({"timing-sweep", "--max-time", "0"}, 2, "--max-time");
  check_refused({"timing-sweep", "--vs", "nothing"}, 2, "--vs: expected NAME=PATH, found 'nothing'");
  check_refused({"timing-sweep", "--what", "fused", "--vs", "c=libc.so.6"}, 3, "libc.so.6");
  check_refused({"timing-sweep", "--vs", "blas=/no/such/library.so"}, 3, "/no/such/library.so");
}

TEST_CASE("files that cannot be read or written are found out before the work, exit 3") {
  const attn::TemporaryFolder folder;
  check_refused({"demo", "--out", (folder.path() / "no/such/folder.json").string()}, 3, "No such file or directory");
  check_refused({"demo", "--expect", (folder.path() / "absent").string()}, 3, "absent: open: No such file");
  check_refused({"reproduce", "--check", "--documents", (folder.path() / "absent").string()}, 3, "absent/1-example.txt");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("--out writes the JSON document besides, whole") {
  const attn::TemporaryFolder folder;
  std::ofstream((folder.path() / "out.json").string()) << "before";
  const Outcome outcome = run_attn({"demo", "--out", (folder.path() / "out.json").string()});
  CHECK(outcome.out == run_attn({"demo"}).out);
  CHECK(attn::read_file((folder.path() / "out.json").string()).starts_with("{\n  \"schema_version\": 1,"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a full disk is an error, on stdout and in a file") {
  if (!std::filesystem::exists("/dev/full")) return;
  RunOptions full;
  full.stdout_file = "/dev/full";
  check_refused({"demo"}, 3, "stdout: write: No space left on device", full);
  check_refused({"demo", "--out", "/dev/full"}, 3, "No space left on device");
}

TEST_CASE("a closed pipe ends the program quietly") {
  const attn::TemporaryFolder folder;
  const std::string command = "bash -c \"set -o pipefail; '" ATTN_PROGRAM "' reproduce 2>" + (folder.path() / "err").string() + " | true\"";
  std::system(command.c_str());
  CHECK(attn::read_file((folder.path() / "err").string()).empty());
}

TEST_CASE("it runs from any directory") {
  RunOptions elsewhere;
  elsewhere.directory = "/";
  CHECK(run_attn({"demo"}, elsewhere).exit_code == 0);
}
