"""Speaks to a running authrefreshd by the Python varlink client: varlink_client.py SOCKET ACCOUNT.

Ends with status 0 and the line "ok" if everything is as the interface says.
"""

import faulthandler
import sys

import varlink

# Limits the time of all that follows. After it, Python prints where the program was waiting.
faulthandler.dump_traceback_later(20, exit=True)

socket, account = sys.argv[1:]

with varlink.Client(address=f"unix:{socket}") as client:
    service = client.open("org.varlink.service")
    info = service.GetInfo()
    assert info["product"] == "authrefreshd", info
    assert "io.authrefresh" in info["interfaces"], info
    text = service.GetInterfaceDescription("io.authrefresh")["description"]
    parsed = varlink.Interface(text)
    assert parsed.name == "io.authrefresh"
    service.close()

    daemon = client.open("io.authrefresh")
    assert daemon.GetInfo()["accounts"] == 1

    statuses = daemon.GetStatus()["accounts"]
    assert [status["account"] for status in statuses] == [account], statuses
    assert statuses[0]["state"] == "fresh", statuses

    token = daemon.AcquireToken(account)
    assert token["tokenType"] == "Bearer" and token["accessToken"], token.keys()
    assert token["expiresAtUSec"] > statuses[0]["refreshedAtUSec"]

    try:
        daemon.AcquireToken("nobody")
        raise AssertionError("there is no such account")
    except varlink.VarlinkError as error:
        assert error.error() == "io.authrefresh.NoSuchAccount", error.error()
        assert error.parameters()["account"] == "nobody", error.parameters()

    changes = daemon.Subscribe(_more=True)
    first = next(changes)
    assert first["event"] == "present" and len(first["accounts"]) == 1, first
    assert next(changes)["event"] == "ready"

    with client.open("io.authrefresh") as other:
        other.AcquireToken(account=account, force=True)
    told = [next(changes), next(changes)]
    assert [change["event"] for change in told] == ["refresh-started", "token-refreshed"], told
    assert told[1]["accounts"][0]["generation"] == statuses[0]["generation"] + 1, told
    daemon.close()

print("ok")
