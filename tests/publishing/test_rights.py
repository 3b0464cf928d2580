"""Who may write where, from what the Hub says about a token."""

from types import SimpleNamespace

import pytest

from tse_scorers.publishing.sending import MissingRights, require_write


def api(role, scopes=(), orgs=(("org", "write"), ("readers", "read"))):
    """A client whose token has a role and, if it is fine-grained, (name, permissions) as scopes."""
    scoped = [{"entity": {"name": name}, "permissions": list(permissions)} for name, permissions in scopes]
    user = {
        "name": "me",
        "orgs": [{"name": name, "roleInOrg": role_in_org} for name, role_in_org in orgs],
        "auth": {"accessToken": {"role": role, "fineGrained": {"scoped": scoped}}},
    }
    return SimpleNamespace(token="hf_x", whoami=lambda: user)


@pytest.mark.parametrize(
    ("role", "scopes", "name"),
    [
        ("write", [], "me"),
        ("write", [], "org/data"),
        ("fineGrained", [("org", ["repo.content.read", "repo.write"])], "org/data"),
        ("fineGrained", [("me", ["repo.write"])], "me/data"),
        ("fineGrained", [("org/data", ["repo.write"])], "org/data"),
    ],
)
def test_tokens_that_may_write(role, scopes, name):
    require_write(api(role, scopes), name)


@pytest.mark.parametrize(
    ("role", "scopes", "name", "said"),
    [
        ("read", [], "org", "role read"),
        ("write", [], "others", "may not write to others"),
        ("write", [], "readers/data", "may not write to readers"),
        ("fineGrained", [], "org", "not grant write access .*of org"),
        ("fineGrained", [("org", ["repo.content.read"])], "org/data", "does not grant"),
        ("fineGrained", [("me", ["repo.write"])], "org/data", "does not grant"),
        ("fineGrained", [("org/other", ["repo.write"])], "org/data", "does not grant"),
        ("fineGrained", [("org/data", ["repo.write"])], "org", "does not grant"),
        ("fineGrained", [("others", ["repo.write"])], "others/data", "may not write to others"),
    ],
)
def test_tokens_that_may_not(role, scopes, name, said):
    with pytest.raises(MissingRights, match=said):
        require_write(api(role, scopes), name)


def test_no_token():
    with pytest.raises(MissingRights, match="no token"):
        require_write(SimpleNamespace(token=None), "org")
