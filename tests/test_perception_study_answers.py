"""The receiver and the merged table: nothing malformed in, nothing acknowledged lost, nothing twice."""

import csv
import http.client
import json
import threading
import zlib

import pytest

from motionbook.perception import read_ratings, read_responses
from motionbook.perception.study import make_server, merge_exports, pair_plan, rating_plan
from motionbook.perception.study.receiver import Inbox
from motionbook.perception.study.records import COLUMNS, PERSON, crc, problem, row_checksum

PLAN = pair_plan(["GT", "NN", "NOISE"], ["00", "01"], 3, scored=4)
RATINGS = rating_plan({f"{s}_glide_{k}": s for s in "ab" for k in range(2)}, 2, practice=["a_glide_0"])


def make_rows(plan=PLAN, slot=0, person="p" + "0" * 16, **changes):
    """A person's answers as the page makes them."""
    rows, design = [], plan["design"]
    for trial in (t for t in plan["people"][slot]["trials"] if t["count"] is not None):
        value = str(trial.get("expected", 1 if design == "pairs" else 3))
        row = {
            "timestamp": "2026-02-01 02:22:22", "language": "eu", "gender": "female", "age": "18-24", "group": "",
            "seconds": "3.20", "watched": "1.00", "replays": "0", "hidden": "0", "interrupted": "0", "dropped": "0",
            "drift": "0.010", "shown": "film", "screen": "1280x900", "consent": "1 2026-02-01 02:20:00",
            "slot": str(slot), "plan": plan["hash"], "kind": trial["kind"], "responseCount": str(trial["count"]),
            "answerID": f"{person}-{trial['count']}", "left": trial["left"], "right": trial["right"],
            "clip": trial["clip"], "item": trial["right"], "source": trial["clip"], "choice": value, "score": value,
            "scale": plan.get("scale", ""), PERSON[design]: person,
        } | changes  # fmt: skip
        row = {name: row.get(name, "") for name in COLUMNS[design]}
        rows.append(row | {"checksum": row_checksum(row, design)})
    return rows


def messages(rows):
    return [{"id": row["answerID"], "type": "answer", "row": row} for row in rows]


def write_csv(path, rows, columns=COLUMNS["pairs"]):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


class Post:
    """A receiver in a thread, and one way to talk to it."""

    def __init__(self, folder, plan=PLAN, **options):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plan.json").write_text(json.dumps(plan))
        self.server = make_server(folder, port=0, **options)
        self.path = folder / f"answers_{plan['hash'][:16]}.jsonl"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=10)
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        return reply, content

    def send(self, content, plan=PLAN["hash"]):
        reply, said = self.ask("POST", "/answers", json.dumps({"plan": plan, "messages": content}))
        return reply.status, json.loads(said)

    def lines(self):
        return self.path.read_text().splitlines() if self.path.is_file() else []

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def post(tmp_path):
    post = Post(tmp_path / "inbox")
    yield post
    post.stop()


def test_answers_are_kept_once_and_in_order(post):
    sent = messages(make_rows())
    assert post.send(sent[:3]) == (200, {"stored": [m["id"] for m in sent[:3]], "refused": []})
    status, said = post.send(sent)
    assert status == 200 and said["stored"] == [m["id"] for m in sent], "what is known is acknowledged again"
    assert [json.loads(line) for line in post.lines()] == sent


def _with(name, value, *, sign=True):
    row = make_rows()[3] | {name: value}
    return row | {"checksum": row_checksum(row, "pairs")} if sign and name != "checksum" else row


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (_with("choice", "3"), "none of -2, -1, 0, 1, 2"),
        (_with("choice", "1.0"), "none of"),
        (_with("left", "NN2"), "is another: left"),
        (_with("clip", "99"), "is another"),
        (_with("slot", "7"), "no place 7"),
        (_with("responseCount", "77"), "answerID"),
        (_with("timestamp", "yesterday"), "timestamp"),
        (_with("gender", "<script>"), "gender"),
        (_with("userID", "p1"), "userID"),
        (_with("plan", "0" * 64), "another plan"),
        (_with("replays", "\u0663"), "replays"),
        (make_rows()[3] | {"consent": "\ud800 2026-02-01 02:20:00"}, "at most 300"),
        (_with("choice", "0", sign=False), "checksum"),
        (_with("kind", "x" * 400), "at most 300"),
        ({"choice": "1"}, "expected the columns"),
        ("text", "expected the columns"),
    ],
)
def test_malformed_answers_are_refused_with_a_reason_and_the_rest_is_kept(post, row, words):
    good = messages(make_rows()[:1])
    name = row["answerID"] if isinstance(row, dict) and "answerID" in row else "x"
    status, said = post.send([{"id": name, "type": "answer", "row": row}, *good])
    assert status == 422 and said["stored"] == [good[0]["id"]]
    assert words in said["refused"][0]["reason"] and len(post.lines()) == 1


def test_a_second_answer_to_a_trial_is_refused(post):
    rows = make_rows()
    post.send(messages(rows[:1]))
    other = make_rows(choice="-2")[:1]
    status, said = post.send(messages(other))
    assert status == 422 and "another answer has this id" in said["refused"][0]["reason"] and len(post.lines()) == 1


@pytest.mark.parametrize("count", ["03", "\u0663"])
def test_a_trial_has_one_number_and_so_one_answer(post, count):
    again = make_rows()[3] | {"responseCount": count, "answerID": f"p{'0' * 16}-{count}", "choice": "-2"}
    status, said = post.send(messages([make_rows()[3], again | {"checksum": row_checksum(again, "pairs")}]))
    assert status == 422 and "responseCount" in said["refused"][0]["reason"] and len(post.lines()) == 1


@pytest.mark.parametrize("name", ["\ud800", "somebody", 5])
def test_a_message_that_cannot_be_written_takes_no_answer_with_it(post, name):
    sent = messages(make_rows())
    strange = {"id": f"{name}-withdraw", "type": "withdraw", "participant": name}
    status, said = post.send([sent[0], strange])
    assert status == 422 and said["stored"] == [sent[0]["id"]]
    assert [json.loads(line) for line in post.lines()] == sent[:1], "acknowledged is stored"


@pytest.mark.parametrize(
    ("body", "status"),
    [("", 411), ("{", 400), ("[]", 400), ('{"plan": 1, "messages": []}', 400), ('{"plan": "x", "messages": []}', 404),
     ("[" * 200_000, 400), (b"\xff\xfe{", 400),
     (json.dumps({"plan": PLAN["hash"], "messages": ["x", None, 3, {"id": 5}]}), 422)],
)  # fmt: skip
def test_other_requests_store_nothing(post, body, status):
    reply, _ = post.ask("POST", "/answers", body)
    assert reply.status == status and post.lines() == []


def test_too_much_is_not_read(post):
    reply, _ = post.ask("POST", "/", None, **{"Content-Length": str(1 << 30)})
    assert reply.status == 413


def test_pages_of_other_origins_may_send(post):
    reply, _ = post.ask("OPTIONS", "/answers")
    assert reply.status == 204 and reply.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in reply.headers["Access-Control-Allow-Methods"]
    assert post.ask("GET", "/status")[0].headers["Access-Control-Allow-Origin"] == "*"


def test_half_a_request_stores_nothing(post):
    body = json.dumps({"plan": PLAN["hash"], "messages": messages(make_rows())}).encode()
    connection = http.client.HTTPConnection("127.0.0.1", post.server.server_port, timeout=10)
    connection.putrequest("POST", "/answers")
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders()
    connection.send(body[: len(body) // 2])
    connection.sock.shutdown(1)
    assert connection.sock.recv(100) == b"" and post.lines() == []
    connection.close()
    assert post.send(messages(make_rows()))[0] == 200


def test_after_a_crash_in_the_middle_of_a_line_nothing_acknowledged_is_lost(tmp_path):
    sent = messages(make_rows())
    first = Post(tmp_path)
    first.send(sent[:2])
    first.stop()
    with open(first.path, "a") as file:
        file.write(json.dumps(sent[2])[:40])
    second = Post(tmp_path)
    assert second.send(sent)[1]["refused"] == []
    second.stop()
    assert [json.loads(line) for line in second.lines()] == sent
    assert second.path.with_suffix(".torn").read_text() == json.dumps(sent[2])[:40] + "\n"


def cut_files(path, sent):
    """A receiver's file as a stop may leave it: after every byte of its last line."""
    whole = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in sent).encode()
    start = whole.rfind(b"\n", 0, -1) + 1
    for end in range(start, len(whole) + 1):
        path.write_bytes(whole[:end])
        yield end - start, len(whole) - end


def test_wherever_a_stop_cuts_the_last_line_the_merge_keeps_the_others_and_names_it(tmp_path):
    sent = messages(make_rows(consent="ñ1\u20282 2026-02-01 02:20:00"))
    path, lines = tmp_path / "answers.jsonl", len(sent)
    for kept, lost in cut_files(path, sent):
        made = merge_exports([path], tmp_path / "out.csv", plan=PLAN)
        torn = kept > 0 and lost > 1  # with one byte lost, the end of the line, the answer is whole
        assert made.torn == ((f"{path}, line {lines}",) if torn else ())
        assert made.rows == (lines if lost <= 1 else lines - 1)
    path.write_text('{"id"')
    with pytest.raises(ValueError, match=r"no answers in the given files; .*answers\.jsonl, line 1 is torn"):
        merge_exports([path], tmp_path / "out.csv")


def test_wherever_a_stop_cuts_the_last_line_the_next_answer_starts_a_line(tmp_path):
    sent = messages(make_rows(consent="ñ1\u20282 2026-02-01 02:20:00"))
    path = Inbox(tmp_path, PLAN).path
    for _, lost in cut_files(path, sent[:3]):
        inbox = Inbox(tmp_path, PLAN)
        assert len(inbox) == (3 if lost <= 1 else 2)
        assert inbox.take(sent[2:]) == ([m["id"] for m in sent[2:]], [])
        assert [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]] == sent


@pytest.mark.parametrize("number", [1, 3, 6])
@pytest.mark.parametrize("fault", [lambda line: line[:50], lambda line: "", lambda line: line[:50] + line])
def test_a_broken_line_that_has_its_end_is_an_error(tmp_path, number, fault):
    lines = [json.dumps(message) for message in messages(make_rows())[:6]]
    lines[number - 1] = fault(lines[number - 1])
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=rf"answers\.jsonl, line {number}: not a message"):
        merge_exports([path], tmp_path / "out.csv")
    (tmp_path / "inbox").mkdir()
    path.rename(tmp_path / "inbox" / f"answers_{PLAN['hash'][:16]}.jsonl")
    with pytest.raises(ValueError, match=rf"line {number}: not a message"):
        Inbox(tmp_path / "inbox", PLAN)


def test_many_at_once_are_all_kept(post):
    people = [messages(make_rows(person=f"p{i:016x}", slot=i % 3)) for i in range(12)]
    threads = [threading.Thread(target=post.send, args=(part,)) for part in people for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [json.loads(line)["id"] for line in post.lines()]
    assert len(ids) == len(set(ids)) == sum(map(len, people))


def test_places_are_given_evenly_and_to_the_same_person_again(post):
    def place(name):
        return json.loads(post.ask("GET", f"/answers?slot={name}&plan={PLAN['hash']}")[1])["slot"]

    given = [place(f"p{i}") for i in range(6)]
    assert sorted(given) == [0, 0, 1, 1, 2, 2] and [place(f"p{i}") for i in range(6)] == given


def test_groups_fill_evenly_within_genders(tmp_path):
    plan = rating_plan({"a1": "a", "a2": "a", "b1": "b", "b2": "b"}, 8, scored=1, groups={"a": "walk", "b": "hop"})
    inbox = Post(tmp_path, plan).server.RequestHandlerClass.inboxes[plan["hash"]]
    genders = ["female", "female", "male", "female", "male", "female", "male", "male"]
    got = [(g, plan["people"][inbox.place(f"p{i}", g)]["group"]) for i, g in enumerate(genders)]
    for gender in ("female", "male"):
        groups = [group for told, group in got if told == gender]
        assert groups.count("walk") == groups.count("hop") == 2


def test_the_receiver_shows_a_site_in_parts_and_nothing_else(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "plan.json").write_text(json.dumps(PLAN))
    (site / "index.html").write_text("a page")
    (site / "film.webm").write_bytes(bytes(range(100)))
    (tmp_path / "secret.txt").write_text("no")
    post = Post(tmp_path / "inbox", site=site)
    assert post.ask("GET", "/")[1] == b"a page"
    reply, part = post.ask("GET", "/film.webm", Range="bytes=10-19")
    assert reply.status == 206 and part == bytes(range(10, 20))
    assert reply.headers["Content-Range"] == "bytes 10-19/100" and reply.headers["Content-Type"] == "video/webm"
    assert post.ask("GET", "/film.webm", Range="bytes=90-")[1] == bytes(range(90, 100))
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/nothing", "/a%00b"):
        assert post.ask("GET", path)[0].status == 404
    post.stop()


def test_a_folder_without_a_plan_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no plan\*\.json"):
        make_server(tmp_path)


def test_checksums_are_those_of_zlib():
    assert crc("123456789") == "cbf43926" and crc("ñ") == f"{zlib.crc32('ñ'.encode()):08x}"
    assert all(problem(row, PLAN) is None for slot in range(3) for row in make_rows(slot=slot))


def test_merging_takes_every_answer_once(tmp_path):
    a, b = make_rows(), make_rows(slot=1, person="p" + "1" * 16)[:3]
    files = [write_csv(tmp_path / "a.csv", a), write_csv(tmp_path / "b.csv", b), write_csv(tmp_path / "c.csv", a[2:])]
    made = merge_exports(files, tmp_path / "out.csv", plan=PLAN)
    assert (made.rows, made.people, made.repeated) == (len(a) + 3, 2, len(a) - 2)
    assert made.unfinished == ("p" + "1" * 16,) and made.failed_check == ()
    table = read_responses(tmp_path / "out.csv")
    assert list(table.responseCount) == [*range(len(a)), 0, 1, 2]
    again = merge_exports(files[::-1], tmp_path / "again.csv")
    assert again.path.read_bytes() == made.path.read_bytes(), "the order of the files does not matter"


def test_merging_refuses_two_plans_changed_rows_and_conflicts(tmp_path):
    a = write_csv(tmp_path / "a.csv", make_rows())
    other = pair_plan(["GT", "NN", "NOISE"], ["00", "01"], 3, scored=4, seed=1)
    b = write_csv(tmp_path / "b.csv", make_rows(other, person="p" + "2" * 16))
    with pytest.raises(ValueError, match="two plans cannot be merged"):
        merge_exports([a, b], tmp_path / "out.csv")
    changed = make_rows()
    changed[4]["choice"] = "0" if changed[4]["choice"] != "0" else "1"
    with pytest.raises(ValueError, match=r"checksum of answer p0+-4"):
        merge_exports([write_csv(tmp_path / "c.csv", changed)], tmp_path / "out.csv")
    with pytest.raises(ValueError, match="differs between"):
        merge_exports([a, write_csv(tmp_path / "d.csv", make_rows(seconds="9.99"))], tmp_path / "out.csv")
    with pytest.raises(ValueError, match="line 3: expected 26 values"):
        text = a.read_text().splitlines()
        (tmp_path / "e.csv").write_text("\n".join([*text[:2], text[2][:30]]))
        merge_exports([tmp_path / "e.csv"], tmp_path / "out.csv")
    with pytest.raises(ValueError, match="no answers"):
        merge_exports([write_csv(tmp_path / "f.csv", [])], tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_exports_that_passed_through_other_programs(tmp_path):
    text = write_csv(tmp_path / "a.csv", make_rows()).read_text()
    rows = len(make_rows())
    for number, content in enumerate((("\ufeff" + text).encode(), (text + "\n\n").replace("\n", "\r\n").encode())):
        (tmp_path / f"{number}.csv").write_bytes(content)
        made = merge_exports([tmp_path / "a.csv", tmp_path / f"{number}.csv"], tmp_path / "out.csv")
        assert (made.rows, made.repeated) == (rows, rows)
    (tmp_path / "b.csv").write_bytes(text.replace("female", "mujér").encode("cp1252"))
    with pytest.raises(ValueError, match=r"b\.csv: not a text in UTF-8"):
        merge_exports([tmp_path / "b.csv"], tmp_path / "out.csv")
    row = make_rows()[0] | {"slot": 0}
    (tmp_path / "c.jsonl").write_text(json.dumps(messages([row])[0]) + "\n")
    with pytest.raises(ValueError, match=r"c\.jsonl: a row holds values that are no texts"):
        merge_exports([tmp_path / "c.jsonl"], tmp_path / "out.csv")


def test_a_json_export_with_a_row_taken_out_is_refused(tmp_path):
    rows = make_rows()
    made = {"format": "motionbook-answers", "rows": rows, "checksum": crc("\n".join(r["checksum"] for r in rows))}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(made))
    assert merge_exports([path], tmp_path / "out.csv").rows == len(rows)
    path.write_text(json.dumps(made | {"rows": rows[:-1]}))
    with pytest.raises(ValueError, match="a row is missing"):
        merge_exports([path], tmp_path / "out.csv")


def test_who_withdraws_is_left_out(post, tmp_path):
    stays, leaves = messages(make_rows()), messages(make_rows(slot=1, person="p" + "3" * 16))
    name = "p" + "3" * 16
    post.send([*stays, *leaves, {"id": f"{name}-withdraw", "type": "withdraw", "participant": name}])
    made = merge_exports([post.path], tmp_path / "out.csv")
    assert made.withdrawn == (name,) and made.rows == len(stays)


def test_ratings_are_the_scored_trials_of_people_who_passed_the_checks(tmp_path):
    good = make_rows(RATINGS)
    bad = make_rows(RATINGS, slot=1, person="p" + "4" * 16, score="1")
    path = write_csv(tmp_path / "a.csv", good + bad, COLUMNS["dsis"])
    made = merge_exports([path], tmp_path / "ratings.csv", plan=RATINGS)
    assert made.failed_check == ("p" + "4" * 16,) and made.rows == 4
    table = read_ratings(tmp_path / "ratings.csv")
    assert set(table.stimulus) == set(RATINGS["stimuli"]) and set(table.kind) == {"scored"}
    assert (table.score == 3).all() and table.attrs["scale"] == (1, 5, "low"), "the scale's direction comes along"
