"""A real Dagster for tests: webserver, daemon and code server on 127.0.0.1, gone when the test ends."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def session_members(session: int) -> list[int]:
    """Processes that belong to the session, zombies left out."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[3]) == session:
            members.append(int(stat.parent.name))
    return members


def wait_for(what: str, ask: Callable[[], Any], seconds: float) -> Any:
    """Ask until the answer is true; a failure names what was waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := ask():
            return answer
        time.sleep(0.5)
    raise AssertionError(f"{what}: not within {seconds} s")


class RunningDagster:
    """The address of a running Dagster, its log, and its GraphQL."""

    def __init__(self, port: int, environment: Mapping[str, str], log: Path) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.environment = environment
        self.log = log

    def is_up(self) -> bool:
        try:
            answer = self.query("{ workspaceOrError { ... on Workspace { locationEntries { loadStatus } } } }")
            return [entry["loadStatus"] for entry in answer["workspaceOrError"]["locationEntries"]] == ["LOADED"]
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def query(self, text: str, **variables: Any) -> dict[str, Any]:
        body = json.dumps({"query": text, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            result = json.load(answer)
        assert "errors" not in result, result["errors"]
        return dict(result["data"])

    def materialise(self, assets: list[str], month: str, resources: dict[str, Any]) -> str:
        """Start the run that the UI's Launchpad starts for one month; returns its id."""
        keys = [{"path": key.split("/")} for key in assets]
        launched = self.query(
            """mutation($p: ExecutionParams!) { launchPipelineExecution(executionParams: $p) { __typename
            ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
            ... on RunConfigValidationInvalid { errors { message } } } }""",
            p={
                "selector": {
                    "repositoryName": "__repository__",
                    "repositoryLocationName": "rukh",
                    "jobName": "__ASSET_JOB",
                    "assetSelection": keys,
                    "assetCheckSelection": [],
                },
                "runConfigData": {"resources": {name: {"config": config} for name, config in resources.items()}},
                "executionMetadata": {"tags": [{"key": "dagster/partition", "value": month}]},
            },
        )["launchPipelineExecution"]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        return str(launched["run"]["runId"])

    def run_ended(self, run_id: str) -> str | None:
        status = self.query("query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }", id=run_id)[
            "runOrError"
        ]["status"]
        return str(status) if status in {"SUCCESS", "FAILURE", "CANCELED"} else None

    def backfill(self, assets: list[str], months: list[str]) -> str:
        """Start the backfill that the UI's button starts; returns its id."""
        launched = self.query(
            """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) { __typename
            ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message }
            ... on PartitionKeysNotFoundError { message } } }""",
            p={"assetSelection": [{"path": key.split("/")} for key in assets], "partitionNames": months},
        )["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        return str(launched["backfillId"])

    def backfill_ended(self, backfill: str) -> str | None:
        status = self.query(
            "query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }",
            id=backfill,
        )["partitionBackfillOrError"]["status"]
        return None if status in {"REQUESTED", "CANCELING", "FAILING"} else str(status)

    def runs(self) -> list[dict[str, Any]]:
        runs = self.query("{ runsOrError { ... on Runs { results { runId status jobName tags { key value } } } } }")
        return list(runs["runsOrError"]["results"])


@contextmanager
def running_dagster(project: Path, home: Path, **settings: str) -> Iterator[RunningDagster]:
    """`dagster dev` in a session of its own; afterwards nothing of it is left."""
    dagster_home = home / "dagster"
    dagster_home.mkdir(parents=True)
    shutil.copy(project / "dagster.yaml", dagster_home / "dagster.yaml")
    environment = os.environ | {"DAGSTER_HOME": str(dagster_home), "RUKH_HOME": str(home), **settings}
    port, log = free_port(), home / "dagster.log"
    command = [BIN / "dagster", "dev", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=project, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        dagster = RunningDagster(port, environment, log)
        wait_for("the webserver", dagster.is_up, seconds=90)
        yield dagster
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the session politely, then by force; nothing may be left."""
    for sign, patience in ((signal.SIGTERM, 20), (signal.SIGINT, 10), (signal.SIGKILL, 10)):
        for member in session_members(process.pid):
            try:
                os.kill(member, sign)
            except ProcessLookupError:
                continue
        deadline = time.monotonic() + patience
        while session_members(process.pid) and time.monotonic() < deadline:
            process.poll()
            time.sleep(0.2)
    process.wait(timeout=10)
    assert not session_members(process.pid)
