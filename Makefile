PYTHON ?= python3
export DO_NOT_TRACK = true
export MLFLOW_DISABLE_TELEMETRY = true

.PHONY: setup run test viz mlflow lock lint clean
setup: .venv/.runtime

.venv/.runtime: requirements.lock pyproject.toml
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --require-hashes -r requirements.lock
	.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

.venv/.dev: .venv/.runtime requirements-dev.lock
	.venv/bin/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	touch $@

run: .venv/.runtime
	.venv/bin/kedro run

test: .venv/.dev
	.venv/bin/python -m pytest

lint: .venv/.dev
	.venv/bin/ruff check && .venv/bin/ruff format --check && .venv/bin/mypy && .venv/bin/lint-imports

viz: .venv/.runtime
	@echo "Stages:        http://127.0.0.1:4141/?types=nodes"
	@echo "With datasets: http://127.0.0.1:4141/?types=nodes,datasets"
	@echo "Last run:      http://127.0.0.1:4141/workflow"
	.venv/bin/kedro viz run --host 127.0.0.1 --port 4141 --include-hooks

mlflow: .venv/.runtime
	@echo "Runs:          http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning"
	@echo "Side by side:  http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning&compareRunsMode=ARTIFACT"
	MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false .venv/bin/mlflow ui --backend-store-uri sqlite:///mlflow.db --host 127.0.0.1 --port 5000 --workers 1

lock: .venv/.dev
	.venv/bin/uv pip compile --quiet pyproject.toml --extra build --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -o requirements.lock
	.venv/bin/uv pip compile --quiet pyproject.toml --extra build --extra dev -c requirements.lock --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -o requirements-dev.lock

clean:
	rm -rf .venv build .viz .pytest_cache .ruff_cache .mypy_cache mlflow.db mlartifacts
	find data -type f ! -name .gitkeep -delete
