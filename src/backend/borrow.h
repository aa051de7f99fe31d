/* borrow.h - an op that a backend has no kernel for, computed by another (backend->lender). */
#ifndef TSRI_BORROW_H
#define TSRI_BORROW_H

#include "backend/backend.h"

/* Gives the op a kernel of the lender's, which works on copies. USAGE when there is no lender, or
 * when it cannot: what has gates or reads through a virtual norm stays on its device. */
tsr_status tsri_op_borrow(tsri_op *op, const tsri_backend *borrower);

#endif
