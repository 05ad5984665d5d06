"""The loopback server itself: a fault that the tests rely on must really happen."""

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
import zlib

import pytest

from tests.support.server import Fault, JudgeServer


def post(base_url, body, key="none"):
    request = urllib.request.Request(
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"Authorization": f"Bearer {key}"}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def ask(text="judge this", **more):
    return {"model": "judge", "messages": [{"role": "user", "content": text}], **more}


def content(reply):
    return reply["choices"][0]["message"]["content"]


@pytest.mark.parametrize(("kind", "error"), [("cut", ConnectionError), ("cut_body", http.client.IncompleteRead)])
def test_a_cut_connection_is_not_a_finished_request(kind, error):
    with JudgeServer(faults=[Fault(kind)]) as server, pytest.raises(error):
        post(server.base_url, ask())
    assert (server.seen, server.finished) == (1, 0)


def raw(base_url, body):
    """Everything that the server sends on one connection, until it ends it."""
    address = base_url.removeprefix("http://").partition("/")[0].split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=10) as connection:
        sent = json.dumps(body).encode()
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nConnection: close\r\n")
        connection.sendall(b"Content-Length: %d\r\n\r\n" % len(sent) + sent)
        pieces = []
        while piece := connection.recv(2**16):
            pieces.append(piece)
        return b"".join(pieces)


def test_responses_that_break_the_protocol():
    with JudgeServer(reply="Good") as server:

        def broken(kind, **more):
            server.clear_faults()
            server.add_fault(Fault(kind, **more))
            head, _, body = raw(server.base_url, ask()).partition(b"\r\n\r\n")
            return head, body

        assert broken("bad_status")[0].startswith(b"HTTP/1.1 two hundred")
        assert broken("informational", size=3)[1].count(b"100 Continue") == 2
        assert len(broken("headers", size=5000)[0]) > 5000
        head, body = broken("wrong_length")
        assert int(head.rpartition(b": ")[2]) == len(body) // 2
        assert b"chunked" in broken("bad_chunks")[0]
        assert broken("bad_chunks")[1].startswith(b"many")
        assert not broken("cut_chunks")[1].endswith(b"0\r\n\r\n")
        assert b"gzip" in broken("bad_encoding")[0]
        assert json.loads(broken("bad_encoding")[1])["choices"]
        assert json.loads(broken("drip", seconds=0.001)[1])["choices"]
        head, body = broken("redirect", location="http://stranger.invalid/v1")
        assert head.startswith(b"HTTP/1.1 307")
        assert b"Location: http://stranger.invalid/v1" in head
        for encoding, bits in (("gzip", 31), ("deflate", 15)):
            body = broken("inflated", size=3_000_000, encoding=encoding)[1]
            assert len(body) < 10_000
            inflated = zlib.decompress(body, bits)
            assert len(inflated) == 3_000_000
            assert content(json.loads(inflated)) == "Good"


def test_replies_that_are_too_much_or_too_many():
    with JudgeServer(reply="Good") as server:

        def changed(kind, **more):
            server.clear_faults()
            server.add_fault(Fault(kind, **more))
            return raw(server.base_url, ask()).partition(b"\r\n\r\n")[2]

        assert content(json.loads(changed("long", size=50_000))) == "Good\n".ljust(50_000, "x")
        assert changed("nested", depth=70).count(b"[") == 71
        assert "error" in json.loads(changed("error_reply"))
        for key in ("choices", "message", "content"):
            body = changed("twice", key=key, other="Bad")
            assert body.count(b'"%s"' % key.encode()) == 2
            assert body.index(b"Bad") < body.index(b"Good")
            assert content(json.loads(body)) == "Good"


def test_a_server_that_goes_away_comes_back_at_the_same_address():
    with JudgeServer(reply="Good", faults=[Fault("away", on=[2], seconds=0.5), Fault("reset", on=[3])]) as server:
        assert content(post(server.base_url, ask())) == "Good"
        with pytest.raises(OSError):  # noqa: PT011 - whether it is cut or reset is the kernel's choice
            post(server.base_url, ask())
        with pytest.raises(urllib.error.URLError, match="refused"):
            post(server.base_url, ask())
        for _ in range(100):
            time.sleep(0.1)
            try:
                post(server.base_url, ask())
            except ConnectionResetError:
                break
            except urllib.error.URLError:
                continue
        assert content(post(server.base_url, ask())) == "Good"
        server.go_away(0.1)
        with pytest.raises(urllib.error.URLError, match="refused"):
            post(server.base_url, ask())
    assert server.seen == 4
