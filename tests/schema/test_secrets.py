"""Keys and credentials are recognised by name, by place and by look, and nothing else is."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema.secrets import (
    SECRET,
    SecretMask,
    environment_secrets,
    is_secret_name,
    redact,
    redact_source,
    secret_values,
)

KEY = "sk-test/0123456789abcdef+XYZ"


@pytest.mark.parametrize(
    "name",
    "api_key apiKey x-api-key OPENAI_API_KEY ANTHROPIC_AUTH_TOKEN password DB_PASSWORD "
    "client_secret Authorization Cookie hf_token AWS_SECRET_ACCESS_KEY private_key --api-key "
    "MY_KEY PGPASSWORD db_pass authtoken accesskey openai_key AccountKey SharedAccessSignature "
    "token access_token bot_token stop_auth_token".split(),
)
def test_a_name_of_a_secret_is_known(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    "max_tokens tokenizer api_key_env key reward_key sort_key keys author SSH_AUTH_SOCK model "
    "input_usd_per_mtok TOKENIZERS_PARALLELISM keyboard monkey token_file "
    "eos_token pad_token bos_token stop_token EOS_TOKEN unkToken eos_token_id stop_token_ids "
    "token_count token_limit max_new_tokens min_tokens next_token signature".split(),
)
def test_another_name_is_not_taken_for_one(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"agent": {"options": {"model_options": {"environment": {"lab": KEY}}}}}, "a variable"),
        ({"agent": {"options": {"env": {"HOME_OF": KEY}}}}, "variables by their names"),
        ({"model_options": {"extra": {"api_key": KEY}}}, "the body of a request"),
        ({"model_options": {"extra": {"user": {"deep": ["x", {"token": KEY}]}}}}, "deep in it"),
        ({"model_options": {"extra": {"note": "use sk-abcdefghijklmnop0123"}}}, "by its look"),
        ({"base_url": f"https://me:{quote(KEY, safe='')}@host/v1"}, "in an address"),
        ({"base_url": f"https://me:{KEY} x@host/v1"}, "in what is not quite an address"),
        ({"base_url": f"https://{quote(KEY, safe='')}@host/v1"}, "the user alone"),
        ({"model_options": {"base_url": f"https://host/v1?api_key={KEY}&x=1"}}, "in a query"),
        ({"headers": {"X-Whatever": KEY, "Accept": "text/plain"}}, "a header"),
        ({"command": ["client", "--api-key", KEY]}, "after its flag"),
        ({"command": ["client", f"--api-key={KEY}"]}, "with its flag"),
        ({"args": f"Bearer {KEY}"}, "as a header is written"),
        ({"args": f"bearer {KEY}"}, "as some write it"),
        ({"extra": {"extra_headers": {"X-Whatever": KEY}}}, "a header of a client library"),
        ({"headers": [["x-whatever", KEY], ["accept", "x"]]}, "headers as pairs"),
        ({"headers": [{"name": "x-api-key", "value": KEY}]}, "headers as objects"),
        ({"command": ["client", "-H", f"x-api-key: {KEY}"]}, "a header of a command"),
        ({"command": ["client", "-H", f"Authorization: token {KEY}"]}, "of another kind"),
        ({"command": f"client --api-key {KEY} -p"}, "a command in one text"),
        ({"command": f"OPENAI_API_KEY={KEY} client"}, "a variable before a command"),
        ({"command": ["env", f"OPENAI_API_KEY={KEY}", "client"]}, "one as a word of its own"),
        ({"base_url": f"https://host/v1?key={KEY}"}, "what Google calls its own"),
        ({"base_url": f"https://host/v1?se=1&sig={KEY}"}, "an address that was signed"),
        ({"note": f"-----BEGIN PRIVATE KEY-----\n{KEY}"}, "a key in its armour"),
        ({"key": KEY}, "a bare key that looks random"),
        ({"options": {"sig": KEY}}, "a bare signature"),
        ({"body": json.dumps({"model": "m", "api_key": KEY})}, "in JSON within a text"),
        ({"command": f"curl -d '{json.dumps({'password': KEY})}' host"}, "JSON in a command"),
        ({"body": json.dumps({"body": json.dumps({"token": KEY})})}, "JSON within JSON"),
        ({"body": json.dumps([{"api_keys": [KEY]}])}, "a list in JSON"),
        ({"body": str({"password": KEY})}, "as Python writes it"),
        (
            {"store": f"Protocol=https;AccountName=me;AccountKey={KEY};Suffix=x"},
            "of Azure",
        ),
        ({"store": f"host=db user=me password={KEY}"}, "a connection string of PostgreSQL"),
        ({"store": f"Server=db;Pwd='{KEY} x';Timeout=3"}, "one in quotes"),
        ({"base_url": f"https://host/page#access_token={KEY}&x=1"}, "in a fragment"),
        ({"base_url": f"https://host/#/route?token={KEY}"}, "in the query of a fragment"),
        ({"limits": {"sk-abcdefghijklmnop0123": 5}}, "a name that looks like one"),
        ({"limits": {f"https://me:{quote(KEY, safe='')}@host/": 5}}, "an address as a name"),
    ],
)
def test_a_secret_is_found_by_name_place_and_look(config: dict[str, Any], why: str) -> None:
    text = json.dumps(redact(config))
    assert KEY not in text, why
    assert quote(KEY, safe="") not in text, why
    assert "sk-abcdefghijklmnop0123" not in text, why
    assert SECRET in text
    assert secret_values(config)
    assert redact(redact(config)) == redact(config)


def test_what_is_no_secret_stays_as_it_is() -> None:
    config = {
        "benchmark": {"environment": {"name": "browser", "headless": True, "key": "answer"}},
        "agent": {
            "name": "web_research",
            "options": {
                "model": "openai",
                "model_options": {
                    "base_url": "https://host:8000/v1/@me?version=2",
                    "api_key_env": "OPENAI_API_KEY",
                    "max_tokens": 100,
                    "token": None,
                    "extra": {"reasoning_effort": "high", "top_p": 0.9, "stop": ["\n"]},
                },
            },
        },
    }
    assert redact(config) == config
    assert secret_values(config) == frozenset()


@pytest.mark.parametrize(
    "option",
    [
        {"eos_token": "<|im_end|>"},
        {"pad_token": "[PAD]", "bos_token": "<s>", "stop_token": "im_end"},
        {"stop_token_ids": [151645], "max_tokens": 100, "tokenizer": "Qwen/Qwen3-8B"},
        {"key": "answer", "sort_key": "created_at", "signature": "question -> answer"},
        {"note": "the key=value pairs of a row", "text": '{"name": "x", "key": "answer"}'},
        {"base_url": "https://host/page?x=1#section=2"},
        {"use_auth_token": True, "token": None, "password": 0, "auth": {"retries": 3}},
    ],
)
def test_an_option_that_only_sounds_like_a_secret_stays(option: dict[str, Any]) -> None:
    assert redact(option) == option
    assert secret_values(option) == frozenset()


def test_a_password_of_digits_is_one() -> None:
    assert redact({"password": 12345678}) == {"password": SECRET}
    assert secret_values({"password": 12345678}) == {"12345678"}


def test_two_secret_names_keep_their_members_apart() -> None:
    names = ("sk-abcdefghijklmnop0123", "sk-abcdefghijklmnop4567")
    assert redact(dict.fromkeys(names, 1)) == {SECRET: 1, f"{SECRET} 2": 1}


@given(
    st.text(st.characters(codec=None), max_size=20), st.sampled_from(["plain", "u", "U", "json"])
)
def test_a_known_secret_is_masked_however_json_writes_it(around: str, how: str) -> None:
    mask = SecretMask([KEY])
    escaped = {
        "plain": KEY,
        "u": "".join(f"\\u{ord(char):04x}" for char in KEY),
        "U": "".join(f"\\u{ord(char):04X}" if i % 2 else char for i, char in enumerate(KEY)),
        "json": KEY.replace("/", "\\/"),
    }[how]
    text = around + escaped + around
    assert mask.text(text).count(SECRET) >= 1
    assert KEY not in mask.text(text)
    assert escaped not in mask.text(text)


def test_text_without_a_secret_is_the_same_object() -> None:
    mask = SecretMask([KEY, "short"])
    data = b'{"a": "short \\u0073k"}'
    assert mask.bytes(data) is data
    assert SecretMask([]).text("x") == "x"


def test_the_secrets_of_an_environment_are_the_values_of_such_names() -> None:
    environment = {"A_TOKEN": KEY, "B_KEY": "1234", "HOME": "/home/x", "C_SECRET": "/etc/hosts"}
    assert environment_secrets(environment) == {KEY}


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
def test_a_known_secret_is_masked_in_base64_and_in_addresses(before: str) -> None:
    mask = SecretMask([KEY])
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        coded = encode(f"{before}{KEY}".encode()).decode()
        assert SECRET in mask.text(f"Authorization: Basic {coded}")
    assert mask.text(f"?k={quote(KEY, safe='')}") == f"?k={SECRET}"


def test_a_secret_may_begin_with_a_slash_and_a_path_is_none(tmp_path: Path) -> None:
    there = {"LAB_SECRET_KEY": "/0123456789abcdef", "LAB_CREDENTIALS": str(tmp_path)}
    assert environment_secrets(there) == {"/0123456789abcdef"}


SOURCE = [
    'PASSWORD = "it\'s-hunter2"',
    "PASSWORD = 'it\\'s-hunter2'",
    'os.environ["MISTRAL_API_KEY"] = "hunter2"',
    'os.environ.setdefault("MISTRAL_API_KEY", "hunter2")',
    'API_KEY: str = os.getenv("API_KEY", "hunter2")',
    "const apiKey = `hunter2`;",
    'db.password := "hunter2"',
    'password = """hunter2\nhunter2\n"""',
    'password = """\nhunter2\n"""',
    "password: |\n  hunter2\n  hunter2",
    "- token: >-\n\n    hunter2",
    'api_key = "' + "hunter2" * 200 + '"',
    'api_key = "hunter2"  # ' + "x" * 600,
    'api_key = "hunter2' + "x" * 20_000,
    'K = """-----BEGIN PRIVATE KEY-----\nhunter2/A+b=\nhunter2==\n-----END PRIVATE KEY-----"""',
    'pem = (\n  "-----BEGIN PRIVATE KEY-----\\n"\n  "hunter2\\n"\n  "hunter2=\\n"\n)',
]


@pytest.mark.parametrize("text", SOURCE, ids=range(len(SOURCE)))
def test_source_code_is_without_what_it_assigns_to_a_secret(text: str) -> None:
    clean = redact_source(f"a = 1\n{text}\n\nb = 2\n")
    assert "hunter2" not in clean
    assert SECRET in clean
    assert clean.startswith("a = 1\n")
    assert clean.endswith("\nb = 2\n")
    assert clean.count("\n") == text.count("\n") + 4


@pytest.mark.parametrize(
    "text",
    [
        "if '-----BEGIN RSA PRIVATE KEY-----' in text:\n    raise ValueError(text)",
        'note = """\n no secret\n"""',
        "tokens: |\n  a b c",
        'max_tokens = "many"',
        "x" * 500,
    ],
)
def test_other_source_code_stays_as_it_is(text: str) -> None:
    *_, last = redact_source(text).split("\n")
    assert last == text.split("\n")[-1]


@pytest.mark.parametrize("piece", ["A", "eyJa", "sk-", '{"a":"', '\\\\"', "a='", "token=`", " "])
def test_a_long_line_of_anything_is_searched_in_a_moment(piece: str) -> None:
    assert len(redact_source(piece * 60_000)) <= 501
