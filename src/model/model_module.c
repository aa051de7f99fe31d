/* model_module.c - the PyTorch module that is written beside a model file: self-contained Python
 * that builds exactly this network and loads the file, without our code and without a package for
 * safetensors. */
#include "model/model.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "base/number.h"
#include "base/text.h"
#include "data/row_scaling.h"
#include "io/digest.h"
#include "io/file.h"
#include "net/models.h"
#include "net/torch_code.h"

#include <stdio.h>
#include <string.h>

static const char imports[] = "import hashlib\n"
                              "import json\n"
                              "import os\n"
                              "import struct\n"
                              "import warnings\n"
                              "\n"
                              "import torch\n"
                              "from torch import nn\n"
                              "from torch.nn import functional as F\n"
                              "\n";

static const char checker[] =
    "\n"
    "\n"
    "def check_scaling(path, scaling):\n"
    "    \"\"\"Warns of a file whose inputs or targets were scaled otherwise than here.\"\"\"\n"
    "    if SCALED and scaling and hashlib.sha256(scaling.encode()).hexdigest() != SCALED:\n"
    "        warnings.warn(f\"{path} was trained on data that were scaled otherwise than prepare() "
    "\"\n"
    "                      f\"does: tessera prune {path} --ratio 0 --out OTHER writes a module for "
    "it\")\n";

static const char helpers[] =
    "\n"
    "\n"
    "def put(net, name, module):\n"
    "    \"\"\"net.layer1.0.conv1 = module, with what is missing on the way.\"\"\"\n"
    "    *path, last = name.split(\".\")\n"
    "    for part in path:\n"
    "        if part not in net._modules:\n"
    "            net.add_module(part, nn.ModuleDict())\n"
    "        net = net._modules[part]\n"
    "    net.add_module(last, module)\n"
    "\n"
    "\n";

static const char loader[] =
    "\n"
    "\n"
    "def tensors(path):\n"
    "    \"\"\"All tensors of a safetensors file.\"\"\"\n"
    "    types = {\"F32\": torch.float32, \"I64\": torch.int64}\n"
    "    with open(path, \"rb\") as file:\n"
    "        (length,) = struct.unpack(\"<Q\", file.read(8))\n"
    "        header = json.loads(file.read(length))\n"
    "        data = bytearray(file.read())\n"
    "    check_scaling(path, header.pop(\"__metadata__\", {}).get(\"tessera.scaling\"))\n"
    "    found = {}\n"
    "    for name, entry in header.items():\n"
    "        begin, end = entry[\"data_offsets\"]\n"
    "        flat = torch.frombuffer(data[begin:end], dtype=types[entry[\"dtype\"]])\n"
    "        found[name] = flat.reshape(entry[\"shape\"])\n"
    "    return found\n"
    "\n"
    "\n"
    "def load(path=None):\n"
    "    \"\"\"The network with the weights of a file, FILE beside this one by default, for "
    "inference."
    "\"\"\"\n"
    "    net = Net()\n"
    "    net.load_state_dict(tensors(path or "
    "os.path.join(os.path.dirname(os.path.abspath(__file__)),"
    " FILE)))\n"
    "    return net.eval()\n";

/* ---- Inputs and targets --------------------------------------------------------------------- */

static tsr_status numbers(tsri_text *out, const char *name, const float *values, int64_t n)
{
    tsr_status st = TSR_OK;
    char text[TSRI_NUMBER_TEXT];
    TSR_TRY(tsri_text_add(out, "%s = [", name));
    for (int64_t i = 0; i < n; i++)
        TSR_TRY(tsri_text_add(out, "%s%s", i ? ", " : "", tsri_shortest_float(text, values[i])));
    TSR_TRY(tsri_text_add(out, "]\n"));
done:
    return st;
}

/* The constants of prepare(), for the same steps as tsri_scale_row's. */
static tsr_status constants(tsri_text *out, const tsri_row_scaling *r, int64_t dim)
{
    tsr_status st = TSR_OK;
    if (r->fill)
        TSR_TRY(numbers(out, "FILL", r->fill, dim));
    if (r->groups > 0) {
        TSR_TRY(numbers(out, "SHIFT", r->shift, r->groups));
        TSR_TRY(numbers(out, "SCALE", r->scale, r->groups));
    }
done:
    return st;
}

static tsr_status steps(tsri_text *out, const tsri_row_scaling *r, bool vectors)
{
    tsr_status st = TSR_OK;
    char length[TSRI_NUMBER_TEXT];
    const char *shape = r->block > 1 ? "-1, 1, 1" : "INPUT";
    TSR_TRY(
        tsri_text_add(out, "    x = raw.float()%s\n", vectors ? ".reshape(len(raw), *INPUT)" : ""));
    if (!vectors && r->groups == 0 && r->unit == 0)
        TSR_TRY(tsri_text_add(out, "    x = x / 255 if raw.dtype == torch.uint8 else x\n"));
    if (r->fill)
        TSR_TRY(tsri_text_add(
            out, "    x = torch.where(torch.isnan(x), x.new_tensor(FILL).view(INPUT), x)\n"));
    if (r->groups > 0)
        TSR_TRY(tsri_text_add(
            out, "    x = (x - x.new_tensor(SHIFT).view(%s)) * x.new_tensor(SCALE).view(%s)\n",
            shape, shape));
    if (r->unit > 0)
        TSR_TRY(tsri_text_add(out,
                              "    size = x.double().flatten(1).norm(dim=1).view(-1, 1, 1, 1)\n"
                              "    x = torch.where(size > 0, x / size * %s, x.double()).float()\n",
                              tsri_shortest(length, r->length)));
    TSR_TRY(tsri_text_add(out, "    return x\n"));
done:
    return st;
}

/* SCALED: by which load() tells that another file was scaled otherwise. Where pixels were divided by
 * 255 without a word of it in the file, training on writes that down: such a file differs in words
 * alone. */
static tsr_status mark(tsri_text *out, const tsr_model *m, const tsri_row_scaling *r, bool vectors)
{
    tsr_status st = TSR_OK;
    char hex[TSRI_SHA256_HEX];
    const char *text = tsri_tensors_meta(m->file, TSRI_META_SCALING);
    bool said = text && (vectors || r->groups > 0 || r->unit > 0);
    if (said)
        TSR_TRY(tsri_sha256(hex, text, (int64_t)strlen(text)));
    TSR_TRY(said ? tsri_text_add(out, "SCALED = \"%s\"\n", hex)
                 : tsri_text_add(out, "SCALED = None\n"));
done:
    return st;
}

/* prepare(): what became of the inputs before the network saw them. */
static tsr_status inputs(tsri_text *out, const tsr_model *m)
{
    tsr_status st = TSR_OK;
    tsri_shape s = m->input;
    double length = tsri_model_wants(m->config).length;
    tsri_row_scaling r =
        tsri_row_scaling_of(&m->scaling, &m->schema, (int64_t[]){s.c, s.h, s.w}, false, length);
    TSR_TRY(tsri_text_add(out, "INPUT = (%lld, %lld, %lld)  # of a sample\n", (long long)s.c,
                          (long long)s.h, (long long)s.w));
    TSR_TRY(constants(out, &r, tsri_shape_count(s)));
    TSR_TRY(mark(out, m, &r, s.h * s.w == 1));
    TSR_TRY(tsri_text_add(out, "\n\n"
                               "def prepare(raw):\n"
                               "    \"\"\"What the network sees of raw inputs (pixels of images in "
                               "0 .. 255): [n, C, H, W].\"\"\"\n"));
    TSR_TRY(steps(out, &r, s.h * s.w == 1));
done:
    return st;
}

/* original(): real targets were scaled for training. */
static tsr_status targets(tsri_text *out, const tsr_model *m)
{
    tsr_status st = TSR_OK;
    const tsri_scaling *s = &m->scaling;
    char scale[TSRI_NUMBER_TEXT], shift[TSRI_NUMBER_TEXT];
    if (m->classes > 0)
        goto done;
    TSR_TRY(tsri_text_add(out,
                          "\n\n"
                          "def original(y):\n"
                          "    \"\"\"What the network gives, as targets in their own units.\"\"\"\n"
                          "    y = y / %s + %s\n"
                          "    return %s\n",
                          tsri_shortest_float(scale, s->target_scale),
                          tsri_shortest_float(shift, s->target_shift),
                          s->target_log ? "y.exp()" : "y"));
done:
    return st;
}

/* ---- The file ------------------------------------------------------------------------------- */

/* As a text of Python: names come from the user. */
static tsr_status quoted(tsri_text *out, const char *text)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "\""));
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool plain = *c >= 32 && *c != '"' && *c != '\\' && *c != 127;
        TSR_TRY(plain ? tsri_text_add_bytes(out, (const char *)c, 1)
                      : tsri_text_add(out, "\\x%02x", *c));
    }
    TSR_TRY(tsri_text_add(out, "\""));
done:
    return st;
}

/* Without its folder. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static tsr_status head(tsri_text *out, const tsr_model *m, const char *path, const char *weights)
{
    tsr_status st = TSR_OK;
    const char *widths = tsri_config_text(m->config, "model.widths"), *module = name_of(path);
    size_t n = strspn(module, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (strcmp(module + n, ".py") != 0) /* a name that cannot stand after `import` */
        module = "model", n = strlen(module);
    TSR_TRY(tsri_text_add(
        out,
        "\"\"\"A %s%s in plain PyTorch, written by Tessera %s with the file of its "
        "weights.\n\n"
        "    from %.*s import load, prepare%s\n"
        "    net = load()              # the weights beside this file; eval mode\n"
        "    y = %s  # x [n, C, H, W] as INPUT says\n"
        "\"\"\"\n",
        tsri_config_text(m->config, "model.name"), widths && *widths ? ", pruned," : "",
        tsr_version(), (int)n, module, m->classes > 0 ? "" : ", original",
        m->classes > 0 ? "net(prepare(x))" : "original(net(prepare(x)))"));
    TSR_TRY(tsri_text_add(out, "%sFILE = ", imports));
    TSR_TRY(quoted(out, weights));
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    return st;
}

tsr_status tsri_module_path(char **out, const char *path)
{
    static const char end[] = ".safetensors";
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    size_t n = strlen(path), m = sizeof end - 1;
    if (n > m && strcmp(path + n - m, end) == 0 && path[n - m - 1] != '/')
        n -= m;
    TSR_TRY(tsri_text_add_bytes(&text, path, n));
    TSR_TRY(tsri_text_add(&text, ".py"));
    *out = text.data;
    text.data = NULL;
done:
    tsri_text_fini(&text);
    return st;
}

tsr_status tsri_module_write(const char *path, const tsr_model *m, const char *weights)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    const char *why = tsri_torch_lacks(m->net);
    TSR_CHECK(!why, TSR_USAGE, "%s: PyTorch has no plain module for it: %s", m->path, why);
    TSR_TRY(head(&text, m, path, name_of(weights)));
    TSR_TRY(inputs(&text, m));
    TSR_TRY(targets(&text, m));
    TSR_TRY(tsri_text_add(&text, "%s%s", checker, helpers));
    TSR_TRY(tsri_torch_class(&text, m->net));
    TSR_TRY(tsri_text_add(&text, "%s", loader));
    TSR_TRY(tsri_file_write_text(path, text.data));
done:
    tsri_text_fini(&text);
    return st;
}

tsr_status tsr_model_module(const tsr_model *model, const char *path, const char *weights)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(model);
    TSRI_GIVEN(path);
    TSRI_GIVEN(weights);
    TSR_TRY(tsri_module_write(path, model, weights));
done:
    return st;
}
