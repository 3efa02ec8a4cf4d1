"""Makes the database, the signing key, the user alice, and a client for each kind of grant."""

import os
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


def write_signing_key():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = Path(os.environ["SITE_STATE"], "oidc.key")
    path.touch(mode=0o600)
    path.write_bytes(pem)


def fill_database():
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.utils import timezone
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    # The ID token contains the time of the user's last login. Without one, the toolkit answers 500.
    User.objects.create_user(
        "alice", "alice@example.test", os.environ["ALICE_PASSWORD"], last_login=timezone.now()
    )
    secret = Path(os.environ["CLIENT_SECRET_FILE"]).read_text()
    confidential = {"client_type": Application.CLIENT_CONFIDENTIAL, "client_secret": secret}
    register(Application, os.environ["CLIENT_ID"], Application.GRANT_PASSWORD, **confidential)
    redirects = os.environ.get("REDIRECTS", "http://127.0.0.1/")
    code = Application.GRANT_AUTHORIZATION_CODE
    register(Application, "browser", code, redirect_uris=redirects, **confidential)
    register(Application, "device", Application.GRANT_DEVICE_CODE, client_type=Application.CLIENT_PUBLIC)


def register(application, client_id, grant, **more):
    application.objects.create(
        name=client_id,
        client_id=client_id,
        authorization_grant_type=grant,
        algorithm=application.RS256_ALGORITHM,
        **more,
    )


write_signing_key()  # first, because the settings read it
fill_database()
