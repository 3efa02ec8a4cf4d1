"""revoke.py USER: revokes every refresh token of a user, and the access tokens with them.

The rows are deleted: a token that is only marked as revoked is still taken while the grace period lasts.
"""

import sys

import django

django.setup()
from oauth2_provider.models import AccessToken, RefreshToken  # noqa: E402

RefreshToken.objects.filter(user__username=sys.argv[1]).delete()
AccessToken.objects.filter(user__username=sys.argv[1]).delete()
