# ruff: noqa: E402 - what is patched must be patched before the imports after it
"""A study of AgentLab: its own `Study`, chat model and loop, in Chromium, on pages of ours."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nltk  # type: ignore[import-not-found]

# Importing AgentLab loads WebArena's sentence splitter from the network; nothing here needs it.
nltk.download = lambda *_, **__: True

import bgym  # type: ignore[import-not-found]
from agentlab.agents.agent_args import AgentArgs  # type: ignore[import-not-found]
from agentlab.experiments.study import Study  # type: ignore[import-not-found]
from agentlab.llm.chat_api import ChatModel  # type: ignore[import-not-found]
from agentlab.llm.llm_utils import (  # type: ignore[import-not-found]
    Discussion,
    HumanMessage,
    SystemMessage,
)
from agentlab.llm.tracking import cost_tracker_decorator  # type: ignore[import-not-found]
from browsergym.core.registration import register_task  # type: ignore[import-not-found]
from browsergym.core.task import AbstractBrowserTask  # type: ignore[import-not-found]
from browsergym.utils.obs import flatten_axtree_to_str  # type: ignore[import-not-found]
from playwright.sync_api import BrowserType

from tools.foreign_logs.endpoint import MODEL, serve
from tools.foreign_logs.questions import QUESTIONS, Question

BY_NAME = {f"scripted.{question.id}": question for question in QUESTIONS}
ASKED = ("scripted.sum.1", "scripted.sum.3", "scripted.capital.2", "scripted.broken.1")


class QuestionTask(AbstractBrowserTask):  # type: ignore[misc]
    """A page with a question; the message to the user is the answer."""

    def __init__(self, seed: int, question: Question) -> None:
        super().__init__(seed)
        self.question = question
        self.viewport = {"width": 320, "height": 200}

    def setup(self, page: Any) -> tuple[str, dict[str, Any]]:
        page.set_content(f"<h1>A question</h1><p>{self.question.text}</p>")
        return self.question.text, {}

    def validate(self, page: Any, messages: Any) -> tuple[float, bool, str, dict[str, Any]]:  # noqa: ARG002
        answers = [each["message"] for each in messages if each["role"] == "assistant"]
        if len(answers) < 2:  # the first is the greeting
            return 0.0, False, "", {}
        return float(answers[-1].strip() == self.question.answer), True, "", {}

    def teardown(self) -> None: ...


@dataclass
class AskingAgentArgs(AgentArgs):  # type: ignore[misc]
    agent_name: str = "AskingAgent"
    model_name: str = MODEL
    base_url: str = ""

    def make_agent(self) -> Any:
        return AskingAgent(self)


class AskingAgent(bgym.Agent):  # type: ignore[misc]
    """Looks once, then says what the model says."""

    def __init__(self, args: AskingAgentArgs) -> None:
        self.chat = ChatModel(
            args.model_name,
            api_key="sk-not-a-key",
            max_retry=1,
            min_retry_wait_time=0,
            client_args={"base_url": args.base_url, "max_retries": 0},
        )
        self.action_set = bgym.HighLevelActionSet(["chat", "bid"], multiaction=False)
        self.looked = False

    def obs_preprocessor(self, obs: dict[str, Any]) -> dict[str, Any]:
        obs["axtree_txt"] = flatten_axtree_to_str(obs["axtree_object"])
        for heavy in ("dom_object", "axtree_object", "extra_element_properties"):
            obs.pop(heavy, None)
        return obs

    @cost_tracker_decorator  # type: ignore[untyped-decorator]
    def get_action(self, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if not self.looked:
            self.looked = True
            return "noop()", bgym.AgentInfo(think="The page first.", stats={})
        messages = Discussion(SystemMessage("Answer with one word."))
        messages.append(HumanMessage(f"{obs['goal']}\n\n{obs['axtree_txt']}"))
        reply = self.chat(messages.messages)
        messages.append(reply)
        action = f"send_msg_to_user({reply['content']!r})"
        return action, bgym.AgentInfo(think="The model knows.", chat_messages=messages, stats={})


def use_system_chromium() -> None:
    """Playwright starts the system's Chromium where its own is not installed."""
    launch, chromium = BrowserType.launch, shutil.which("chromium") or "chromium"

    def launch_system(self: BrowserType, **options: Any) -> Any:
        if not Path(self.executable_path).is_file():
            options["executable_path"] = chromium
            options["args"] = [*(options.get("args") or []), "--no-sandbox"]
        return launch(self, **options)

    BrowserType.launch = launch_system  # type: ignore[method-assign]


def main(folder: Path) -> None:
    """Run a study of four tasks; the endpoint breaks in the last."""
    os.environ["AGENTLAB_EXP_ROOT"] = str(folder)
    use_system_chromium()
    for name, question in BY_NAME.items():
        register_task(name, QuestionTask, task_kwargs={"question": question})
    benchmark = bgym.Benchmark(
        name="scripted",
        high_level_action_set_args=bgym.HighLevelActionSetArgs(subsets=["chat", "bid"]),
        is_multi_tab=False,
        supports_parallel_seeds=True,
        backends=[],
        env_args_list=[bgym.EnvArgs(task_name=name, task_seed=0, max_steps=4) for name in ASKED],
    )
    with serve() as url:
        study = Study([AskingAgentArgs(base_url=url)], benchmark, comment="a scripted endpoint")
        study.run(n_jobs=1, parallel_backend="sequential", n_relaunch=1, exp_root=folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
