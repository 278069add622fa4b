"""Results and samples of the LM Evaluation Harness, written by its own command line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from lm_eval.__main__ import cli_evaluate  # type: ignore[import-not-found]

from tools.foreign_logs.endpoint import MODEL, serve
from tools.foreign_logs.questions import QUESTIONS

TASK = """\
task: scripted_questions
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: generate_until
doc_to_text: "Question: {{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: ["\\n\\n"]
  max_gen_toks: 16
filter_list:
  - name: strict-match
    filter:
      - function: regex
        regex_pattern: "^(\\\\w+)$"
      - function: take_first
  - name: flexible-extract
    filter:
      - function: regex
        regex_pattern: "([0-9]+)"
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: true
metadata:
  version: 2.1
"""
CHOICES = """\
task: scripted_choices
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: multiple_choice
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_choice: "{{{{[answer, 'nothing at all', 'I do not know']}}}}"
doc_to_target: 0
metric_list:
  - metric: acc
  - metric: acc_norm
metadata:
  version: 1.0
"""


def evaluate(*arguments: str) -> None:
    """What `lm_eval run` does on the command line."""
    sys.argv = ["lm_eval", "run", *arguments]
    cli_evaluate()


def main(folder: Path) -> None:
    """Evaluate the questions that have a reply: a failure of the endpoint ends this tool.

    The same as a choice among continuations, by the tool's own dummy model, which guesses.
    """
    os.environ["OPENAI_API_KEY"] = "sk-not-a-key"
    os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
    with TemporaryDirectory() as scratch, serve() as url:
        data = Path(scratch) / "questions.jsonl"
        rows = [{"id": q.id, "question": q.text, "answer": q.answer} for q in QUESTIONS if q.reply]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (Path(scratch) / "questions.yaml").write_text(TASK.format(data=data))
        (Path(scratch) / "choices.yaml").write_text(CHOICES.format(data=data))
        settings = f"model={MODEL},base_url={url}/chat/completions,num_concurrent=1,max_retries=1"
        shared = ("--include_path", scratch, "--log_samples", "--output_path", str(folder))
        chat = ("--model", "local-chat-completions", "--model_args", settings)
        evaluate(*chat, "--apply_chat_template", "--tasks", "scripted_questions", *shared)
        evaluate("--model", "dummy", "--tasks", "scripted_choices", *shared)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
