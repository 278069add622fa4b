"""Whether the answer in a response equals a mathematical reference, and by which rule.

    reward           `math_equal_reward` and `math_equal_reward_tool`
    extract          where the answer is: an explicit policy over `boxes` and `clauses`,
                     refusing what the response itself takes back (`hedges`)
    compare          whether two answers are the same, bounded by construction
    second_opinion   sympy in a process of its own, for what the comparator does not settle

Nothing in here executes text, waits without a limit or keeps state between calls, except for the
process of `second_opinion`, which starts with its first question.
"""
