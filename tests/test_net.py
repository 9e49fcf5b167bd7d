"""Names of hosts in their plain form, wherever somebody is asked whether they may be contacted."""

import pytest

from geosleuth.atlas.online import OnlineSettings
from geosleuth.atlas.online.access import check_consent
from geosleuth.models.registry import SERVICES, find_target
from geosleuth.support.errors import BadInput
from geosleuth.support.net import is_loopback, parse_host


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7F.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("127.1.", "127.0.0.1"),
        ("3232235777", "192.168.1.1"),
        ("Example.ORG.", "example.org"),
        ("[::1]", "::1"),
        ("1.2.3.4.example.org", "1.2.3.4.example.org"),
        ("localhost..", ""),
        ("a..b", ""),
        ("256.1.1.1", ""),
        ("4294967296", ""),
        ("0x", ""),
    ],
)
def test_hosts_have_one_spelling(written: str, plain: str) -> None:
    assert parse_host(f"http://{written}:8000/v1") == plain
    assert is_loopback(written.strip("[]")) is (plain in ("127.0.0.1", "::1"))


@pytest.mark.parametrize("written", ["2130706433", "0x7f000001", "127.1"])
def test_consent_names_the_address_that_numbers_lead_to(written: str) -> None:
    with pytest.raises(BadInput, match=r"would contact 127\.0\.0\.1, which is not allowed; add --allow 127\.0\.0\.1"):
        check_consent(f"http://{written}/x", OnlineSettings())
    allowed = OnlineSettings(allow_hosts=frozenset({written}), private_hosts=frozenset({"127.0.0.1"}))
    assert check_consent(f"http://{written}/x", allowed) == "127.0.0.1"
    target = find_target(SERVICES["vllm"], "m", f"http://{written}:8000/v1")
    assert (target.host, target.base_url, target.hosts) == ("127.0.0.1:8000", "http://127.0.0.1:8000/v1", frozenset())
    elsewhere = find_target(SERVICES["vllm"], "m", "http://3232235777:8000/v1/")
    assert (elsewhere.host, elsewhere.hosts) == ("192.168.1.1:8000", frozenset({"192.168.1.1"}))


@pytest.mark.parametrize("written", ["localhost..", "a..b", "256.1.1.1"])
def test_a_host_with_an_empty_part_is_refused(written: str) -> None:
    with pytest.raises(BadInput, match="not a web address"):
        check_consent(f"http://{written}/x", OnlineSettings(allow_hosts=frozenset({written, "localhost"})))
    with pytest.raises(BadInput, match="starts with http:// or https:// and a host"):
        find_target(SERVICES["vllm"], "m", f"http://{written}:8000/v1")
