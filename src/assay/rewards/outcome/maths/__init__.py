"""Compare the answer in a response with a mathematical reference answer.

    reward     the two rewards; `assay.text.answers` finds the answer in the response
    read       the answer's text as one typed node, or why it cannot be read
    compute    the value of an expression; `notations` has one row for each function with its
               spellings, arity, exact rule, numeric rules and domain
    compare    whether two nodes are the same: one rule for each shape, in the table of `shapes`
    nodes      the types that are read, computed and compared
    limits     every bound, checked before the work that it bounds

Each uses only those below it. Nothing here executes text, waits without a limit or keeps state
between calls.
"""
