"""browser-use in a run of Assay: unmodified, with its own hands, every step recorded and scored.

    assay run townsquare --agent browser_use_agent.py:walk --set model=gpt-5-mini

It attaches to the episode's browser. The environment must have the packages of both.
"""

import os

from browser_use import Agent, Browser, ChatOpenAI

from assay.browser.connect import run_watched


async def walk(question, browser, limits, *, model: str = "gpt-5-mini", base_url: str = ""):
    """What browser-use answers, with the tokens that it used."""
    key = os.environ.get("OPENAI_API_KEY", "none")
    llm = ChatOpenAI(model=model, base_url=base_url or None, api_key=key)
    agent = Agent(
        task=question,
        llm=llm,
        browser=Browser(cdp_url=browser.cdp_url),
        use_vision=False,
        use_judge=False,
    )
    history = await run_watched(agent, browser=browser, max_steps=limits.steps)
    used = history.usage
    return {
        "answer": history.final_result(),
        "gave_up": history.final_result() is None,
        "usage": {
            "prompt_tokens": used.total_prompt_tokens,
            "completion_tokens": used.total_completion_tokens,
            "calls": used.entry_count,
        },
    }
