/* borrow.h - an op that a backend has no kernel for, computed by another backend
 * (backend->lender). */
#ifndef TSRI_BORROW_H
#define TSRI_BORROW_H

#include "backend/backend.h"

/* Gives the op a kernel of the lender, which works on copies. USAGE when there is no lender, or
 * when the op has gates or reads through a virtual norm: those never leave their device. */
tsr_status tsri_op_borrow(tsri_op *op, const tsri_backend *borrower);

#endif
