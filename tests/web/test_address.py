"""Where a server may listen."""

from urllib.parse import urlsplit

import pytest

from assay.errors import UsageError
from assay.resources.loopback import is_loopback
from assay.web.address import ListenAddress, allowed_hosts, check_address, listen

LONG = "a-token-of-some-length"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("host", "port", "token", "part"),
    [
        ("0.0.0.0", 8000, None, "a token is needed"),
        ("0.0.0.0", 8000, "", "a token is needed"),
        ("myhost", 8000, None, "a token is needed"),
        ("0.0.0.0", 8000, "short", "only 5 characters"),
        ("127.0.0.1", 70000, None, "between 0 and 65535"),
        ("127.0.0.1", 8000, "with space in it", "an HTTP header cannot"),
        ("127.0.0.1", 8000, "línea-de-bytes", "an HTTP header cannot"),
    ],
)
def test_a_binding_that_may_not_be_is_one_sentence(
    host: str, port: int, token: str | None, part: str
) -> None:
    with pytest.raises(UsageError, match=part):
        check_address(host, port, token)


def test_loopback_needs_no_token_and_the_network_a_long_one() -> None:
    assert check_address("127.0.0.1", 0, None) == ListenAddress("127.0.0.1", 0, None)
    assert check_address("0.0.0.0", 80, LONG) == ListenAddress("0.0.0.0", 80, LONG)


def test_the_address_of_a_wildcard_is_called_on_this_machine() -> None:
    assert ListenAddress("0.0.0.0", 80, LONG).url == "http://127.0.0.1:80"
    assert ListenAddress("::1", 80, None).url == "http://[::1]:80"


def test_names_are_known_on_loopback_and_given_elsewhere() -> None:
    assert allowed_hosts("127.0.0.1") == {"localhost", "127.0.0.1", "::1"}
    assert allowed_hosts("0.0.0.0") == {"*"}
    ours = {"localhost", "127.0.0.1", "::1"}
    assert allowed_hosts("10.0.0.1", ["Rewards.svc"]) == {"10.0.0.1", "rewards.svc", *ours}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost", "[::1]"])
@pytest.mark.parametrize("names", [[], ["rewards.svc"]])
def test_the_address_that_is_told_is_one_that_is_answered(host: str, names: list[str]) -> None:
    url = check_address(host, 8700, LONG).url
    assert urlsplit(url).hostname in allowed_hosts(host, names)


def test_a_wildcard_with_names_answers_under_the_address_that_is_told() -> None:
    url = check_address("0.0.0.0", 8700, LONG).url
    assert urlsplit(url).hostname in allowed_hosts("0.0.0.0", ["rewards.svc"])


def test_port_0_is_any_that_is_free_and_a_taken_port_says_so() -> None:
    listening, address = listen(ListenAddress("127.0.0.1", 0, None))
    with listening:
        assert address.port > 0
        with pytest.raises(UsageError, match=f"port {address.port} of 127.0.0.1 is taken"):
            listen(address)


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        listen(ListenAddress("192.0.2.1", 0, LONG))
