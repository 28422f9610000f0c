"""The code location: what it defines, what loading it costs, and that Dagster's own checks accept it."""

import json
import subprocess
import sys
from pathlib import Path

import dagster as dg

from rukh_assets.definitions import defs
from rukh_assets.defs.records import corpora

CHAIN = {
    *("games", "vocab", "bpe/tokenizer", "tokenizer_stats", "parity_fixture"),
    *(f"{scheme}/{kind}" for scheme in ("uci", "san", "bpe") for kind in ("shards", "pack")),
}
RECORDS = {f"records/{corpus}/shards" for corpus in corpora}
RECORDS |= {f"records/chess/{kind}" for kind in ("seq", "sft", "grpo", "dpo")}
UNPARTITIONED = {"vocab", "bpe/tokenizer", "parity_fixture"}


def specs() -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}


def test_the_location_defines_the_chain_and_the_record_corpora_and_nothing_else() -> None:
    dg.Definitions.validate_loadable(defs)
    assert set(specs()) == CHAIN | RECORDS


def test_every_asset_has_group_kinds_owner_description_and_code_version() -> None:
    for name, spec in specs().items():
        assert spec.group_name, name
        assert spec.group_name != "default", name
        assert spec.kinds, name
        assert spec.owners, name
        assert spec.description, name
        assert spec.code_version, name


def test_assets_are_monthly_from_2013_but_for_the_three_that_all_months_share() -> None:
    for name, spec in specs().items():
        if name in UNPARTITIONED:
            assert spec.partitions_def is None, name
        else:
            assert spec.partitions_def is not None, name
            assert spec.partitions_def.get_first_partition_key() == "2013-01", name


def test_games_declares_its_columns() -> None:
    columns = specs()["games"].metadata["dagster/column_schema"].columns
    assert [column.name for column in columns][:3] == ["game_id", "uci", "n_plies"]
    assert all(column.description for column in columns)


def test_every_check_blocks() -> None:
    graph = defs.resolve_asset_graph()
    assert len(graph.asset_check_keys) == 12 + 4 * len(corpora)
    assert all(graph.get_check_spec(key).blocking for key in graph.asset_check_keys)
    assert all(graph.get_check_spec(key).description for key in graph.asset_check_keys)


def test_loading_the_definitions_imports_no_torch_tokenizers_or_plots() -> None:
    code = """
import json, sys
import rukh_assets.definitions
print(json.dumps(sorted({"torch", "tokenizers", "jinja2", "matplotlib", "pandas"} & set(sys.modules))))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(loaded.stdout) == []


def test_dg_checks_and_lists_the_definitions(project: Path) -> None:
    def run(*arguments: str) -> str:
        command = [Path(sys.executable).parent / "dg", *arguments]
        return subprocess.run(command, cwd=project, capture_output=True, text=True, check=True).stdout

    run("check", "defs")
    listed = json.loads(run("list", "defs", "--json"))
    assert {asset["asset_key"] for asset in listed["assets"]} == CHAIN | RECORDS
    assert {job["name"] for job in listed["jobs"]} == {"month", "records"}
    assert {schedule["name"] for schedule in listed["schedules"]} == {"monthly", "monthly_records"}
