"""The authorization server's endpoints at the root, so that the issuer is the root."""

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()  # before the views are imported: they need the applications loaded

from django.urls import include, path  # noqa: E402

urlpatterns = [path("", include("oauth2_provider.urls", namespace="oauth2_provider"))]
