#!/usr/bin/env python3
"""cases.py ASSAY FOLDER… [--only TEXT] [--jobs N] [--verbose]

Tries every row of each FOLDER/expected.tsv (file, expectation, note) with the command line:

  match      the network converts, and the source and each written file predict what expected.npz says; without
             expected.npz, every layer agrees with a second reading of the source. A refusal is a failure.
  refused    exit code 2 and one line that starts with `error:`
  warned …   a `warning:` line
  …          what CHECKS below lists; an expectation that none of them knows is a failure

Each row ends as `as stated`, `wrong` (a wrong number or a missing refusal or warning), `refused` (where a match is
due) or `broken` (a crash, another exit code, more than 60 s). Exit code 1 unless all rows are as stated."""
import argparse, concurrent.futures, json, os, re, resource, shutil, signal, struct, subprocess, sys, tempfile, time, zipfile

CODES = {0, 1, 2, 64, 66, 73, 74, 75}


class Failed(Exception):
    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


class Case:
    def __init__(self, assay, path, scratch):
        self.assay, self.path, self.scratch = assay, path, scratch
        self.folder = os.path.dirname(path)
        stem, ending = os.path.splitext(path)
        weights = stem + ".caffemodel"
        self.model = [path] + ([weights] if ending == ".prototxt" and os.path.exists(weights) else [])

    def beside(self, name):
        path = os.path.join(self.folder, name)
        return path if os.path.exists(path) else None

    def out(self, name):
        return os.path.join(self.scratch, name)

    def assay_(self, *arguments, limit=60, allowed=CODES):
        """Exit code and both outputs; a signal, another exit code or a time-out is `broken`."""
        try:
            r = subprocess.run([self.assay, *arguments], capture_output=True, timeout=limit, cwd=self.scratch,
                               stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Failed("broken", f"{arguments[0]} takes more than {limit} s")
        r.out, r.err = r.stdout.decode("utf-8", "replace"), r.stderr.decode("utf-8", "replace")
        if r.returncode not in allowed:
            raise Failed("broken", f"{arguments[0]}: exit code {r.returncode}: {last(r.err)}")
        return r

    def succeeds(self, *arguments, kind="wrong"):
        r = self.assay_(*arguments)
        if r.returncode:
            raise Failed("refused" if r.returncode == 2 else kind, f"{arguments[0]}: {last(r.err or r.out)}")
        return r

    def convert(self, name, *options):
        target = self.out(name)
        self.succeeds("convert", *self.model, "-o", target, *options)
        return target

    def is_refused(self, *arguments):
        r = self.assay_(*arguments)
        if r.returncode != 2 or not any(line.startswith("error:") for line in r.err.splitlines()):
            raise Failed("wrong", f"{arguments[0]}: exit code {r.returncode}, expected a refusal: {last(r.err or r.out)}")

    def warns(self, *arguments):
        r = self.assay_(*arguments, allowed={0})
        if not any(line.startswith("warning:") for line in r.err.splitlines()):
            raise Failed("wrong", f"{arguments[0]}: no warning")
        return r


def last(text):
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error:") or "DIFFERS" in line]
    return (errors or lines or ["no message"])[0][:220]


def write_npy(path, values, shape=None, kind="<f4"):
    shape = tuple(shape or (len(values),))
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    code = {"<f4": "f", "<f8": "d", "<i4": "i"}[kind]
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        f.write(struct.pack(f"<{len(values)}{code}", *values))
    return path


def read_npy(data):
    size = int.from_bytes(data[8:10], "little")
    head = data[10:10 + size].decode("latin-1")
    kind = re.search(r"'descr': '(.*?)'", head).group(1)
    shape = tuple(int(x) for x in re.search(r"'shape': \((.*?)\)", head).group(1).split(",") if x.strip())
    code = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}[kind]
    body = data[10 + size:]
    return shape, list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))


def read_arrays(path):
    if path.endswith(".npy"):
        with open(path, "rb") as f:
            return {"": read_npy(f.read())}
    with zipfile.ZipFile(path) as z:
        return {n[:-4]: read_npy(z.read(n)) for n in z.namelist() if n.endswith(".npy")}


def predictions(case, *arguments):
    """The outputs of `assay run`, read from a written file."""
    target = case.out("outputs.npz")
    case.succeeds("run", *arguments, "-o", target)
    return read_arrays(target)


# The fields of caffe.proto that hold weights: NetParameter.layer 100 and layers 2; LayerParameter.name 1, blobs 7;
# V1LayerParameter.name 4, blobs 6; BlobProto.data 5, double_data 8.
def fields(data):
    i = 0
    def varint():
        nonlocal i
        value = shift = 0
        while True:
            byte = data[i]; i += 1
            value |= (byte & 127) << shift; shift += 7
            if byte < 128: return value
    while i < len(data):
        key = varint()
        if key & 7 == 0: yield key >> 3, varint()
        elif key & 7 == 1: yield key >> 3, data[i:i + 8]; i += 8
        elif key & 7 == 5: yield key >> 3, data[i:i + 4]; i += 4
        else:
            size = varint()
            yield key >> 3, data[i:i + size]; i += size


def caffe_weights(path):
    """Values of each layer's blobs by Caffe's rules: the last layer of a name counts, and double_data before data."""
    with open(path, "rb") as f:
        data = f.read()
    layers = {}
    for number, message in fields(data):
        if number not in (2, 100) or isinstance(message, int): continue
        name_field, blob_field = (1, 7) if number == 100 else (4, 6)
        name, blobs = "", []
        for n, value in fields(message):
            if n == name_field: name = value.decode()
            if n == blob_field:
                single, double = [], []
                for k, v in fields(value):
                    if k == 5: single += struct.unpack(f"<{len(v) // 4}f", v)
                    if k == 8: double += struct.unpack(f"<{len(v) // 8}d", v)
                blobs.append(double or single)
        if blobs: layers[name] = blobs
    return layers


# MARK: expectations

def match(case):
    inputs, expected = case.beside("inputs.npz"), case.beside("expected.npz")
    if not expected:
        target = case.convert("m.mlmodel", "--prove")
        case.succeeds("diff", *case.model, target)
        return
    tolerance = ["--rtol", "1e-3", "--atol", "1e-4"]
    def agrees(model):
        r = case.assay_("diff", *model, inputs, "--expected", expected, *tolerance)
        if r.returncode == 2: raise Failed("refused", last(r.err))
        if r.returncode: raise Failed("wrong", f"{os.path.basename(model[0])}: {last(r.out + r.err)}")
    agrees(case.model)
    written = []
    for name in ("m.mlmodel", "m.mlpackage"):
        r = case.assay_("convert", *case.model, "-o", case.out(name))
        if r.returncode == 0: written.append(case.out(name))
        else: refusal = last(r.err)
    if not written: raise Failed("refused", refusal)
    for path in written: agrees([path])


def refused(case):
    case.is_refused("convert", *case.model, "-o", case.out("m.mlmodel"))
    if os.path.exists(case.out("m.mlmodel")): raise Failed("wrong", "a file was written")


def anything(case):
    case.assay_("convert", *case.model, "-o", case.out("m.mlmodel"), allowed={0, 2})


def by_order_or_refused(case):
    """Keras gives the n-th group of weights to the n-th layer; a second reading of the file must agree."""
    r = case.assay_("convert", *case.model, "-o", case.out("m.mlmodel"), allowed={0, 2})
    if r.returncode: return
    import h5py, numpy  # to read the groups in their order
    with h5py.File(case.path) as f:
        group = f["model_weights"] if "model_weights" in f else f
        config = json.loads(f.attrs["model_config"])["config"]["layers"]
        value = None
        for name in group.attrs["layer_names"]:
            weights = [group[name][w][()] for w in group[name].attrs["weight_names"]]
            if weights:
                value = weights[0] if value is None else value @ weights[0]
    size = value.shape[0]
    x = [float(i + 1) for i in range(size)]
    got = predictions(case, case.out("m.mlmodel"), write_npy(case.out("x.npy"), x))
    want = numpy.array(x) @ value
    if not numpy.allclose(list(got.values())[0][1], want, rtol=1e-4):
        raise Failed("wrong", "the weights are not paired by order")


def bounded(case, seconds, mebibytes):
    before = time.monotonic()
    pid = os.posix_spawn(case.assay, [case.assay, "convert", *case.model, "-o", case.out("m.mlmodel")], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                                       (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    took = time.monotonic() - before
    if os.WIFSIGNALED(status): raise Failed("broken", f"signal {os.WTERMSIG(status)}")
    if took > seconds or usage.ru_maxrss > mebibytes * 1024:
        raise Failed("wrong", f"{took:.1f} s, {usage.ru_maxrss // 1024} MiB")


def caffe_rule(case):
    target = case.convert("m.mlmodel")
    case.succeeds("inspect", target, "--export-weights", case.out("weights"), "--weight-format", "raw")
    want = [v for blobs in caffe_weights(case.model[1]).values() for blob in blobs for v in blob]
    got = []
    for name in sorted(os.listdir(case.out("weights"))):
        with open(os.path.join(case.out("weights"), name), "rb") as f:
            data = f.read()
        if len(data) % 4 == 0 and not name.endswith((".json", ".txt", ".swift")):
            got += struct.unpack(f"<{len(data) // 4}f", data)
    if sorted(got) != sorted(struct.unpack(f"<{len(want)}f", struct.pack(f"<{len(want)}f", *want))):
        raise Failed("wrong", "the weights are not those that Caffe would use")


def inputs_of(case, value=1.0, kind="<f4"):
    """An array for the only input of a Core ML model."""
    r = case.succeeds("inspect", case.path, "--json")
    declared = json.loads(r.out)["inputs"][0]
    shape = declared.get("shape") or declared.get("type", {}).get("shape") or [4]
    count = 1
    for side in shape: count *= side
    return write_npy(case.out("x.npy"), [value] * count, shape, kind)


def refused_when_run(case, value):
    case.is_refused("run", case.path, inputs_of(case, value))


def warned_when_run(case, value):
    case.warns("run", case.path, inputs_of(case, value, "<f8"))


def warned(case):
    case.warns("run", case.path, inputs_of(case, 2.0))


def warned_or_rounded(case):
    x = inputs_of(case, 1.3)
    r = case.assay_("run", case.path, x, allowed={0})
    values = [v for _, a in predictions(case, case.path, x).values() for v in a]
    if "warning:" not in r.err and any(v != int(v) for v in values):
        raise Failed("wrong", "fractions in an int32 output")


def warned_by_run_and_check(case):
    warned(case)
    r = case.assay_("check", case.path)
    if "warning" not in r.out + r.err: raise Failed("wrong", "check does not warn")


def no_formula_in_cells(case):
    target = case.out("cells.csv")
    case.succeeds("run", case.path, inputs_of(case), "-o", target)
    folder = case.out("inputs")
    os.mkdir(folder)
    for name in ("a.npy", "b.npy"): shutil.copy(case.out("x.npy"), os.path.join(folder, name))
    several = case.out("several.csv")
    case.succeeds("run", case.path, folder, "-o", several)
    import csv
    for path in (target, several):
        with open(path, newline="", encoding="utf-8") as f:
            for row in csv.reader(f):
                for cell in row:
                    if cell[:1] in "=+-@" and cell and not re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?|[-+]?(inf|nan)", cell, re.I):
                        raise Failed("wrong", f"a cell is {cell!r}")


def no_attribute_escapes(case):
    target = case.out("graph.dot")
    case.succeeds("inspect", case.path, "--graph", target)
    with open(target, encoding="utf-8") as f:
        text = f.read()
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    if "URL" in bare or "javascript" in bare: raise Failed("wrong", "an attribute escapes from its quotes")


def suggestion_is_quoted(case):
    """No command of the text runs the name's part behind a quote: the shell reads it as one word."""
    r = case.assay_("check", case.path)
    x = inputs_of(case)
    text = r.out + r.err
    for arguments in (("run", case.path, x, "--layer", "nosuch"), ("diff", case.path, case.path, x),
                      ("edit", case.path, "-o", case.out("e.mlmodel"), "--rename", "nosuch=z"), ("bench", case.path)):
        r = case.assay_(*arguments)
        text += r.out + r.err
    for line in text.splitlines():
        for command in re.findall(r"(assay .*)", line):
            subprocess.run(["sh", "-c", "assay() { :; }; " + command], cwd=case.scratch, capture_output=True, timeout=10)
    if any(name.startswith("PWN") for name in os.listdir(case.scratch)):
        raise Failed("wrong", "a suggested command runs what a name contains")


def end_within(case, seconds):
    copy = case.out("copy.mlpackage")
    shutil.copytree(case.path, copy)
    for path, _, names in os.walk(copy):
        for p in [path] + [os.path.join(path, n) for n in names]: os.chmod(p, 0o755)
    for arguments in (("edit", copy, "-o", case.out("e.mlpackage")), ("check", copy), ("diff", copy, copy)):
        case.assay_(*arguments, limit=seconds)


def nothing_lost(case):
    work = case.out("work")
    os.mkdir(work)
    environment = dict(os.environ, A=case.assay, M=os.path.join(case.folder, "small.mlmodel"))
    subprocess.run(["sh", case.path], cwd=work, env=environment, capture_output=True, timeout=120)
    for name in ("victim/thesis.tex", "victim/sub/data.csv", "notes.mlpackage/sub/thesis.tex"):
        if not os.path.exists(os.path.join(work, name)): raise Failed("wrong", f"{name} is lost")
    left = [n for n in os.listdir(work) if n.startswith(".") and not n.endswith(".999999.partial")]
    if left: raise Failed("wrong", f"left behind: {', '.join(left)}")


ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# read-only questions about itself, which memory allocation and abort need
HARMLESS = ("landlock", "prctl")


def sandbox(case):
    program = case.out("sandbox")
    build = subprocess.run(["gcc", "-w", "-D_GNU_SOURCE", f"-I{ROOT}", f"-I{ROOT}/Sources/CSystem/include", "-o",
                            program, case.path], capture_output=True, text=True)
    if build.returncode: raise Failed("broken", last(build.stderr))
    victim = subprocess.Popen(["sleep", "60"])
    try:
        h5 = case.out(".h5")
        shutil.copy(case.beside("order.h5"), h5)
        r = subprocess.run([program, h5, str(victim.pid)], cwd=case.scratch, capture_output=True, text=True, timeout=60)
    finally:
        victim.kill(); victim.wait()
    allowed = [line for line in r.stdout.splitlines() if " ALLOWED" in line and not line.startswith(HARMLESS)]
    if r.returncode < 0 and not r.stdout: raise Failed("broken", f"signal {-r.returncode}")
    if allowed: raise Failed("wrong", "; ".join(re.sub(r"\s+", " ", line) for line in allowed)[:400])


def caffe_batch(case, shape, inputs):
    """As Caffe, or refused."""
    r = case.assay_("convert", *case.model, "-o", case.out("m.mlmodel"), allowed={0, 2})
    if r.returncode == 2: return
    paths = []
    for name, sides in inputs.items():
        count = 1
        for side in sides: count *= side
        paths.append(f"{name}=" + write_npy(case.out(name + ".npy"), [float(i % 3) for i in range(count)], sides))
    got = list(predictions(case, *case.model, *paths).values())[0][0]
    if [s for s in got if s != 1] != [s for s in shape if s != 1]: raise Failed("wrong", f"the shape is {got}")


def compressed(case, percent):
    arrays = os.path.splitext(case.path)[0] + ".npz"
    before = case.path
    target = case.out("c.mlpackage")
    case.succeeds("compress", before, "-o", target, "--bits", "8")
    a, b = predictions(case, before, arrays), predictions(case, target, arrays)
    for name, (_, values) in a.items():
        largest = max(map(abs, values))
        error = max(abs(x - y) for x, y in zip(values, b[name][1]))
        if error > largest * percent / 100: raise Failed("wrong", f"{name}: error {error:g} of {largest:g}")


def upgrade_keeps(case):
    arrays = os.path.splitext(case.path)[0] + ".npz"
    case.convert("m.mlmodel")
    case.succeeds("compress", case.out("m.mlmodel"), "-o", case.out("c.mlmodel"), "--bits", "8")
    case.succeeds("convert", case.out("c.mlmodel"), "-o", case.out("u.mlpackage"))
    a = predictions(case, case.out("c.mlmodel"), arrays)
    b = predictions(case, case.out("u.mlpackage"), arrays)
    values, others = [list(x.values())[0][1] for x in (a, b)]
    error = max(abs(x - y) for x, y in zip(values, others))
    if error > 1e-5 * max(map(abs, values)): raise Failed("wrong", f"error {error:g}")
    if max(map(abs, values)) == 0: raise Failed("wrong", "all predictions are zero")


def compress_succeeds(case):
    case.succeeds("compress", case.path, "-o", case.out("c.mlpackage"), "--bits", "8")


def undecided(case):
    case.succeeds("inspect", case.path)


# by pattern of the expectation; groups become arguments
CHECKS = [
    (r"match", match), (r"refused", refused), (r"any", anything), (r"by order or refused", by_order_or_refused),
    (r"under (\d+) s and (\d+) MiB", lambda c, s, m: bounded(c, float(s), int(m))),
    (r"the last layer's weights|double_data's weights", caffe_rule),
    (r"refused when run with (\S+)", lambda c, v: refused_when_run(c, float(v))),
    (r"warned when run with (\S+)", lambda c, v: warned_when_run(c, float(v))),
    (r"warned or rounded", warned_or_rounded), (r"warned", warned), (r"warned by run and check", warned_by_run_and_check),
    (r"no cell starts with =", no_formula_in_cells), (r"no attribute escapes", no_attribute_escapes),
    (r"the suggested command is quoted", suggestion_is_quoted),
    (r"edit, check and diff end within (\d+) s", lambda c, s: end_within(c, float(s))),
    (r"nothing lost", nothing_lost), (r"every call outside the list refused", sandbox),
    (r"5×4×2×2 for data .*", lambda c: caffe_batch(c, [5, 4, 2, 2], {"data": [3, 4, 2, 2], "idx": [5]})),
    (r"a scalar for a batch of 2, or refused", lambda c: caffe_batch(c, [], {"data": [2, 3, 4, 4]})),
    (r"compress --bits 8: largest error at most (\S+) % of the largest output", lambda c, p: compressed(c, float(p))),
    (r"convert, compress --bits 8, upgrade: .*", upgrade_keeps), (r"compress --bits 8 succeeds", compress_succeeds),
    (r"undecided.*", undecided),
]


def judge(assay, folder, row):
    name, expectation = row[0], row[1]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for pattern, check in CHECKS:
                found = re.fullmatch(pattern, expectation)
                if found:
                    check(Case(assay, os.path.join(folder, name), scratch), *found.groups())
                    return "as stated", ""
            raise Failed("broken", f"cases.py does not know the expectation '{expectation}'")
        except Failed as failure:
            return failure.kind, str(failure)
        except Exception as failure:
            return "broken", f"{type(failure).__name__}: {failure}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--only", action="append", default=[], help="rows whose file contains this text; repeatable")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="print rows that are as stated, too")
    options = parser.parse_args()
    assay = os.path.abspath(options.assay)
    failed = False
    for folder in options.folders:
        folder = os.path.abspath(folder)
        with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as f:
            rows = [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]
        rows = [r for r in rows if not options.only or any(text in r[0] for text in options.only)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(lambda row: judge(assay, folder, row), rows))
        totals, kinds = {}, {}
        for row, (kind, text) in zip(rows, results):
            totals[kind] = totals.get(kind, 0) + 1
            group = "/".join(row[0].split("/")[:2]) if row[0].startswith("keras/") else row[0].split("/")[0]
            kinds.setdefault(group, {}).setdefault(kind, 0)
            kinds[group][kind] += 1
            if kind != "as stated" or options.verbose: print(f"{kind:9}  {row[0]}  ({row[1]})  {text}")
        for group, counts in kinds.items():
            print(f"{group:48}  " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
        names = ("as stated", "wrong", "refused", "broken")
        print(f"{len(rows)} rows: " + ", ".join(f"{totals.get(k, 0)} {k}" for k in names))
        failed = failed or totals.get("as stated", 0) < len(rows)
    sys.exit(1 if failed else 0)


main()
