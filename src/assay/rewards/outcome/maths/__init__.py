"""Is a mathematical answer right: found in the response, compared with the reference, and why.

    reward           `math_equal_reward` and `math_equal_reward_tool`
    extract          where the answer is: an explicit policy (`policy`) over `boxes` and `clauses`,
                     refusing what the response itself takes back (`hedges`)
    compare          whether two answers are the same, bounded by construction
    second_opinion   sympy in a process of its own, for what the comparator does not settle

Nothing in here executes text, waits without a limit or keeps state between calls; the one process
that is kept belongs to `second_opinion` and starts only when it is asked for.
"""
