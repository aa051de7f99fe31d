/* names.h - the names that a run file has for its models, losses, optimisers, schemes and backends:
 * the one list of each.
 *
 * A new one is a line here and a file of its own that ends with its row (docs/extending.md). From
 * these lists follow the choices of the run file (schema.c) and the tables of rows (net/models.c,
 * backend/loss.c, scheme/schemes.c, backend/backend.c); the rows are called tsri_model_NAME,
 * tsri_loss_NAME, tsri_scheme_NAME and tsri_backend_NAME; those of the optimisers stand together in
 * optim/optim.c. An import tries the models in this order.
 */
#ifndef TSRI_NAMES_H
#define TSRI_NAMES_H

#define TSRI_MODEL_NAMES(X)                                                                        \
    X(mlp)                                                                                         \
    X(shallow)                                                                                     \
    X(relu_deep)                                                                                   \
    X(rnn)                                                                                         \
    X(grelu)                                                                                       \
    X(relu_twin)                                                                                   \
    X(preresnet18)                                                                                 \
    X(preresnet34)                                                                                 \
    X(resnet18)                                                                                    \
    X(resnet34)                                                                                    \
    X(resnet50)                                                                                    \
    X(resnet101)                                                                                   \
    X(resnet152)                                                                                   \
    X(wide_resnet50_2)                                                                             \
    X(wide_resnet101_2)                                                                            \
    X(wideresnet)                                                                                  \
    X(vgg11)                                                                                       \
    X(vgg11_bn)                                                                                    \
    X(vgg13_bn)                                                                                    \
    X(vgg16_bn)                                                                                    \
    X(vgg19_bn)                                                                                    \
    X(vgg11_plain)                                                                                 \
    X(vgg13_plain)                                                                                 \
    X(vgg16_plain)                                                                                 \
    X(vgg19_plain)                                                                                 \
    X(cnn1)

#define TSRI_LOSS_NAMES(X)                                                                         \
    X(cross_entropy)                                                                               \
    X(mse)                                                                                         \
    X(half_squares)                                                                                \
    X(huber)                                                                                       \
    X(hinge)                                                                                       \
    X(squared_hinge)                                                                               \
    X(exponential)                                                                                 \
    X(logistic)

#define TSRI_OPTIM_NAMES(X)                                                                        \
    X(sgd)                                                                                         \
    X(gd)                                                                                          \
    X(adam)                                                                                        \
    X(adamw)

#define TSRI_SCHEME_NAMES(X)                                                                       \
    X(dense)                                                                                       \
    X(dropout)                                                                                     \
    X(multisample)                                                                                 \
    X(masked)                                                                                      \
    X(ist)                                                                                         \
    X(loft)                                                                                        \
    X(local_sgd)                                                                                   \
    X(gpipe)

#define TSRI_BACKEND_NAMES(X)                                                                      \
    X(cpu)                                                                                         \
    X(ref)

/* Those that are modules (backend/module.h). */
#define TSRI_MODULE_NAMES(X) X(cuda)

#endif
