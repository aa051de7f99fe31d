/* rnn.c - Allen-Zhu, Li, Song, "On the Convergence Rate of Training Recurrent Neural Networks": its
 * theorems, for there are no figures.
 *
 *     convergence   Theorem 1: the loss falls exponentially; its rate against delta, n and m
 *                   (rnn_convergence.c)
 *     length        section 4: norms along sequences of up to 200 positions grow as a power of the
 *                   length, not exponentially; the linear network beside it does (rnn_length.c)
 *     memorise      random targets at every position learned by GD and SGD; speakers told apart
 *                   (rnn_memorise.c)
 */
#include "reproduce/reproductions.h"
#include "reproduce/rnn.h"

const tsri_reproduction tsri_reproduce_rnn[] = {
    {"rnn/convergence", "the linear rate against delta, n and m", .make = tsri_rnn_convergence,
     .paper = tsri_rnn_convergence},
    {"rnn/length", "norms along 200 positions: polynomial, not exponential",
     .make = tsri_rnn_length_study, .paper = tsri_rnn_length_study},
    {"rnn/memorise", "random targets learned by GD and SGD; Japanese Vowels",
     .make = tsri_rnn_memorise, .paper = tsri_rnn_memorise},
    {0},
};
