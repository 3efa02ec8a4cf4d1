"""mcp_sdk.py serve | call URL COMMAND...: a server and a client of the Model Context Protocol, both by the protocol's own SDK.

serve: a server with one tool, which is its own authorization server. It registers clients, says yes to each sign-in, rotates refresh
tokens, and accepts only tokens for itself. It prints its URL. call: runs COMMAND for the headers of its requests, as programs with a
"headersHelper" do, and calls the tool. If the server answers 401, it prints the challenge, and its status is 1.
"""

import asyncio
import json
import logging
import secrets
import subprocess
import sys
import time

import httpx2
import uvicorn
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthToken
from servers import free_port
from starlette.responses import Response

LIFETIME = 3600
SCOPE = "notes"


class Provider:
    """The authorization server's memory."""

    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        code = secrets.token_urlsafe(24)
        told = params.model_dump(exclude={"state", "scopes"})
        self.codes[code] = AuthorizationCode(
            code=code, client_id=client.client_id, scopes=params.scopes or [], expires_at=time.time() + 60, subject="alice", **told
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self.issue(authorization_code)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refresh[refresh_token.token]
        return self.issue(refresh_token)

    def issue(self, grant):
        told = {"client_id": grant.client_id, "scopes": grant.scopes, "resource": grant.resource, "subject": grant.subject}
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.access[access] = AccessToken(token=access, expires_at=int(time.time()) + LIFETIME, **told)
        self.refresh[refresh] = RefreshToken(token=refresh, **told)
        return OAuthToken(access_token=access, expires_in=LIFETIME, scope=" ".join(grant.scopes), refresh_token=refresh)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)


def serve():
    port, provider = free_port(), Provider()
    origin = f"http://127.0.0.1:{port}"
    server = MCPServer(
        "notes",
        auth_server_provider=provider,
        auth=AuthSettings(
            issuer_url=origin,
            resource_server_url=f"{origin}/mcp",
            required_scopes=[SCOPE],
            validate_token_resource=True,
            client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=[SCOPE], default_scopes=[SCOPE]),
            revocation_options=RevocationOptions(enabled=True),
        ),
    )

    @server.tool()
    def note() -> str:
        return "a note"

    @server.custom_route("/revoke/{what}", methods=["POST"])
    async def revoke(request):
        provider.access.clear()
        if request.path_params["what"] == "grants":
            provider.refresh.clear()
        return Response(status_code=204)

    application = server.streamable_http_app()
    print(f"{origin}/mcp", flush=True)
    uvicorn.run(application, host="127.0.0.1", port=port, log_level="error")


async def call(url, headers):
    refused = []

    async def note_refusal(response):
        if response.status_code == 401:
            refused.append(response.headers["www-authenticate"])

    try:
        async with (
            httpx2.AsyncClient(headers=headers, event_hooks={"response": [note_refusal]}) as client,
            streamable_http_client(url, http_client=client) as (read, write, *_),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            answer = await session.call_tool("note", {})
            print(answer.content[0].text)
            return 0
    # The SDK wraps what its tasks raise.
    except Exception:
        if not refused:
            raise
        print(f"WWW-Authenticate: {refused[0]}")
        return 1


def main():
    logging.disable()
    if sys.argv[1] == "serve":
        return serve()
    helper = subprocess.run(sys.argv[3:], capture_output=True, text=True, check=True)
    return asyncio.run(call(sys.argv[2], json.loads(helper.stdout)))


if __name__ == "__main__":
    sys.exit(main())
