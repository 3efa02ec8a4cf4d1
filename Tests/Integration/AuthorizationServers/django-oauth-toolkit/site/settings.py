"""A Django site that is an authorization server and nothing else; its state is in $SITE_STATE."""

import os
from pathlib import Path

STATE = Path(os.environ["SITE_STATE"])
ROOT = os.environ["ROOT"]  # the issuer, as clients see it

SECRET_KEY = "only-for-tests-on-loopback"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "urls"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "oauth2_provider",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
STATIC_URL = "/static/"
LOGIN_URL = "/login/"
CSRF_TRUSTED_ORIGINS = [ROOT]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent],
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": STATE / "db.sqlite3",
        # When four threads refresh at once, each waits until it may write. Otherwise some of them would fail.
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL;"},
    }
}
# Django's strong hash would take a quarter of a second for each client authentication. Here it protects nothing.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def is_on(name, default):
    return os.environ.get(name, default) == "1"


def signing_key():
    path = STATE / "oidc.key"
    return path.read_text() if path.exists() else ""


OAUTH2_PROVIDER = {
    "OIDC_ENABLED": True,
    "OIDC_ISS_ENDPOINT": ROOT,
    "OIDC_RSA_PRIVATE_KEY": signing_key(),
    "SCOPES": {"openid": "sign in", "read": "read", "write": "write"},
    "ACCESS_TOKEN_EXPIRE_SECONDS": int(os.environ.get("AT_TTL", "5")),
    "ROTATE_REFRESH_TOKEN": is_on("ROTATE", "1"),
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": int(os.environ.get("GRACE", "0")),
    "REFRESH_TOKEN_REUSE_PROTECTION": is_on("REUSE", "1"),
    "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https", "com.example.authrefreshd"],
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "OAUTH_DEVICE_VERIFICATION_URI": ROOT + "/device/",
    "DEVICE_FLOW_INTERVAL": 1,
    "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
    "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
}
# By default, Django would send failures by mail.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "loggers": {"django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": False}},
}
