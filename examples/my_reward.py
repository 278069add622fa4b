"""A reward of your own: a function of the answer and the reference.

assay run my_questions.jsonl --agent my_agent.py:answer --reward my_reward.py:short_and_right
"""

import assay


@assay.reward(name="short_and_right", version=1)
def short_and_right(final_response: str, answer: str, *, max_words: int = 3) -> float:
    """One for the right words, a half where there are more than `max_words` around them."""
    words = final_response.lower().split()
    is_right = answer.lower() in words
    return float(is_right) if len(words) <= max_words else is_right / 2
