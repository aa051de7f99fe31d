"""The C interface, written by tools/python-header from include/tessera.h: do not edit."""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int,
                    c_int32, c_int64, c_size_t, c_uint64, c_uint8, c_void_p)


class Opaque(c_void_p):
    """The address of something of the library's own."""


class tsr_context(Opaque):
    pass


class tsr_config(Opaque):
    pass


class tsr_doc(Opaque):
    pass


class tsr_json(Opaque):
    pass


class tsr_data(Opaque):
    pass


class tsr_model(Opaque):
    pass


class tsr_run(Opaque):
    pass


class tsr_predictor(Opaque):
    pass


class tsr_share(Opaque):
    pass


class tsr_certificate(Opaque):
    pass


class tsr_watch(Opaque):
    pass


TSR_DIMS = 8

# tsr_status
TSR_OK = 0
TSR_FAILURE = 1
TSR_USAGE = 2
TSR_BAD_FILE = 3
TSR_RESOURCES = 4
TSR_DIVERGED = 5
TSR_INTERRUPTED = 130

# tsr_log_level
TSR_LOG_ERROR = 0
TSR_LOG_WARNING = 1
TSR_LOG_INFO = 2
TSR_LOG_DEBUG = 3

# tsr_type
TSR_F32 = 1
TSR_F64 = 2
TSR_U8 = 3
TSR_I32 = 4
TSR_I64 = 5

# tsr_key_type
TSR_KEY_INT = 0
TSR_KEY_REAL = 1
TSR_KEY_BOOL = 2
TSR_KEY_TEXT = 3
TSR_KEY_CHOICE = 4
TSR_KEY_INTS = 5
TSR_KEY_REALS = 6

# tsr_form
TSR_FORM_AUTO = 0
TSR_VECTORS = 1
TSR_IMAGES = 2
TSR_SEQUENCES = 3

# tsr_ending
TSR_END_PLAIN = 0
TSR_END_FINALIZE = 1
TSR_END_ABORT = 2

# tsr_answer
TSR_OUTPUTS = 0
TSR_PROBABILITIES = 1

# tsr_draw_kind
TSR_DRAW_WHOLE = 0
TSR_DRAW_BERNOULLI = 1
TSR_DRAW_CATEGORICAL = 2
TSR_DRAW_CHUNKS = 3

# tsr_ntk_kind
TSR_NTK_AUTO = 0
TSR_NTK_EXACT = 1
TSR_NTK_FINITE = 2
TSR_NTK_INFINITE = 3

# tsr_verdict
TSR_NO_VERDICT = 0
TSR_HOLDS = 1
TSR_FAILS = 2
TSR_VACUOUS = 3
TSR_OPEN = 4
TSR_DOES_NOT_APPLY = 5



class tsr_allocator(Structure):
    _fields_ = [
        ("alloc", CFUNCTYPE(c_void_p, c_void_p, c_size_t)),
        ("free", CFUNCTYPE(None, c_void_p, c_void_p)),
        ("context", c_void_p),
    ]



class tsr_array(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("type", c_int),
        ("dims", c_int),
        ("shape", c_int64 * TSR_DIMS),
        ("stride", c_int64 * TSR_DIMS),
    ]



class tsr_key(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("key", c_char_p),
        ("type", c_int),
        ("preset", c_char_p),
        ("choices", c_char_p),
        ("least", c_double),
        ("most", c_double),
        ("help", c_char_p),
        ("pace", c_bool),
        ("when", c_char_p),
        ("instead", c_char_p),
    ]



class tsr_data_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("form", c_int),
        ("x", tsr_array),
        ("y", tsr_array),
        ("test_x", tsr_array),
        ("test_y", tsr_array),
        ("length", tsr_array),
        ("test_length", tsr_array),
        ("regress", c_bool),
        ("classes", c_int64),
        ("class_name", POINTER(c_char_p)),
        ("column", POINTER(c_char_p)),
        ("target", c_char_p),
        ("missing", c_bool),
        ("borrow", c_bool),
    ]



class tsr_data_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("source", c_char_p),
        ("form", c_int),
        ("n", c_int64),
        ("test_n", c_int64),
        ("channels", c_int64),
        ("height", c_int64),
        ("width", c_int64),
        ("classes", c_int64),
        ("targets", c_int64),
        ("x", tsr_array),
        ("y", tsr_array),
        ("length", tsr_array),
        ("test_x", tsr_array),
        ("test_y", tsr_array),
        ("test_length", tsr_array),
        ("class_name", POINTER(c_char_p)),
    ]



class tsr_get_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("folder", c_char_p),
        ("from", c_char_p),
        ("progress", CFUNCTYPE(None, c_void_p, c_int64, c_int64)),
        ("context", c_void_p),
    ]



class tsr_progress(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("round", c_int64),
        ("rounds", c_int64),
        ("epoch", c_double),
        ("epochs", c_double),
        ("loss", c_double),
        ("rate", c_double),
        ("seconds", c_double),
        ("test_loss", c_double),
        ("test_accuracy", c_double),
        ("test_rmse", c_double),
        ("evaluated", c_bool),
        ("resumed", c_bool),
        ("chip", c_char_p),
        ("samples_per_second", c_double),
        ("device_memory", c_int64),
    ]


tsr_log_function = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class tsr_run_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("folder", c_char_p),
        ("init", c_char_p),
        ("resume", c_bool),
        ("force", c_bool),
        ("trace", c_bool),
        ("progress", CFUNCTYPE(None, c_void_p, POINTER(tsr_progress))),
        ("context", c_void_p),
        ("data", tsr_data),
        ("model", tsr_model),
        ("round", CFUNCTYPE(c_int, c_void_p, POINTER(tsr_progress))),
        ("metrics", CFUNCTYPE(None, c_void_p, c_char_p)),
        ("message", tsr_log_function),
        ("loudest", c_int),
        ("stage", CFUNCTYPE(None, c_void_p, c_char_p)),
    ]



class tsr_result(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("loss", c_double),
        ("accuracy", c_double),
        ("rmse", c_double),
        ("seconds", c_double),
        ("rounds", c_int64),
        ("bytes_total", c_int64),
        ("bytes_collected", c_int64),
        ("worker", c_bool),
    ]



class tsr_needs(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("params", c_int64),
        ("trained", c_int64),
        ("flops_step", c_int64),
        ("train_n", c_int64),
        ("test_n", c_int64),
        ("rounds", c_int64),
        ("epoch_rounds", c_int64),
        ("memory_data", c_int64),
        ("memory_model", c_int64),
        ("memory_plan", c_int64),
        ("backend", c_char_p),
        ("memory_device", c_int64),
        ("device_free", c_int64),
        ("device_all", c_int64),
        ("batch_fits", c_int64),
    ]



class tsr_cost_data(Structure):
    _fields_ = [
        ("samples", c_int64),
        ("channels", c_int64),
        ("height", c_int64),
        ("width", c_int64),
        ("classes", c_int64),
        ("targets", c_int64),
    ]



class tsr_cost(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("params", c_int64),
        ("trained", c_int64),
        ("params_share", c_int64),
        ("flops_step", c_int64),
        ("flops_step_whole", c_int64),
        ("memory_worker", c_int64),
        ("workers", c_int64),
        ("local_steps", c_int64),
        ("batch", c_int64),
        ("micro_batches", c_int64),
        ("rounds", c_int64),
        ("epochs", c_double),
        ("bytes_round", c_int64),
        ("bytes_total", c_int64),
        ("bytes_cut", c_int64),
        ("bytes_collected", c_int64),
        ("exact", c_bool),
        ("local", c_bool),
        ("data", tsr_cost_data),
        ("memory_device", c_int64),
        ("batch_fits", c_int64),
    ]



class tsr_machine(Structure):
    _fields_ = [
        ("flops", c_double),
        ("bandwidth", c_double),
        ("latency", c_double),
        ("sending", c_double),
    ]



class tsr_prediction(Structure):
    _fields_ = [
        ("seconds_step", c_double),
        ("seconds_send", c_double),
        ("seconds_round", c_double),
        ("seconds_run", c_double),
        ("local_steps", c_int64),
        ("seconds_best", c_double),
    ]



class tsr_model_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("path", c_char_p),
        ("channels", c_int64),
        ("height", c_int64),
        ("width", c_int64),
        ("outputs", c_int64),
        ("classes", c_int64),
        ("class_name", POINTER(c_char_p)),
        ("params", c_int64),
        ("numbers", c_int64),
        ("trained", c_int64),
        ("flops", c_double),
        ("target", c_char_p),
    ]



class tsr_param(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("values", tsr_array),
        ("trained", c_bool),
        ("count", c_bool),
    ]



class tsr_answers_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("path", c_char_p),
        ("json", c_bool),
        ("probabilities", c_bool),
        ("on_training_set", c_bool),
        ("gates", c_char_p),
        ("batch", c_int64),
    ]



class tsr_predictor_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("answer", c_int),
        ("threads", c_int),
        ("callers", c_int),
        ("batch", c_int64),
        ("scaled", c_bool),
        ("missing", c_bool),
    ]



class tsr_prune_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ratio", c_double),
        ("criterion", c_char_p),
        ("global", c_bool),
        ("round_to", c_int64),
        ("axes", c_char_p),
        ("reinit", c_bool),
        ("seed", c_uint64),
        ("recalibrate", c_int64),
        ("measure", c_char_p),
        ("keep", c_double),
    ]



class tsr_ticket_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("prune", POINTER(tsr_prune_options)),
        ("data", c_char_p),
        ("recalibrate", c_int64),
        ("seconds", c_double),
        ("replace", c_bool),
    ]



class tsr_layer_distance(Structure):
    _fields_ = [
        ("layer", c_char_p),
        ("units", c_int64),
        ("units_other", c_int64),
        ("distance", c_double),
        ("relative", c_double),
    ]



class tsr_ranking_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("axes", c_char_p),
        ("criterion", c_char_p),
        ("ratio", POINTER(c_double)),
        ("ratios", c_int64),
    ]



class tsr_axis(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("units", c_int64),
        ("kept", c_int64),
        ("index", POINTER(c_int64)),
        ("cuttable", c_bool),
    ]



class tsr_draw(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("workers", c_int64),
        ("xi", c_double),
        ("weight", POINTER(c_double)),
        ("axes", c_char_p),
        ("seed", c_uint64),
        ("round", c_int64),
        ("worker", c_int64),
    ]



class tsr_ntk_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("n", c_int64),
        ("output", c_int64),
        ("memory", c_int64),
        ("test_set", c_bool),
        ("data", tsr_data),
        ("spectrum", c_bool),
        ("lanczos", c_bool),
        ("repeats", c_int64),
        ("say", CFUNCTYPE(None, c_void_p, c_char_p)),
        ("context", c_void_p),
    ]



class tsr_certificate_row(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("theorem", c_char_p),
        ("where", c_char_p),
        ("quantity", c_char_p),
        ("reason", c_char_p),
        ("verdict", c_int),
        ("sense", c_int),
        ("measured", c_double),
        ("required", c_double),
        ("factor", c_double),
    ]



class tsr_theory_setting(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_double),
        ("L", c_double),
        ("d", c_double),
        ("dy", c_double),
        ("epsilon", c_double),
        ("delta", c_double),
        ("lambda", c_double),
        ("xi", c_double),
        ("p", c_double),
        ("tau", c_double),
        ("kappa", c_double),
        ("phi", c_double),
        ("K", c_double),
    ]



class tsr_import_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("model", c_char_p),
        ("side", c_int64),
        ("classes", c_int64),
        ("seed", c_uint64),
        ("names", c_char_p),
        ("channels", c_int64),
        ("mean", c_double * 4),
        ("deviation", c_double * 4),
    ]



class tsr_conversion(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("points", c_int64),
        ("width", c_int64),
        ("layers", c_int64),
        ("residual", c_double),
        ("loss_before", c_double),
        ("loss_after", c_double),
        ("accuracy_before", c_double),
        ("accuracy_after", c_double),
        ("seconds", c_double),
    ]



class tsr_sweep_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("grid", POINTER(c_char_p)),
        ("grids", c_int64),
        ("seeds", c_int64),
        ("curves", c_bool),
        ("folder", c_char_p),
        ("progress", CFUNCTYPE(None, c_void_p, c_int64, c_int64)),
        ("context", c_void_p),
        ("weights", c_bool),
        ("counts", CFUNCTYPE(None, c_void_p, c_int64, c_int64, c_int64, c_int64)),
    ]



class tsr_study_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("folder", c_char_p),
        ("data", c_char_p),
        ("quick", c_bool),
        ("seeds", c_int64),
        ("seed", c_uint64),
        ("threads", c_int),
        ("say", CFUNCTYPE(None, c_void_p, c_double, c_char_p)),
        ("context", c_void_p),
        ("commit", c_char_p),
        ("made", CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_int)),
        ("paper", c_bool),
        ("cells", c_char_p),
        ("set", POINTER(c_char_p)),
        ("sets", c_int64),
    ]



class tsr_compare_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("page", c_char_p),
        ("picture", c_char_p),
        ("goal", POINTER(c_double)),
        ("goals", c_int64),
    ]



class tsr_screen(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("width", c_int),
        ("height", c_int),
        ("colour", c_bool),
        ("unicode", c_bool),
        ("chosen", c_int64),
        ("open", c_bool),
    ]



class tsr_serve_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("port", c_int),
        ("token_file", c_char_p),
        ("every", c_double),
        ("ready", CFUNCTYPE(None, c_void_p, c_char_p)),
        ("context", c_void_p),
    ]



class tsr_onnx_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("fold", c_bool),
        ("transform", c_bool),
    ]



class tsr_onnx_made(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("bytes", c_int64),
        ("nodes", c_int64),
        ("norms_folded", c_int64),
        ("norms_left", c_int64),
        ("opset", c_int64),
    ]



class tsr_onnx_speed_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("library", c_char_p),
        ("beside", tsr_model),
        ("batch", c_int64),
        ("threads", c_int64),
        ("seconds", c_double),
        ("fold", c_bool),
    ]



class tsr_onnx_speed(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ours_ms", c_double * 2),
        ("theirs_ms", c_double * 2),
        ("difference", c_double * 2),
        ("faster", c_bool),
        ("faster_there", c_bool),
        ("bytes", c_int64 * 2),
        ("runtime", c_char * 32),
        ("missing", c_char * 256),
        ("ours_median_ms", c_double * 2),
        ("theirs_median_ms", c_double * 2),
    ]


tsr_hang_function = CFUNCTYPE(None, c_void_p, c_int)


# name: (result, [arguments])
FUNCTIONS = {
    "tsr_last_error": (c_char_p, []),
    "tsr_status_text": (c_char_p, [c_int]),
    "tsr_version": (c_char_p, []),
    "tsr_build": (c_int, [POINTER(c_void_p)]),
    "tsr_quote": (c_char_p, [c_char_p]),
    "tsr_nearest": (c_char_p, [c_char_p, POINTER(c_char_p), c_int64]),
    "tsr_context_create": (c_int, [POINTER(c_void_p)]),
    "tsr_context_destroy": (None, [tsr_context]),
    "tsr_context_use": (c_void_p, [tsr_context]),
    "tsr_context_stop": (None, [tsr_context]),
    "tsr_context_clear_stop": (None, [tsr_context]),
    "tsr_context_set_allocator": (None, [tsr_context, POINTER(tsr_allocator)]),
    "tsr_set_allocator": (None, [POINTER(tsr_allocator)]),
    "tsr_context_memory_in_use": (c_size_t, [tsr_context]),
    "tsr_context_memory_peak": (c_size_t, [tsr_context]),
    "tsr_memory_in_use": (c_size_t, []),
    "tsr_memory_peak": (c_size_t, []),
    "tsr_context_set_log": (None, [tsr_context, tsr_log_function, c_void_p, c_int]),
    "tsr_set_log": (None, [tsr_log_function, c_void_p, c_int]),
    "tsr_free": (None, [c_void_p]),
    "tsr_config_read": (c_int, [POINTER(c_void_p), c_char_p]),
    "tsr_config_parse": (c_int, [POINTER(c_void_p), c_char_p]),
    "tsr_config_create": (c_int, [POINTER(c_void_p)]),
    "tsr_config_copy": (c_int, [POINTER(c_void_p), tsr_config]),
    "tsr_config_destroy": (None, [tsr_config]),
    "tsr_config_set": (c_int, [tsr_config, c_char_p]),
    "tsr_config_put": (c_int, [tsr_config, c_char_p, c_char_p]),
    "tsr_config_use_data": (c_int, [tsr_config, c_char_p]),
    "tsr_config_forget": (c_int, [tsr_config]),
    "tsr_config_get": (c_int, [POINTER(c_void_p), tsr_config, c_char_p]),
    "tsr_config_given": (c_bool, [tsr_config, c_char_p]),
    "tsr_config_write": (c_int, [POINTER(c_void_p), tsr_config]),
    "tsr_key_count": (c_int64, []),
    "tsr_key_at": (c_int, [POINTER(tsr_key), c_int64]),
    "tsr_key_find": (c_int, [POINTER(tsr_key), c_char_p]),
    "tsr_key_expected": (c_int, [POINTER(c_void_p), c_char_p]),
    "tsr_doc_parse": (c_int, [POINTER(c_void_p), c_char_p]),
    "tsr_doc_destroy": (None, [tsr_doc]),
    "tsr_doc_get": (c_void_p, [tsr_doc, c_char_p]),
    "tsr_doc_count": (c_int64, [tsr_doc]),
    "tsr_doc_at": (c_void_p, [tsr_doc, c_int64]),
    "tsr_doc_key": (c_char_p, [tsr_doc, c_int64]),
    "tsr_doc_text": (c_char_p, [tsr_doc, c_char_p]),
    "tsr_doc_int": (c_int64, [tsr_doc, c_char_p]),
    "tsr_doc_real": (c_double, [tsr_doc, c_char_p]),
    "tsr_doc_bool": (c_bool, [tsr_doc, c_char_p]),
    "tsr_json_create": (c_void_p, []),
    "tsr_json_from": (c_void_p, [c_char_p]),
    "tsr_json_open": (None, [tsr_json, c_char_p, c_char]),
    "tsr_json_close": (None, [tsr_json, c_char]),
    "tsr_json_text": (None, [tsr_json, c_char_p, c_char_p]),
    "tsr_json_int": (None, [tsr_json, c_char_p, c_int64]),
    "tsr_json_real": (None, [tsr_json, c_char_p, c_double]),
    "tsr_json_bool": (None, [tsr_json, c_char_p, c_bool]),
    "tsr_json_put": (None, [tsr_json, c_char_p, c_char_p]),
    "tsr_json_end": (c_int, [POINTER(c_void_p), tsr_json]),
    "tsr_data_create": (c_int, [POINTER(c_void_p), POINTER(tsr_data_options)]),
    "tsr_data_read": (c_int, [POINTER(c_void_p), tsr_config]),
    "tsr_data_destroy": (None, [tsr_data]),
    "tsr_data_load": (c_int, [POINTER(c_void_p), tsr_config]),
    "tsr_data_name": (c_char_p, [c_int64]),
    "tsr_data_list": (c_int, [POINTER(c_void_p)]),
    "tsr_data_where": (c_int, [POINTER(c_void_p), tsr_config]),
    "tsr_data_look": (c_int, [POINTER(tsr_data_info), tsr_data]),
    "tsr_data_describe": (c_int, [POINTER(c_void_p), tsr_data]),
    "tsr_data_write": (c_int, [tsr_data, c_char_p]),
    "tsr_data_sheet": (c_int, [tsr_data, c_char_p]),
    "tsr_data_get": (c_int, [POINTER(c_void_p), c_char_p, POINTER(tsr_get_options)]),
    "tsr_array_write": (c_int, [c_char_p, POINTER(tsr_array)]),
    "tsr_train": (c_int, [POINTER(tsr_result), tsr_config, POINTER(tsr_run_options)]),
    "tsr_request_stop": (None, []),
    "tsr_run_create": (c_int, [POINTER(c_void_p), tsr_config, POINTER(tsr_run_options)]),
    "tsr_run_destroy": (None, [tsr_run]),
    "tsr_run_step": (c_int, [tsr_run, POINTER(c_bool)]),
    "tsr_run_finish": (c_int, [POINTER(tsr_result), tsr_run]),
    "tsr_run_stop": (None, [tsr_run]),
    "tsr_run_progress": (c_int, [POINTER(tsr_progress), tsr_run]),
    "tsr_run_model": (c_int, [POINTER(c_void_p), tsr_run]),
    "tsr_run_config": (c_void_p, [tsr_run]),
    "tsr_ranks_ending": (c_int, []),
    "tsr_context_on_hang": (None, [tsr_context, tsr_hang_function, c_void_p]),
    "tsr_rank": (c_int, [POINTER(c_int)]),
    "tsr_ranks_excuse": (c_bool, []),
    "tsr_ranks_end": (c_bool, [c_int]),
    "tsr_check": (c_int, [POINTER(tsr_needs), tsr_config]),
    "tsr_bench": (c_int, [POINTER(c_void_p), tsr_config, c_int64, c_bool]),
    "tsr_cost_count": (c_int, [POINTER(tsr_cost), tsr_config, POINTER(tsr_cost_data)]),
    "tsr_cost_predict": (None, [POINTER(tsr_prediction), POINTER(tsr_cost), POINTER(tsr_machine)]),
    "tsr_model_read": (c_int, [POINTER(c_void_p), c_char_p]),
    "tsr_model_parse": (c_int, [POINTER(c_void_p), c_void_p, c_int64]),
    "tsr_model_create": (c_int, [POINTER(c_void_p), tsr_config, tsr_data]),
    "tsr_model_build": (c_int, [POINTER(c_void_p), tsr_config, POINTER(c_int64), c_int64, c_bool]),
    "tsr_model_copy": (c_int, [POINTER(c_void_p), tsr_model]),
    "tsr_model_destroy": (None, [tsr_model]),
    "tsr_model_write": (c_int, [tsr_model, c_char_p]),
    "tsr_model_bytes": (c_int, [POINTER(c_void_p), POINTER(c_int64), tsr_model]),
    "tsr_model_module": (c_int, [tsr_model, c_char_p, c_char_p]),
    "tsr_model_config": (c_void_p, [tsr_model]),
    "tsr_model_use_data": (c_int, [tsr_model, c_char_p]),
    "tsr_model_look": (c_int, [POINTER(tsr_model_info), tsr_model]),
    "tsr_model_params": (c_int64, [tsr_model]),
    "tsr_model_param": (c_int, [POINTER(tsr_param), tsr_model, c_int64]),
    "tsr_model_find": (c_int, [POINTER(tsr_param), tsr_model, c_char_p]),
    "tsr_model_set": (c_int, [tsr_model, c_char_p, POINTER(tsr_array)]),
    "tsr_model_meta": (c_char_p, [tsr_model, c_char_p]),
    "tsr_model_evaluate": (c_int, [POINTER(tsr_result), tsr_model, c_bool]),
    "tsr_model_judge": (c_int, [POINTER(tsr_result), tsr_model, tsr_data]),
    "tsr_model_predict": (c_int, [POINTER(POINTER(c_float)), POINTER(POINTER(c_int32)), POINTER(c_int64), POINTER(c_int64), tsr_model, c_bool]),
    "tsr_model_answers": (c_int, [POINTER(c_void_p), POINTER(c_void_p), tsr_model, POINTER(tsr_answers_options)]),
    "tsr_model_evaluation": (c_int, [c_char_p, tsr_model, c_bool]),
    "tsr_model_gates": (c_int, [POINTER(c_void_p), tsr_model, c_char_p, c_int64, c_bool]),
    "tsr_predictor_create": (c_int, [POINTER(c_void_p), tsr_model, POINTER(tsr_predictor_options)]),
    "tsr_predictor_destroy": (None, [tsr_predictor]),
    "tsr_predictor_width": (c_int64, [tsr_predictor]),
    "tsr_predictor_run": (c_int, [POINTER(c_float), tsr_predictor, POINTER(tsr_array), POINTER(tsr_array)]),
    "tsr_predictor_classes": (c_int, [POINTER(c_int32), tsr_predictor, POINTER(tsr_array), POINTER(tsr_array)]),
    "tsr_prune": (c_int, [c_char_p, c_char_p, POINTER(tsr_prune_options)]),
    "tsr_ticket": (c_int, [POINTER(c_void_p), c_char_p, c_char_p, POINTER(tsr_ticket_options)]),
    "tsr_config_finetune": (c_int, [tsr_config, c_int64, c_double]),
    "tsr_model_distance": (c_int, [POINTER(POINTER(tsr_layer_distance)), POINTER(c_int64), tsr_model, tsr_model]),
    "tsr_model_rankings": (c_int, [POINTER(c_void_p), tsr_model, tsr_model, POINTER(tsr_ranking_options)]),
    "tsr_model_prune": (c_int, [POINTER(c_void_p), tsr_model, POINTER(tsr_prune_options)]),
    "tsr_model_scores": (c_int, [POINTER(POINTER(c_double)), POINTER(c_int64), tsr_model, c_char_p, c_char_p]),
    "tsr_share_create": (c_int, [POINTER(c_void_p), tsr_model]),
    "tsr_share_destroy": (None, [tsr_share]),
    "tsr_share_axes": (c_int64, [tsr_share]),
    "tsr_share_axis": (c_int, [POINTER(tsr_axis), tsr_share, c_int64]),
    "tsr_share_give": (c_int, [tsr_share, c_char_p, POINTER(c_int64), c_int64]),
    "tsr_share_best": (c_int, [tsr_share, c_char_p, POINTER(c_double), c_int64]),
    "tsr_share_draw": (c_int, [tsr_share, POINTER(tsr_draw)]),
    "tsr_share_take": (c_int, [POINTER(c_void_p), tsr_share, tsr_model]),
    "tsr_share_put": (c_int, [tsr_model, POINTER(c_void_p), POINTER(c_void_p), c_int64]),
    "tsr_model_ntk": (c_int, [POINTER(c_double), tsr_model, POINTER(tsr_ntk_options)]),
    "tsr_config_ntk": (c_int, [POINTER(c_double), tsr_config, POINTER(tsr_ntk_options)]),
    "tsr_ntk_measure": (c_int, [POINTER(c_void_p), POINTER(POINTER(c_double)), tsr_model, tsr_config, POINTER(tsr_ntk_options)]),
    "tsr_eigenvalues": (c_int, [POINTER(c_double), POINTER(c_double), c_int64]),
    "tsr_certify": (c_int, [POINTER(c_void_p), tsr_config, tsr_data]),
    "tsr_certificate_destroy": (None, [tsr_certificate]),
    "tsr_certificate_paper": (c_char_p, [tsr_certificate]),
    "tsr_certificate_rows": (c_int64, [tsr_certificate]),
    "tsr_certificate_at": (c_int, [POINTER(tsr_certificate_row), tsr_certificate, c_int64]),
    "tsr_certificate_text": (c_int, [POINTER(c_void_p), tsr_certificate]),
    "tsr_certificate_json": (c_int, [POINTER(c_void_p), tsr_certificate]),
    "tsr_certify_widths": (c_int, [POINTER(c_void_p), tsr_config, POINTER(c_int64), c_int64]),
    "tsr_theories": (c_int, [POINTER(c_void_p), POINTER(tsr_theory_setting)]),
    "tsr_import": (c_int, [POINTER(c_void_p), c_char_p, POINTER(tsr_import_options)]),
    "tsr_model_convert": (c_int, [POINTER(c_void_p), POINTER(tsr_conversion), tsr_model, c_bool, c_bool]),
    "tsr_convert": (c_int, [POINTER(c_void_p), c_char_p, tsr_model, c_bool, c_bool]),
    "tsr_tickets": (c_int, [POINTER(c_void_p), tsr_config, POINTER(tsr_run_options)]),
    "tsr_sweep": (c_int, [POINTER(c_void_p), tsr_config, POINTER(tsr_sweep_options)]),
    "tsr_study_name": (c_char_p, [c_int64]),
    "tsr_study_list": (c_int, [POINTER(c_void_p), c_char_p]),
    "tsr_reproduce": (c_int, [POINTER(c_void_p), c_char_p, POINTER(tsr_study_options)]),
    "tsr_reproduce_all": (c_int, [POINTER(tsr_study_options)]),
    "tsr_study_index": (c_int, [POINTER(c_void_p), c_char_p]),
    "tsr_study_gallery": (c_int, [c_char_p, c_char_p]),
    "tsr_study_cells": (c_int, [POINTER(c_void_p), c_char_p, POINTER(tsr_study_options)]),
    "tsr_report": (c_int, [c_char_p, c_char_p]),
    "tsr_report_pictures": (c_int, [POINTER(c_int64), c_char_p, c_char_p]),
    "tsr_compare": (c_int, [POINTER(c_void_p), POINTER(c_char_p), c_int64, POINTER(tsr_compare_options)]),
    "tsr_watch_open": (c_int, [POINTER(c_void_p), c_char_p]),
    "tsr_watch_destroy": (None, [tsr_watch]),
    "tsr_watch_look": (c_int, [tsr_watch]),
    "tsr_watch_runs": (c_int64, [tsr_watch, POINTER(c_int64)]),
    "tsr_watch_text": (c_int, [POINTER(c_void_p), tsr_watch]),
    "tsr_watch_json": (c_int, [POINTER(c_void_p), tsr_watch]),
    "tsr_watch_draw": (c_int, [POINTER(c_void_p), tsr_watch, POINTER(tsr_screen)]),
    "tsr_watch_serve": (c_int, [tsr_watch, POINTER(tsr_serve_options)]),
    "tsr_metrics_csv": (c_int, [POINTER(c_void_p), POINTER(c_int64), c_char_p, c_char_p, c_char_p]),
    "tsr_metrics_tensorboard": (c_int, [POINTER(c_int64), POINTER(c_int64), c_char_p, c_char_p]),
    "tsr_export_onnx": (c_int, [POINTER(tsr_onnx_made), c_char_p, tsr_model, POINTER(tsr_onnx_options)]),
    "tsr_onnx_measure": (c_int, [POINTER(tsr_onnx_speed), tsr_model, POINTER(tsr_onnx_speed_options)]),
}

# What the header says of each.
SAID = {
    'tsr_allocator': 'Where the memory of a context comes from. Both functions must be safe to call from several\nthreads; alloc must return memory aligned to 64 bytes, or NULL. A block is freed by the functions\nthat were set when it was taken. Set it while no run is in the context; NULL restores malloc.',
    'tsr_array': 'Numbers in memory, where they lie. This struct never grows.',
    'tsr_key': 'A row of the table that checks, documents and fills in every run file. Its texts live as long as\nthe library.',
    'tsr_data_options': '',
    'tsr_data_info': '',
    'tsr_get_options': '',
    'tsr_progress': 'How a run is doing. Numbers that are not known yet are NaN.',
    'tsr_run_options': '',
    'tsr_result': '',
    'tsr_needs': 'What a run would need. Everything is checked that can be checked without training.',
    'tsr_cost_data': 'What a run takes, counted without training.',
    'tsr_cost': '',
    'tsr_machine': 'The machines and links that a plan is made for.',
    'tsr_prediction': '',
    'tsr_model_info': '',
    'tsr_param': 'A parameter as PyTorch has it: its name in the state_dict, its shape, its numbers. Counts of\nbatches (num_batches_tracked) are one number here, a float like all.',
    'tsr_answers_options': '',
    'tsr_predictor_options': '',
    'tsr_prune_options': 'How a ticket is cut from a network (docs/tickets.md).',
    'tsr_ticket_options': '',
    'tsr_layer_distance': 'How differently two models rank the units of a layer by their l2 norm.',
    'tsr_ranking_options': '',
    'tsr_axis': 'An axis: the units of a layer, the channels of a stream.',
    'tsr_draw': 'Shares by chance, as the schemes draw them: a pure function of seed, round and worker.',
    'tsr_ntk_options': '',
    'tsr_certificate_row': 'Its texts belong to the certificate.',
    'tsr_theory_setting': 'What theories of over-parameterised training are asked about.',
    'tsr_import_options': "How another tool's weights become a model (docs/import.md).",
    'tsr_conversion': 'The outcome of a conversion.',
    'tsr_sweep_options': '',
    'tsr_study_options': '',
    'tsr_compare_options': '',
    'tsr_screen': '',
    'tsr_serve_options': '',
    'tsr_onnx_options': 'How a model becomes an ONNX file (docs/export.md).',
    'tsr_onnx_made': 'What was written.',
    'tsr_onnx_speed_options': 'How fast a model runs here and, where it is installed, in ONNX Runtime.',
    'tsr_onnx_speed': 'Of the model, and of the one beside it. NaN: not measured.',
    'tsr_last_error': 'The last error\'s sentence on this thread; "" when there was none. Valid until the next call\nthat fails on this thread.',
    'tsr_fail': 'Writes the sentence and returns `status`, which is not TSR_OK: for callbacks that fail. It is the\nsentence that the caller of the library then reads.',
    'tsr_status_text': 'What a status means in a few words. Never NULL.',
    'tsr_version': 'The version of the library that is running, "major.minor.patch".',
    'tsr_build': 'json = how the library was built and what it runs on here: version, compiler, kernels, core,\nmpi, png. Free it with tsr_free.',
    'tsr_quote': 'A printable copy of a text that came from outside: without control characters, which could drive\na terminal, and no longer than a line. It lies in one of a few buffers of this thread, used in\nturn: enough for the arguments of one message.',
    'tsr_nearest': 'The one of words [count] that was probably meant by `word`, or NULL: for "did you mean".',
    'tsr_context_create': 'RESOURCES when memory is out.',
    'tsr_context_destroy': 'Only when no run is in it any more. What was made in it (configs, models) may live on and is\nfreed as usual. Other threads that use it must switch to another context first. NULL is fine.',
    'tsr_context_use': "From now on this thread's calls belong to it. Returns the one before, to go back to.",
    'tsr_context_stop': 'Asks the run that is in the context to save and stop after the step it is in; it then ends with\nINTERRUPTED. From any thread, and safe in a signal handler.',
    'tsr_context_clear_stop': 'Takes the request back. tsr_train, tsr_sweep, tsr_tickets and tsr_reproduce do so when they end; a\ntsr_run leaves it, since there may be others in the context.',
    'tsr_context_set_allocator': '',
    'tsr_set_allocator': '',
    'tsr_context_memory_in_use': 'Bytes that a context holds now, and the most it has ever held; without an argument, of the\ncontext that is always there.',
    'tsr_context_memory_peak': '',
    'tsr_memory_in_use': '',
    'tsr_memory_peak': '',
    'tsr_context_set_log': '',
    'tsr_set_log': '',
    'tsr_free': 'Frees what the library gave: texts, arrays. NULL is fine.',
    'tsr_config_read': 'Reads a YAML (or JSON) run file. USAGE with file:line:column, what was expected and the nearest\nkey when it is wrong; BAD_FILE when it cannot be read. The caller destroys *out.',
    'tsr_config_parse': 'The same from its text.',
    'tsr_config_create': 'A config of defaults only; and a copy.',
    'tsr_config_copy': '',
    'tsr_config_destroy': '',
    'tsr_config_set': 'Changes one value: "optim.lr=0.05", "model.hidden=[256, 256]". USAGE as above.',
    'tsr_config_put': 'The same with key and value apart. NULL is back to the default.',
    'tsr_config_use_data': 'Names other data, a known set or a path: replaces all that the config says about where its data\nis.',
    'tsr_config_forget': 'Sets keys of `scheme:`, `model:` and `stop:` that have no effect any more back to their defaults:\nfor a config that was given another scheme or model than the one it was written for.',
    'tsr_config_get': 'out = the value as a run file would have it, or NULL when the key has none. Free it with\ntsr_free. USAGE when there is no such key.',
    'tsr_config_given': 'Was the key given, or is its value the default? False also when there is no such key.',
    'tsr_config_write': 'out = the whole of it as a run file, every key filled in. Free it with tsr_free.',
    'tsr_key_count': 'Keys, from 0, in the order of docs/run-file.md; USAGE after the last.',
    'tsr_key_at': '',
    'tsr_key_find': 'The row of a key; USAGE, with the nearest one, when there is none.',
    'tsr_key_expected': 'out = what a key\'s value must be, in words: "a number from 0 to 1000". Free it with tsr_free.',
    'tsr_doc_parse': 'Parses a JSON text. The caller destroys *out. BAD_FILE with line and column when it is not\nJSON.',
    'tsr_doc_destroy': '',
    'tsr_doc_get': 'A value inside `doc`, which lives as long as the document: the member of that name; the i-th\nelement or member, from 0, how many there are, and the name of the i-th member. NULL (0) when\nthere is none, or `doc` is NULL.',
    'tsr_doc_count': '',
    'tsr_doc_at': '',
    'tsr_doc_key': '',
    'tsr_doc_text': 'The member `key` of `doc`, or with NULL `doc` itself, as one of these types. NULL, 0, NaN or\nfalse when it is missing or of another type.',
    'tsr_doc_int': '',
    'tsr_doc_real': '',
    'tsr_doc_bool': '',
    'tsr_json_create': 'NULL when memory is out; all of these functions accept NULL.',
    'tsr_json_from': 'Continues a document, which is an object: what is written next is added to it.',
    'tsr_json_open': '',
    'tsr_json_close': '',
    'tsr_json_text': '',
    'tsr_json_int': 'NULL = null',
    'tsr_json_real': '',
    'tsr_json_bool': '',
    'tsr_json_put': 'A value that is JSON already, such as the text of another document.',
    'tsr_json_end': 'Closes the document and destroys `json`. *out = its text, freed with tsr_free; with `out` NULL\nthe text is thrown away. RESOURCES when memory was out.',
    'tsr_data_create': 'A data set from arrays. USAGE, naming the array and the sample, when types or shapes do not fit\neach other, a label is not a class, or a number is not finite. Pixels that are U8 stay so.',
    'tsr_data_read': "Reads the data set that a config's `data:` section names: a known one or files. Limits, split and\nscaling come later, in the run.",
    'tsr_data_destroy': 'Runs that were created with it may live on.',
    'tsr_data_load': "The same as a run sees it: split, limited, missing values filled, scaled as the config's model\nwants it. Only to be looked at and written: runs and models do all this themselves, and refuse\ndata to which it was done.",
    'tsr_data_name': 'The known data sets: name i, from 0; NULL after the last. *json = all of them, what they hold and\nwhere they are on this machine, as `tessera data list --json`; free it with tsr_free.',
    'tsr_data_list': '',
    'tsr_data_where': "path = the file or folder that a config's data is read from; NULL when it is made from a seed or\nis not on this machine. Free it with tsr_free.",
    'tsr_data_look': 'Describes a data set. Texts and arrays belong to it.',
    'tsr_data_describe': 'json = what is worth knowing before training on it: columns, classes, duplicates, distances, as\n`tessera data info --json`. Free it with tsr_free.',
    'tsr_data_write': 'Writes x.npy, y.npy, x_test.npy, ... into a folder, which is created; the other writes a PNG of\nsixteen training samples.',
    'tsr_data_sheet': '',
    'tsr_data_get': 'Fetches a named data set from the package registry of this system and checks every file; nothing\nis installed. *where = the folder that holds it now; free it with tsr_free. `options` may be\nNULL. USAGE when the name is unknown or the folder is not empty, BAD_FILE when the files are not\nthe known ones.',
    'tsr_array_write': "Writes an array of F32, F64, U8, I32 or I64 in C's order as a file that numpy reads (.npy).",
    'tsr_train': 'Trains as the run file says and leaves run.yaml, metrics.jsonl, checkpoints/ and\nmodel.safetensors in the folder; *result = how the finished network does on the test set. If the\nconfig names no data set, the one that was used is written into it. USAGE when another process is\nrunning in the folder, or it holds a run that is not to be resumed; DIVERGED when the loss is no\nlonger finite (the last sound checkpoint is named); INTERRUPTED after tsr_request_stop, all\nsaved.',
    'tsr_request_stop': 'tsr_context_stop(NULL): for a process with one run. Safe in a signal handler.',
    'tsr_run_create': 'Everything up to the first round: data, network, and first weights or those of a checkpoint. The\noptions are copied, and so are config, data and model. USAGE as for tsr_train. In one process\nonly: under mpirun use tsr_train.',
    'tsr_run_destroy': '',
    'tsr_run_step': 'One round, with what is due after it (evaluation, checkpoint). *more = false: it was the last\none; further calls do nothing. After a failure the run is over; DIVERGED and INTERRUPTED as for\ntsr_train.',
    'tsr_run_finish': 'Does the rounds that are left, evaluates the finished network on the test set and, if the run has\na folder, writes the model file. A second call only gives the same result.',
    'tsr_run_stop': 'Asks the run to stop after the round it is in: step and finish then end with INTERRUPTED, and a\nrun with a folder is saved. From any thread, and safe in a signal handler.',
    'tsr_run_progress': 'How far the run has come.',
    'tsr_run_model': 'out = the network as it is now, or the finished one. The caller destroys it.',
    'tsr_run_config': "The run's settings, every `auto` resolved. They belong to the run.",
    'tsr_ranks_ending': '',
    'tsr_context_on_hang': '',
    'tsr_rank': 'Which of the processes that mpirun started this is, and how many there are (`size` may be NULL);\n0 of 1 without mpirun. Known before anything is trained.',
    'tsr_ranks_excuse': 'For a process that is one of many and failed before it met the others: they would wait for it in\nvain. Waits until they can notice its end. True: the program should end them all; false: there\nare no others.',
    'tsr_ranks_end': 'Asks the program that started the processes (mpirun), if there is one, to end them all with that\nstatus. Returns after a few seconds at most; false: it does not answer.',
    'tsr_check': "RESOURCES when a GPU's memory would not hold the run, with the batch that would fit.",
    'tsr_bench': 'Times `repeats` training steps of the network and data that a config names, layer by layer; with\n`share` those of the smaller network that the first worker of its scheme trains. *json = the\ndocument of `tessera bench --json`; free it with tsr_free. USAGE when the scheme has no\nshares.',
    'tsr_cost_count': 'USAGE as for training. `data` may be NULL.',
    'tsr_cost_predict': '',
    'tsr_model_read': 'Reads a model.safetensors. BAD_FILE with path, place and reason. The caller destroys *out.',
    'tsr_model_parse': 'The same from the bytes of such a file.',
    'tsr_model_create': 'The network that a config describes, with the first weights that its seed gives. Its inputs have\nthe shape and scaling of `data`, its outputs are for the classes or targets of `data`.',
    'tsr_model_build': 'The same for samples [channels, height, width] that are not scaled, with that many outputs: one\nfor each class, or real numbers.',
    'tsr_model_copy': '',
    'tsr_model_destroy': '',
    'tsr_model_write': 'Writes the file, whole or not at all; or the same bytes into memory, *bytes [*n], which the\ncaller frees with tsr_free.',
    'tsr_model_bytes': '',
    'tsr_model_module': "Writes a PyTorch module that builds exactly this network and loads the file `weights` beside it,\nwithout our code. USAGE when the network cannot be built from PyTorch's own modules.",
    'tsr_model_config': 'The run file that made it: to read, or to change (data.*, threads, backend) before evaluating.',
    'tsr_model_use_data': 'Names other data than the model was trained on, a known set or a path. All of it is test data:\nnothing is split off, limited or resized. A message says what cannot be compared with the\ntraining data.',
    'tsr_model_look': '',
    'tsr_model_params': 'Parameter i, from 0, in the order of the layers; or the one of that name. USAGE when there is\nnone.',
    'tsr_model_param': '',
    'tsr_model_find': '',
    'tsr_model_set': 'Changes a parameter: F32 or F64 (a count also I64), of its shape. USAGE for another shape or\ntype, and for a number that it cannot hold: NaN, infinity, a negative variance.',
    'tsr_model_meta': 'What the file says under a key, "tessera.version"; NULL when there is nothing.',
    'tsr_model_evaluate': 'Evaluates the model on the test set (or the training set) that its config names; inputs are\nscaled as in its training, whatever the data.',
    'tsr_model_judge': 'The same on the test part of a data set, or on all of one that has none. Classes are matched by\ntheir names or numbers: the data need not show them all.',
    'tsr_model_predict': "The model's outputs for each sample of the set that its config names: *outputs = floats\n[*n, *width], *labels = the true classes or NULL. Free both with tsr_free.",
    'tsr_model_answers': 'What the model predicts for each sample of the data that its config names, which needs no\ntargets: a line each, with the names of columns and classes (docs/formats.md, predictions). *text\nis NULL when they go to a file; *told (may be NULL) = how many there are, and where. Free both\nwith tsr_free.',
    'tsr_model_evaluation': 'Writes an evaluation.json: confusions with examples, calibration, what each layer reads.',
    'tsr_model_gates': 'A gated network (grelu) with the gates of its own matrices ("exact", or NULL) or of the nearest\nones of a lower rank ("lowrank:8"), `batch` samples at a time (0 = 256): *json = how many gates\nagree, loss, accuracy and time with both, as `tessera eval --gates --json`. Free it with\ntsr_free. USAGE when the model has no gates.',
    'tsr_predictor_create': "`options` may be NULL. The model's numbers are copied: it may be changed or destroyed afterwards.\nThe backend is that of the model's config.",
    'tsr_predictor_destroy': 'Only when no call is going on.',
    'tsr_predictor_width': 'Numbers in an answer.',
    'tsr_predictor_run': "answers [n, width] of x, in the units of the training data: [n, ...] with the sample's shape or\nflat, of any type. `length` [n] of sequences, or NULL: all positions. USAGE when shapes do not\nfit or a number is not finite, or above 1e30 once it is scaled. The same sample gives the same\nbits whatever else is in x, as long as n is 1, or more than 1.",
    'tsr_predictor_classes': 'The class of each sample, classes [n]. USAGE for real targets.',
    'tsr_prune': 'Writes the ticket of the model file `model` as the model file `ticket`, which is really smaller\nand is read, evaluated and trained like any other. A file of that name is replaced, whole or not\nat all. USAGE when an option is out of range or does not fit the model; BAD_FILE as for\nreading.',
    'tsr_ticket': 'The same with a PyTorch module of its widths beside it (`ticket` with .py for .safetensors), and\n*json = what was saved: numbers, operations, bytes, times and layers before and after, as\n`tessera prune --json`. Free it with tsr_free.',
    'tsr_config_finetune': "Turns the run file of a model into that of fine-tuning: dense, one worker; this many epochs and\nthis learning rate, 0 = as they are. Then tsr_train with the model's path as options.init.",
    'tsr_model_distance': 'out = [*n], one for each layer that tickets lose units in; free it with tsr_free. One model may\nbe a ticket of the other, or both tickets of one network. USAGE when they are not of one\nmodel.',
    'tsr_model_rankings': 'The same with the distances of masks, as a document: that of `tessera distance --json`. Free\n*json with tsr_free.',
    'tsr_model_prune': "The ticket as a model in memory. Data for `recalibrate` is what the model's settings name.",
    'tsr_model_scores': 'scores [*n]: one number for each unit of the axis, of which tickets keep the largest. Free it\nwith tsr_free. USAGE when there is no such axis or criterion, or the axis has no such weights.',
    'tsr_share_create': "The whole of every axis of networks like the model's. The share keeps its own description.",
    'tsr_share_destroy': '',
    'tsr_share_axes': 'Axis i, from 0; USAGE after the last.',
    'tsr_share_axis': '',
    'tsr_share_give': 'Picks these units of that axis: index [count], in any order. USAGE when the axis cannot be cut,\nor an index is not on it or given twice.',
    'tsr_share_best': 'Picks the `count` units with the largest scores, score [units]; of equal ones the first.',
    'tsr_share_draw': 'USAGE when such shares cannot be drawn: more workers than units, xi out of range.',
    'tsr_share_take': 'small = the share of `whole` as a model of its own, used and trained like any other. USAGE when\nthe share belongs to another network, or is empty on an axis.',
    'tsr_share_put': 'Writes the numbers of small[i], the share share[i] of it, back into `whole`: copied where one has\na number, the mean where several do, untouched where none does. USAGE when they do not fit.',
    'tsr_model_ntk': "The tangent kernel of a model, or of the first weights that a config gives, into the caller's\nmemory: kernel [n, n]. If the data has no test part, a config takes the samples that its run\nwould train on (data.split), a model all of them. USAGE when there is no kernel of that kind, or\nthere are fewer samples.",
    'tsr_config_ntk': '',
    'tsr_ntk_measure': 'The kernel of a model or, with NULL, of a config, with its spectrum and times: *json = the\ndocument of `tessera ntk --json`, *kernel [n, n] (may be NULL). Free both with tsr_free. n = 0\nstands for 1000 samples, or all if there are fewer.',
    'tsr_eigenvalues': 'value [n] = the eigenvalues of a symmetric matrix [n, n], ascending.',
    'tsr_certify': 'Before the run that a config describes, on its data or on `data`. The caller destroys *out. USAGE\nwhen no paper speaks of such a run.',
    'tsr_certificate_destroy': '',
    'tsr_certificate_paper': '',
    'tsr_certificate_rows': '',
    'tsr_certificate_at': '',
    'tsr_certificate_text': 'The certificate as `tessera certify` prints it, and as it does with --json. Free *out with\ntsr_free.',
    'tsr_certificate_json': '',
    'tsr_certify_widths': 'Constants that the paper hides, measured at widths [count], 3 to 16 of them: *json = the document\nof `tessera certify --widths --json`, a power of the width fitted to each. Free it with\ntsr_free.',
    'tsr_theories': 'How wide a network must be, how long it trains and with which step, by eleven theories: *json =\nthe document of `tessera theory --json`; free it with tsr_free.',
    'tsr_import': 'A PyTorch checkpoint or safetensors file of a known network; nothing in it is executed. `options`\nmay be NULL. BAD_FILE, naming what is wrong, when it holds no network that is known.',
    'tsr_model_convert': "out = the ReLU network that equals a gated one on every training point (docs/grelu.md), or with\n`to_relu` false the gated network of a ReLU network. The data is what the model's settings name.\n`conversion` may be NULL. USAGE when no ReLU network is equal; with `least_squares` the nearest\none is taken.",
    'tsr_convert': 'The same into the model file `path`, with both networks compared on the training and the test\nset: *json = the document of `tessera convert --json`; free it with tsr_free.',
    'tsr_tickets': 'Makes tickets as `tessera ticket` does (docs/tickets.md): pretrains, prunes, fine-tunes and\nevaluates, all in options->folder, which is needed. *json = the table, as in ticket.json; free it\nwith tsr_free. Fails as tsr_train does.',
    'tsr_sweep': 'Every cell of the grid, `seeds` times (docs/sweep.md). *json = {"runs": N, ..., "outcomes":\n[...]} with an object for each run: its cell, seed and settings, loss, accuracy, train_loss,\nbytes, seconds, diverged, refused, curve; "table", an object for each cell: the mean over its\nseeds; and "best". Free it with tsr_free. One sweep at a time in a process.',
    'tsr_study_name': "The papers' figures and tables that can be made again: name i, from 0; NULL after the last.",
    'tsr_study_list': 'json = what one of them (with NULL each of them) shows, and what decides its claims: the\ndocument of `tessera reproduce --list --json`. Free it with tsr_free. USAGE, with the nearest\nname, when there is none of that name.',
    'tsr_reproduce': "Makes one again and judges its claims. *json = the study's summary.json; free it with\ntsr_free.",
    'tsr_reproduce_all': 'Makes each of them in a folder of its own below options->folder, but for those that are done.\nContinues when one cannot be made, and returns the first failure at the end.',
    'tsr_study_index': 'Writes index.html and results.md of the studies below a folder; *json = {"studies": N, "page",\n"results"}; free it with tsr_free. USAGE when there is none.',
    'tsr_study_gallery': 'Writes PAGE/README.md: it shows the pictures of the studies below a folder, where they stay, with\nthe verdict on each claim.',
    'tsr_study_cells': "names = the cells of a study in the paper's own setting that options->cells picks, a line each.\nWith name NULL a line for every study that is made in cells: how many it has, and how many\noperations they take. Free it with tsr_free. USAGE when the study is not made in cells, or no\ncell has such a name.",
    'tsr_report': "The page of a run's folder, or of a sweep's, as `path`; NULL = FOLDER/report.html. USAGE when the\nfolder holds no run, BAD_FILE when one of its files is damaged.",
    'tsr_report_pictures': 'Every chart of that page as files: BASE-SECTION.svg, .csv and (built with librsvg) .png, where\nSECTION is the section\'s name, "traffic-and-time", and further ones of a section are numbered\nfrom 2. *count = charts written.',
    'tsr_compare': 'Compares the runs in folder [count] on one page. *json = the document of `tessera report --json`;\nfree it with tsr_free. USAGE when a folder has no metrics.',
    'tsr_watch_open': 'USAGE when there is no such folder. The caller destroys *out.',
    'tsr_watch_destroy': '',
    'tsr_watch_look': 'Reads what is new.',
    'tsr_watch_runs': 'How many runs there are. *liveliest (may be NULL) = the one that is running or told something last;\n-1: there is none.',
    'tsr_watch_text': 'The state of all runs, as the text and the document of `tessera watch --once`. Free *out with\ntsr_free.',
    'tsr_watch_json': '',
    'tsr_watch_draw': 'The same for a terminal: `height` lines of at most `width` columns. Free *out with tsr_free.',
    'tsr_watch_serve': 'Shows a live page to browsers on this machine until tsr_context_stop. USAGE when the library was\nbuilt without a server, RESOURCES when the port is taken.',
    'tsr_metrics_csv': 'The metrics of the runs in a folder as a table, with a line for each evaluation or, with `event`,\nfor each event of that name. *csv is freed with tsr_free; with a `path` the table goes into that\nfile and *csv is NULL. `lines` may be NULL. USAGE when there is no such line.',
    'tsr_metrics_tensorboard': 'The same as event files of TensorBoard: a folder for each run inside the folder `out`. *runs and\n*numbers = how many were written.',
    'tsr_export_onnx': 'Writes the model as the ONNX file `path`, which is replaced whole or not at all. `made` and\n`options` may be NULL. FAILURE when the library was built without ONNX; USAGE when a layer or a\ntransform has no form there.',
    'tsr_onnx_measure': 'Times batches of random inputs. It is no failure when ONNX Runtime is not installed. USAGE when\nthe models take different inputs; otherwise fails as tsr_export_onnx does.',
}
