"""revoke.py USER: revokes every refresh token of a user, and the access tokens with them."""

import sys

import django

django.setup()
from oauth2_provider.models import RefreshToken  # noqa: E402

for token in RefreshToken.objects.filter(user__username=sys.argv[1], revoked__isnull=True):
    token.revoke()
