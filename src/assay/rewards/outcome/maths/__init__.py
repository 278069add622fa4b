"""Whether the answer in a response equals a mathematical reference, and by which rule.

    reward     `math_equal_reward` and `math_equal_reward_tool`
    find       where the answer is: an explicit policy, refusing what the response takes back
    read       what the answer says: its text as one typed node, or why it cannot be read
    compute    what an expression is worth, and `notations`: one row for each function, constant
               and operator, with its spellings, arity, exact rule, numeric rules and domain
    compare    whether two nodes are the same: one rule for each shape, in the table of `shapes`
    nodes      the types that are read, computed and compared
    limits     every bound, checked before the work that it bounds

`compare` uses the three rooms before it, `read` uses `compute`, and all use `nodes` and `limits`.
Nothing in here executes text, waits without a limit or keeps state between calls.
"""
