"""The import addresses of all objects that come with Assay, by kind and name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BUILT_IN: Final[Mapping[str, Mapping[str, str]]] = {
    "reward": {
        "qa_f1_reward": "assay.rewards.outcome.qa.reward:qa_f1_reward",
        "qa_f1_reward_tool": "assay.rewards.outcome.qa.reward:qa_f1_reward_tool",
        "math_equal_reward": "assay.rewards.outcome.maths.reward:math_equal_reward",
        "math_equal_reward_tool": "assay.rewards.outcome.maths.reward:math_equal_reward_tool",
        "assistantbench_reward": "assay.rewards.outcome.answers.reward:assistantbench_reward",
        "fuzzy_answer_reward": "assay.rewards.outcome.answers.reward:fuzzy_answer_reward",
        "webshop_reward": "assay.worlds.webshop.reward:webshop_reward",
        "alfworld_episode_reward": "assay.worlds.alfworld.reward:alfworld_episode_reward",
        "scienceworld_reward": "assay.worlds.scienceworld.reward:scienceworld_reward",
        "environment_reward": "assay.rewards.outcome.environment:environment_reward",
        "sql_reward": "assay.rewards.outcome.sql.reward:sql_reward",
        "tool_call_reward": "assay.rewards.outcome.calls.reward:tool_call_reward",
        "json_reward": "assay.rewards.outcome.records.reward:json_reward",
        "code_reward": "assay.rewards.outcome.code.reward:code_reward",
        "choice_reward": "assay.rewards.outcome.choice:choice_reward",
        "format_reward": "assay.rewards.outcome.form:format_reward",
        "instructions_reward": "assay.rewards.outcome.instructions.reward:instructions_reward",
        "length_reward": "assay.rewards.outcome.form:length_reward",
        "repetition_reward": "assay.rewards.outcome.form:repetition_reward",
    },
    "environment": {
        "chat": "assay.worlds.chat.environment:Chat",
        "scienceworld": "assay.worlds.scienceworld.environment:ScienceWorld",
        "alfworld": "assay.worlds.alfworld.environment:AlfWorld",
        "webshop": "assay.worlds.webshop.environment:WebShop",
        "browser": "assay.browser.drive.environment:BrowserEnvironment",
        "miniwob": "assay.browser.drive.miniwob.environment:MiniWob",
        "browsergym": "assay.browser.drive.browsergym.environment:BrowserGym",
    },
    "agent": {
        "scripted": "assay.agents.scripted:ScriptedAgent",
        "replay": "assay.agents.replay:ReplayAgent",
        "web_research": "assay.browser.research.agent:WebResearchAgent",
        "chat": "assay.agents.chat:ChatAgent",
        "http": "assay.agents.outside:HttpAgent",
        "stdio": "assay.agents.outside:StdioAgent",
    },
    "model": {
        "openai": "assay.agents.models.openai:OpenAIModel",
        "anthropic": "assay.agents.models.anthropic:AnthropicModel",
        "cli": "assay.agents.models.cli:CliModel",
    },
    "task source": {
        "jsonl": "assay.tasks.jsonl:tasks",
        "assistantbench": "assay.tasks.assistantbench:tasks",
        "alfworld": "assay.worlds.alfworld.tasks:tasks",
        "scienceworld": "assay.worlds.scienceworld.tasks:tasks",
        "webshop": "assay.worlds.webshop.tasks:tasks",
        "miniwob": "assay.browser.drive.miniwob.pages:tasks",
    },
    "step scorer": {
        "recovery": "assay.browser.step_records:recovery",
    },
    "benchmark": {
        "alfworld": "assay.runner.benchmarks:ALFWORLD",
        "assistantbench": "assay.runner.benchmarks:ASSISTANTBENCH",
        "miniwob": "assay.runner.benchmarks:MINIWOB",
        "scienceworld": "assay.runner.benchmarks:SCIENCEWORLD",
        "webshop": "assay.runner.benchmarks:WEBSHOP",
    },
}
