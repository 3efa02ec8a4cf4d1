"""The authorization server's endpoints at the root, so that the issuer is the root."""

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()  # before the views are imported: they need the applications loaded

from django.contrib.auth.views import LoginView  # noqa: E402
from django.urls import include, path  # noqa: E402

urlpatterns = [
    path("login/", LoginView.as_view(template_name="login.html")),
    path("", include("oauth2_provider.urls", namespace="oauth2_provider")),
]
