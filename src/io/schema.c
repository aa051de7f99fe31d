/* schema.c - every key of a run file, one row each.
 *
 * This table is the run file's only definition: the check, `tessera help run-file`, the man page
 * and the completion are made from it. Sections stand in the order in which a resolved run file is
 * written.
 */
#include "io/config.h"
#include "io/names.h"

#define ROW(key, type, preset, choices, least, most, help)                                         \
    {                                                                                              \
        key, TSRI_TYPE_##type, preset, choices, least, most, help, false, NULL, NULL               \
    }
#define INT(key, preset, least, most, help)   ROW(key, INT, preset, NULL, least, most, help)
#define REAL(key, preset, least, most, help)  ROW(key, REAL, preset, NULL, least, most, help)
#define BOOL(key, preset, help)               ROW(key, BOOL, preset, NULL, 0, 1, help)
#define TEXT(key, preset, help)               ROW(key, TEXT, preset, NULL, 0, 0, help)
#define CHOICE(key, preset, choices, help)    ROW(key, CHOICE, preset, choices, 0, 0, help)
#define INTS(key, preset, least, most, help)  ROW(key, INTS, preset, NULL, least, most, help)
#define REALS(key, preset, least, most, help) ROW(key, REALS, preset, NULL, least, most, help)

/* The names of a list, as choices: "|mlp|shallow" without its first bar. */
#define OR(name)      "|" #name
#define ONE_OF(names) (&(names(OR))[1])

#define ALL_BACKENDS(X) TSRI_BACKEND_NAMES(X) TSRI_MODULE_NAMES(X) X(auto)

/* A default that another key changes. */
#define REAL_WHEN(key, preset, when, instead, least, most, help)                                   \
    {                                                                                              \
        key, TSRI_TYPE_REAL, preset, NULL, least, most, help, false, when, instead                 \
    }

/* Keys that change how fast a run is or what it keeps, never its result. */
#define PACE(key, type, preset, least, most, help)                                                 \
    {                                                                                              \
        key, TSRI_TYPE_##type, preset, NULL, least, most, help, true, NULL, NULL                   \
    }

/* clang-format off */
const tsri_schema_row tsri_schema[] = {
    INT("seed", "1", 0, 9007199254740992.0, "every random number of the run follows from it"),
    PACE("threads", INT, "0", 0, 4096, "threads of this process; 0 = all cores"),
    CHOICE("backend", "cpu", ONE_OF(ALL_BACKENDS), "cpu: the fast one, with OpenBLAS; ref: plain C, slow, for checking; cuda: an NVIDIA GPU (docs/gpu.md); auto: cuda where a GPU answers, else cpu"),
    CHOICE("precision", "f32", "f32|bf16", "precision of what convolutions and linear layers multiply; bf16 needs backend cuda, or backend cpu and a processor with AVX512_BF16 or AMX, or backend ref; sums and weights stay f32"),
    CHOICE("conv", "auto", "auto|direct|winograd", "3x3 convolutions: auto chooses by the shape alone; direct: exact sums; winograd: faster"),
    CHOICE("skip", "auto", "auto|on|off", "linear layers skip units that are off: after fixed gates and large layers of ReLUs (auto), after all ReLUs (on), or never (off)"),

    TEXT("data.name", NULL, "a named data set (tessera data list); fashion-mnist when neither name nor path is given"),
    TEXT("data.path", NULL, "file or folder with the data"),
    CHOICE("data.format", "auto", "auto|idx|cifar10|cifar100|csv|npy|imagefolder|sequences", "how data.path is read"),
    TEXT("data.test_path", NULL, "file or folder with the test data"),
    REAL("data.split", "0.2", 0, 0.95, "part of the rows kept for testing when there is no test set"),
    INT("data.limit", "0", 0, 1e12, "use only this many training samples, drawn with data.seed; 0 = all"),
    INT("data.test_limit", "0", 0, 1e12, "use only this many test samples, drawn with data.seed; 0 = all"),
    TEXT("data.target", NULL, "csv: the target column, by name or by number from 1, several as \"15-18\"; by default the last one"),
    CHOICE("data.task", "auto", "auto|classify|regress", "what the target is; auto: words and few different whole numbers are classes"),
    TEXT("data.ignore", NULL, "csv: columns left out, by name or number, \"1-5,name\""),
    CHOICE("data.header", "auto", "auto|yes|no", "csv: is the first line a header"),
    CHOICE("data.missing", "mean", "mean|zero|refuse", "what to do with missing values"),
    TEXT("data.words", NULL, "csv: columns whose cells are words even if they look like numbers, \"1-5,name\""),
    CHOICE("data.unknown", "refuse", "refuse|missing", "csv: what to do with a word that the model has never seen in that column"),
    CHOICE("data.decimal", "auto", "auto|point|comma", "csv: how numbers are written; auto: 1,5 is a number, 1,234 is refused because it may be a thousand"),
    CHOICE("data.dates", "refuse", "refuse|days", "csv: what to do with columns of dates; days: days since 1970-01-01"),
    TEXT("data.unit", NULL, "unit of a real target, printed with errors and predictions"),
    CHOICE("data.normalize", "auto", "auto|none|unit|patch|standardize|channel|minmax", "how inputs are scaled; patch: to length 1/model.filter; auto: unit rows for shallow, relu_deep, grelu, relu_twin and (each position) rnn, patch for cnn1, images by channel, tables and sequences standardized"),
    CHOICE("data.target_scale", "auto", "auto|none|standardize|minmax|log", "how real targets are scaled; auto: standardized, unless a named set has its own scale"),
    CHOICE("data.augment", "none", "none|flip|crop|crop-flip", "random changes of training images"),
    INT("data.pad", "4", 0, 64, "crop: pixels of padding on each side"),
    INT("data.randaugment", "0", 0, 14, "random operations of RandAugment on each training image of bytes, after data.augment (docs/data.md); 0 = none"),
    INT("data.magnitude", "9", 0, 30, "randaugment: strength of its operations"),
    INT("data.cutout", "0", 0, 4096, "side of a square of zeros at a random place of each training image, in pixels, after the others; 0 = none"),
    CHOICE("data.order", "shuffle", "shuffle|replacement", "sgd: shuffle: every epoch is a permutation of the training set; replacement: every sample of every batch is drawn on its own, uniformly from all of it"),
    INT("data.size", "0", 0, 4096, "imagefolder: images are resized and cropped to this side; 0 = that of the first image"),
    INT("data.n", "0", 0, 1e9, "synthetic: training samples; 0 = 20000 for glyphs, 1000 for the others"),
    INT("data.test_n", "0", 0, 1e9, "synthetic: test samples; 0 = a fifth of the training samples"),
    INT("data.dim", "10", 1, 1e6, "synthetic: inputs per sample"),
    INT("data.classes", "10", 1, 1e5, "synthetic: classes"),
    INT("data.length", "10", 1, 1e6, "synthetic sequences: positions"),
    INT("data.targets", "1", 1, 1e6, "synthetic sequences: real targets at each position"),
    INT("data.channels", "1", 1, 3, "glyphs: 1 = 28x28 grey, 3 = 32x32 colour"),
    REAL("data.phi", "0.1", 0, 2, "sphere, sequences: least distance between two samples of the same part"),
    INT("data.seed", "1", 0, 9007199254740992.0, "seed of synthetic data and of the train/test split"),
    PACE("data.prefetch", BOOL, "true", 0, 1, "prepare batches ahead, on a thread of its own"),

    CHOICE("model.name", "mlp", ONE_OF(TSRI_MODEL_NAMES), "the network"),
    INTS("model.hidden", "[256, 256]", 1, 1e7, "mlp, relu_deep: units of each hidden layer; mlp: [] = a linear model"),
    BOOL("model.bias", "true", "linear layers (and the convolutions of vggs) have a bias"),
    CHOICE("model.norm", "none", "none|batch", "mlp: batch norm after each hidden linear layer"),
    INT("model.width", "64", 1, 2e9, "resnets, vggs: filters of the first stage; cnn1: filters; shallow: hidden units; grelu, relu_twin, relu_deep: units of each of model.layers; rnn: hidden units"),
    INT("model.layers", "0", 0, 10000, "grelu, relu_twin, relu_deep: number of hidden layers of model.width units; 0 = 4, for relu_deep as model.hidden says; rnn: layers, 0 = 1"),
    INT("model.gate_rank", "0", 0, 1e6, "grelu: Psi, which sets the gates, is drawn as a product of this rank; 0 = full rank"),
    TEXT("model.from_relu", NULL, "grelu: file of a trained relu_twin that gives the first weights and the gates"),
    CHOICE("model.train", "w", "w|all", "rnn: what is trained: the hidden weights W only, or also the inputs' A and the outputs' B"),
    CHOICE("model.read", "auto", "auto|last|every", "rnn: outputs at the end of a sequence or at every position; auto: every for real targets, last for classes"),
    INT("model.first", "0", 0, 1e9, "rnn read at every position: the first position that counts in the loss; 0 = 2 with half_squares, as in the paper, else 1"),
    CHOICE("model.stem", "auto", "auto|cifar|imagenet", "resnets: the first layers; cifar: 3x3; imagenet: 7x7 with stride 2 and max pooling; auto: cifar for images up to 64 pixels"),
    INT("model.depth", "16", 10, 10000, "wideresnet: layers, 6n+4"),
    INT("model.factor", "4", 1, 1000, "wideresnet: filters are 16, 32 and 64 times this"),
    INT("model.filter", "3", 1, 255, "cnn1: side of the filters, odd"),
    TEXT("model.widths", NULL, "axes that are narrower than in the model, \"layer2.1.inner=9, hidden.0=40\": a pruned network"),
    REAL("model.kappa", "1", 0, 1e6, "cnn1, shallow: standard deviation of the initial weights"),

    CHOICE("loss", "auto", "auto" TSRI_LOSS_NAMES(OR), "half_squares: half the sum of squared errors over the batch (the whole network is judged by the sum without the half); hinge, squared_hinge, exponential, logistic: losses of the margin y f(x), y = +-1, with several classes one against the rest; auto: half_squares for shallow, grelu, relu_twin and real targets of rnn, logistic for relu_deep, cross_entropy for classes, mse for real targets"),

    REAL("label_smoothing", "0", 0, 0.9999999, "cross_entropy: part of every label that is spread over all classes in training, as in PyTorch; evaluations do not use it (docs/optimisers.md)"),
    TEXT("class_weights", "none", "cross_entropy: weight of a sample of each class in training: none, balanced (every class counts the same, however many samples it has), or a number for each class, \"1, 2.5, 1\"; the mean is over the weights, as in PyTorch; evaluations do not use them"),

    CHOICE("optim.name", "sgd", ONE_OF(TSRI_OPTIM_NAMES), "sgd: mini-batches; gd: the whole training set in each step; adam, adamw: mini-batches, with a rate of its own for each weight (docs/optimisers.md)"),
    REAL_WHEN("optim.lr", "0.1", "optim.name=adam or adamw", "0.001", 0, 1e6, "learning rate at the start"),
    REAL_WHEN("optim.momentum", "0.9", "optim.name=gd", "0", 0, 0.9999999, "momentum; gd is plain gradient descent unless it is given"),
    BOOL("optim.nesterov", "false", "Nesterov's form of momentum"),
    REAL("optim.beta1", "0.9", 0, 0.9999999, "adam, adamw: decay of the running mean of gradients"),
    REAL("optim.beta2", "0.999", 0, 0.9999999, "adam, adamw: decay of the running mean of their squares"),
    REAL("optim.epsilon", "1e-8", 1e-30, 1, "adam, adamw: added to the root of that mean before a step is divided by it"),
    REAL_WHEN("optim.weight_decay", "0", "optim.name=adamw", "0.01", 0, 1e3, "weight decay, added to the gradient as in PyTorch; adamw: subtracted from the weights themselves, rate times decay of each weight per step"),
    REAL("optim.clip", "0", 0, 1e9, "largest norm of a step's gradient over all its numbers; a longer gradient is shortened to it; 0 = no limit"),
    REAL("optim.ema", "0", 0, 0.9999999, "decay of a running average of the weights, per round; the average is what is judged, kept and written; 0 = no average"),
    CHOICE("optim.schedule", "constant", "constant|step|cosine", "how the learning rate falls (docs/optimisers.md)"),
    REALS("optim.milestones", "[0.5, 0.75]", 0, 1, "step: parts of the run after which the rate is multiplied by optim.gamma"),
    REAL("optim.gamma", "0.1", 0, 1, "step: that factor"),
    REAL("optim.final_lr", "0", 0, 1e6, "cosine: learning rate at the end"),
    REAL("optim.warmup", "0", 0, 1, "part of the run in which the rate rises from 0"),
    CHOICE("optim.keep", "auto", "auto|last|best", "which iterate becomes the model: the last, or the best of those evaluated: of least training loss, or of least stop.metric if that is test_error or test_loss; auto: best for relu_deep with sgd and where a run stops by a test metric"),

    CHOICE("scheme.name", "dense", ONE_OF(TSRI_SCHEME_NAMES), "how the network is trained"),
    INT("scheme.workers", "1", 1, 1e6, "shares per round, each trained by one worker; gpipe: stages"),
    INT("scheme.local_steps", "1", 1, 1e9, "masked, ist, loft, local_sgd: steps of a share between take and put"),
    CHOICE("scheme.draw", "auto", "auto|bernoulli|categorical|chunks", "masked, ist: bernoulli: each unit is in each share with chance xi; categorical, chunks: each unit is in exactly one share, chosen at random or in equal numbers; auto: bernoulli for masked, chunks for ist"),
    REAL("scheme.xi", "0.5", 0, 1, "dropout, multisample, masked: chance that a unit is in a share, above 0"),
    TEXT("scheme.axes", NULL, "axes that are cut, \"hidden.0, hidden.2\" or \"all\"; all leaves out the streams between blocks, which only tickets cut, and is the default, except for loft (scheme.stages)"),
    INTS("scheme.stages", "[]", 1, 1000, "loft: stages whose blocks are cut, counted from 1; [] = all but the first"),
    BOOL("scheme.strided", "false", "loft: also cut blocks with a stride"),
    REALS("scheme.weights", "[]", 0, 1e9, "categorical, chunks: relative sizes of the workers' shares, by their speed; [] = equal"),
    CHOICE("scheme.data", "replicate", "replicate|shard", "every worker sees all samples in an order of its own, or only its part of them"),
    CHOICE("scheme.wire", "f32", "f32|bf16", "numbers between workers: f32, or rounded to bfloat16, which halves the bytes"),
    CHOICE("scheme.momentum", "auto", "auto|reset|carry", "momentum of a share: zero at the start of a round, or carried along with its units; auto: carry where a round is one step"),
    CHOICE("scheme.scale", "auto", "auto|share|none", "share: layers that read fewer units in a share multiply by 1/xi; auto: share, unless convolutions read what can be cut"),
    INT("scheme.recalibrate", "-1", -1, 1e6, "batches of the training set that measure batch norm's statistics again before the whole network is judged or saved; 0 = the mean of the workers' statistics; -1 = 16 if convolutions of the shares read fewer filters than those of the whole, else 0"),
    INT("scheme.micro_batches", "0", 0, 1e9, "dense, gpipe: equal parts of a batch that go through the network one after the other, their gradients added up; 0 = 1 for dense, one per stage for gpipe"),
    CHOICE("scheme.balance", "flops", "flops|time", "gpipe: make the most expensive stage as cheap as possible, by counted operations or by measured time"),
    TEXT("scheme.cuts", NULL, "gpipe: cut after these layers or blocks instead, \"layer2.1, layer3.1\""),
    CHOICE("scheme.events", "none", "none|round|step", "lines of metrics in each round: after drawing (step: also after each local step) and after putting back"),

    INT("epochs", "0", 0, 1e9, "passes over the training set; 0 = given by rounds, else 10"),
    INT("rounds", "0", 0, 1e12, "rounds of the scheme (dense: one step each); 0 = given by epochs"),
    INT("batch", "128", 1, 1e9, "samples per step of one worker"),

    CHOICE("on_divergence", "stop", "stop|rollback", "what to do when the loss is no longer finite, or ten thousand times the first (or that of answering 0 everywhere, if it is larger): stop (exit code 5), or rollback: go back to the last checkpoint that was due, or to the start, and go on at half the rate, up to three times (docs/optimisers.md)"),

    REAL("convert_at", "0", 0, 1e9, "grelu: after this epoch the gated network is replaced by the ReLU network that equals it on every training point, and training goes on (docs/grelu.md); 0 = never"),
    BOOL("convert_least_squares", "false", "convert_at: if no ReLU network is equal (more samples than units, dependent features), take the nearest one"),

    CHOICE("stop.metric", "none", "none|error|loss|test_error|test_loss|filter_distance|mask_distance", "ends the run early; error, loss: on the whole training set, measured with each evaluation; test_error, test_loss: on the test set, when there was no new least value for stop.patience evaluations, and the best iterate becomes the model; filter_distance: when the ranking of filters has settled, measured every distance.every epochs; mask_distance: when the filters that a ticket of stop.ratio would keep have (early-bird tickets)"),
    REAL("stop.below", "-1", -1, 1e9, "the run ends when the metric is at most this; -1 = 0 for error and loss, 0.05 for filter_distance, 0.1 for mask_distance (docs/tickets.md)"),
    INT("stop.patience", "5", 1, 1e9, "test_error, test_loss: the run ends after this many evaluations in a row without a new best one"),
    INT("stop.window", "5", 1, 10000, "filter_distance, mask_distance: the ranking, or the mask, must be that near to each of this many samples before it"),
    REAL("stop.ratio", "0.5", 0, 1, "mask_distance: part of the filters that the ticket would lose"),

    REAL("distance.every", "0", 0, 1e9, "epochs between samples of the ranking of filters, written to distance.csv at the end; 0 = none (1 if stop.metric needs them)"),
    REALS("distance.ratios", "[0.5, 0.8]", 0, 1, "ratios of the mask distances in distance.csv"),

    REALS("ticket.ratios", "[0.5, 0.8]", 0, 1, "parts of the filters to remove, one ticket for each; none if params, ops or time are given and this is not"),
    REALS("ticket.params", "[]", 0, 1, "largest parts of the parameters that stay, one ticket for each: 0.3 = a network with at most 30 % of the whole's"),
    REALS("ticket.ops", "[]", 0, 1, "largest parts of the operations that stay, likewise"),
    REALS("ticket.time", "[]", 0, 1, "largest parts of the measured time of a batch that stay, likewise; the measurement is recorded, and resumed runs use it"),
    INT("ticket.epochs", "0", 0, 1e9, "epochs of fine-tuning for each ticket; 0 = as many as the run has"),
    REAL("ticket.lr", "0", 0, 1e6, "learning rate at the start of fine-tuning; 0 = optim.lr"),
    CHOICE("ticket.criterion", "l2", "l2|l1|bn|fpgm|snip|grasp|random", "how units are scored; the largest stay; snip and grasp by gradients on 8 batches of the training set"),
    BOOL("ticket.global", "false", "one ranking over all layers instead of one per layer"),
    INT("ticket.round_to", "1", 1, 4096, "keep a multiple of this number of units, which kernels compute faster"),
    TEXT("ticket.axes", "paper", "axes to prune; paper: those that the scheme cuts, or those of loft if it cuts none; inner: every inner axis, including those of the first stage and of blocks with a stride; all: also the streams between blocks; or names, \"layer2.1.inner, layer3.1.inner\""),
    INT("ticket.recalibrate", "16", 0, 1e6, "batches of the training set that measure batch norm's statistics again, on the ticket itself, before it is judged and fine-tuned; 0 = it keeps those of the whole"),
    CHOICE("ticket.controls", "none", "none|random|reinit|both|init|all", "beside each ticket: one with random filters, one of the same shape with fresh weights, or both; init: one with the filters that were largest before pretraining; all: all three"),
    INT("ticket.rewind", "-1", -1, 1e9, "the weights that each ticket is fine-tuned from: -1 = the pretrained ones, 0 = the first ones, N = those after N epochs of pretraining, whose checkpoint has to be kept"),
    INT("ticket.steps", "1", 1, 100, "prune in so many steps, each followed by fine-tuning (and rewinding), to ticket.ratios in the end; 1 = at once"),
    INT("ticket.whole", "0", 0, 1e9, "epochs of fine-tuning the whole network, at ticket.lr; the tickets are then compared with that instead of with the pretrained network; 0 = none"),
    INT("ticket.dense", "0", 0, 1e9, "epochs of training the whole network without shares, for comparison; 0 = none"),
    PACE("ticket.seconds", REAL, "3", 0, 600, "how long all networks together are timed, side by side"),

    REAL("eval.every", "1", 0, 1e9, "epochs between evaluations on the test set; 0 = only at the end"),
    PACE("cluster.deadline", REAL, "0", 0, 86400, "with mpirun: seconds after which a worker that has not answered is skipped; 0 = max(2, 5 x the median)"),
    PACE("cluster.start", REAL, "60", 1, 86400, "with mpirun: seconds within which all ranks must have started; otherwise all end, with a message that names the missing ones"),
    PACE("cluster.port", INT, "0", 0, 65535, "with mpirun: the coordinator's port, open until all workers have connected; 0 = chosen by the system (docs/cluster.md)"),
    REAL("checkpoint.every", "1", 0, 1e9, "epochs between checkpoints; 0 = only at the end"),
    PACE("checkpoint.keep", INT, "3", 1, 1e6, "newest checkpoints to keep, beside the best"),

    INT("certify.every", "0", 0, 1e9, "rounds between certificates in the metrics: what the model's paper asks for beside what is measured (tessera certify); 0 = none"),
    REAL("certify.budget", "0.15", 1e-9, 1e9, "part of a run's operations that looking at every round for certificates may take; what would take more is looked at in some rounds only, and rows about all rounds are then open"),
    REAL("certify.effort", "20", 1e-9, 1e9, "billions of multiplications and additions that a certificate may spend on each thing it measures; of what would take more it looks at a part, and such rows are open unless they fail"),
    INT("certify.continuations", "4", 2, 1000000, "draws of masks over which certificates average the next round, from the current weights; the first is the round's own"),
    REAL("certify.delta", "0.1", 1e-12, 0.5, "probability with which the theorems may fail"),
};
/* clang-format on */

const int64_t tsri_schema_count = (int64_t)(sizeof tsri_schema / sizeof *tsri_schema);
