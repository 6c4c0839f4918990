import json

import fake
import pandas
import pytest
from netuit import InputError, files, load, results, schema


def write_rows(folder, **changes):
    path = folder / "rows.csv"
    results.write_rows(path, [{**row, **changes} for row in fake.make_rows()])
    return path


def test_rows_have_the_dtypes_of_the_schema(tmp_path):
    frame = load(write_rows(tmp_path, seed=2**63 + 5))
    assert frame.attrs["table"] == "rows" and len(frame) == len(fake.make_rows())
    assert frame["updates_per_second"].dtype == "float64" and frame["mode"].dtype == "int64"
    assert frame["balanced"].dtype == bool and frame["balanced"].all()
    assert frame["mode_name"].dtype == "category"
    assert int(frame["seed"].iloc[0]) == 2**63 + 5
    assert load(tmp_path).equals(frame)  # a folder gives its rows


def test_rows_survive_a_parquet_file(tmp_path):
    pytest.importorskip("pyarrow", reason="NOT TESTED: pyarrow is missing")
    frame = load(write_rows(tmp_path, seed=2**63 + 5))
    frame.to_parquet(tmp_path / "rows.parquet")
    back = pandas.read_parquet(tmp_path / "rows.parquet")
    pandas.testing.assert_frame_equal(back, frame)
    assert back.attrs == frame.attrs and int(back["seed"].iloc[0]) == 2**63 + 5


def test_compressed_rows_are_read_like_plain_ones(tmp_path):
    plain = load(write_rows(tmp_path))
    files.make_folder(tmp_path / "packed")
    files.write_compressed(tmp_path / "packed" / "rows.csv.gz", (tmp_path / "rows.csv").read_text())
    for name in ("packed", "packed/rows.csv", "packed/rows.csv.gz"):
        assert load(tmp_path / name).equals(plain)
    assert results.read_rows(tmp_path / "packed" / "rows.csv") == results.read_rows(tmp_path / "rows.csv")


def test_the_plain_file_is_read_if_both_are_there(tmp_path):
    path = write_rows(tmp_path)
    (tmp_path / "rows.csv.gz").write_bytes(b"damaged")
    assert len(load(path)) == len(load(tmp_path)) == len(fake.make_rows())


@pytest.mark.parametrize("spoil", [lambda content: b"mode\n3\n", lambda content: content[:-20], lambda content: content[:40] + b"xx" + content[42:]])
def test_a_damaged_compressed_file_is_refused_in_one_line(spoil, tmp_path):
    path = tmp_path / "rows.csv.gz"
    files.write_compressed(path, write_rows(tmp_path).read_text())
    path.write_bytes(spoil(path.read_bytes()))
    for read in (load, results.read_rows):
        with pytest.raises(InputError, match="rows.csv.gz: not compressed by gzip, or damaged$"):
            read(path)


def test_the_schema_documents_each_column_that_the_program_writes():
    assert [column.name for column in schema.ROWS.columns][: -len(schema.SWEEP_COLUMNS)] == list(fake.make_row())
    for table in schema.TABLES:
        assert all(table.column(mark) for mark in table.marks)
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)
        assert all(column.kind in {"count", "id", "real", "text", "flag", "list", "object"} and column.meaning for column in table.columns)
        assert f"| `{names[0]}` |" in schema.as_markdown(table)


QUALITY = (
    "mode,mode_name,replicate,seed,snapshot,scope,layer,transport,process,thread,peer_process,peer_thread,"
    "simstep_period_s,simstep_latency_updates,clumpiness\n"
    "3,no_barrier,0,1,0,worker,0,thread,0,1,,,1e-05,1.5,0.5\n"
    "3,no_barrier,0,1,run,pair,0,thread,0,1,0,0,1e-05,,\n"
)


def test_quality_has_empty_ids_and_undefined_metrics(tmp_path):
    (tmp_path / "q.csv").write_text(QUALITY)
    frame = load(tmp_path / "q.csv")
    assert frame.attrs["table"] == "quality"
    assert frame["snapshot"].dtype == "Int64" and list(frame["snapshot"].isna()) == [False, True]
    assert list(frame["peer_process"].isna()) == [True, False]
    assert frame["clumpiness"].isna().tolist() == [False, True]


def test_a_manifest_is_one_row(tmp_path):
    (tmp_path / "rows.json").write_text(json.dumps({"program": "channel_selection", "modes": [0, 3]}))
    frame = load(tmp_path / "rows.json")
    assert len(frame) == 1 and frame["modes"].iloc[0] == [0, 3]


def test_columns_that_the_schema_does_not_know_stay(tmp_path):
    frame = load(write_rows(tmp_path, extra="7"))
    assert frame["extra"].sum() == 7 * len(frame)


@pytest.mark.parametrize(
    "name, text, reason",
    [
        ("a.csv", "x,y\n1,2\n", "a.csv:1: these are no columns"),
        ("a.csv", "", "a.csv:1: these are no columns"),
        ("a.json", "{\n", "a.json:2"),
        ("a.json", "[]", "a.json:1: expected an object"),
        ("q.csv", QUALITY.replace("0.5", "half"), "q.csv:2: clumpiness 'half' is not a number"),
        ("q.csv", QUALITY.replace("3,no_barrier,0,1,run", "x,no_barrier,0,1,run"), "q.csv:3: mode 'x' is not a number"),
        ("q.csv", QUALITY.replace("3,no_barrier,0,1,0", ",no_barrier,0,1,0"), "q.csv:2: mode is empty"),
    ],
)
def test_bad_files_are_refused_with_file_and_line(name, text, reason, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=reason):
        load(tmp_path / name)
    with pytest.raises(InputError, match="none.csv: No such file"):
        load(tmp_path / "none.csv")


def test_a_file_that_was_cut_in_a_row_is_refused(tmp_path):
    path = write_rows(tmp_path)
    path.write_text(path.read_text()[:-60])
    with pytest.raises(InputError, match="is empty|not a number|Expected"):
        load(path)


def test_the_schema_is_printed_as_tables(capsys):
    assert schema.main(["rows"]) == 0
    assert capsys.readouterr().out.startswith("### rows.csv\n")
    assert schema.main([]) == 0
    assert capsys.readouterr().out.count("###") == len(schema.TABLES)
    assert schema.main(["run"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("### run.json\n") and "| member | kind |" in page and "| `cluster.network.latency` | real | s |" in page
    assert schema.main(["what"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
