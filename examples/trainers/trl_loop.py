# ruff: noqa: T201
from datasets import Dataset
from tiny_policy import SILENT, build_model, build_tokenizer
from trl import GRPOConfig, GRPOTrainer

from assay.adapters.episodes import Episodes
from assay.adapters.trl_episodes import outcome, rollout_func, rows

TASK = "look_at_obj_in_light-AlarmClock-None-DeskLamp-308/trial_T20190908_222951_616606"
COMMANDS = ["go to desk 1", "use desklamp 1", "take alarmclock 1 from desk 1", "look", "inventory"]
tokenizer = build_tokenizer(COMMANDS)  # yours: AutoTokenizer.from_pretrained(…)
episodes = Episodes("alfworld", "alfworld_episode_reward", step_limit=6, at_once=16)
trainer = GRPOTrainer(
    model=build_model(tokenizer),  # yours: the name of a model
    processing_class=tokenizer,
    train_dataset=Dataset.from_list(rows(episodes, [TASK])),
    rollout_func=rollout_func(episodes, turn_tokens=1),  # yours: as many as a reply takes
    reward_funcs=[outcome],
    args=GRPOConfig(
        output_dir="runs/trl_loop",
        max_steps=4,
        per_device_train_batch_size=16,
        num_generations=16,
        max_completion_length=1024,  # observations included
        generation_kwargs={"suppress_tokens": tokenizer.convert_tokens_to_ids(list(SILENT))},
        learning_rate=1e-3,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        bf16=False,
    ),
)
trainer.train()
print([round(entry["reward"], 3) for entry in trainer.state.log_history if "reward" in entry])
episodes.close()
