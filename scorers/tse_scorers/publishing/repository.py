"""Repositories on the Hub: whether a token may write to one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from huggingface_hub import HfApi


class MissingRights(ValueError):
    """The token may not write there; the message says why and what to do. Nothing was sent."""


def require_write(api: "HfApi", name: str) -> None:
    """Check that the token may write to the repositories of an owner, or to one repository.

    Call this before anything else: creating a repository that exists succeeds with any token or none.

    Args:
        api: a client with the token.
        name: a user or organisation (`org`), or a repository (`org/name`).

    Raises:
        MissingRights: there is no token, its role or its scopes do not include writing there, or its user is not
            a member of the organisation with the right to write.
    """
    require_token(api)
    user, owner = api.whoami(), name.split("/")[0]
    access = user.get("auth", {}).get("accessToken", {})
    role = access.get("role")
    if role not in ("write", "fineGrained"):
        raise MissingRights(
            f"The token of {user['name']} has the role {role}, which cannot publish. Set HF_TOKEN to a token with "
            "the role write."
        )
    roles = {organisation["name"]: organisation.get("roleInOrg") for organisation in user.get("orgs", [])}
    if owner != user["name"] and roles.get(owner) in (None, "read"):
        raise MissingRights(
            f"{user['name']} may not write to {owner}. Choose your own name or another organisation, or ask for a "
            f"role in {owner} that may write."
        )
    scopes = (access.get("fineGrained") or {}).get("scoped") or []
    writable = {
        str(scope.get("entity", {}).get("name"))
        for scope in scopes
        if "repo.write" in scope.get("permissions", ())
    }
    if role == "fineGrained" and not {owner, name} & writable:
        raise MissingRights(
            f"The fine-grained token of {user['name']} does not grant write access to repositories of {owner}. Add "
            "this permission to it (…/settings/tokens), or set HF_TOKEN to a token with the role write."
        )


def require_token(api: "HfApi") -> None:
    """Check that there is a token; raises `MissingRights` where there is none."""
    if not api.token:
        raise MissingRights(
            "There is no token for the Hub. Set HF_TOKEN to a token with the role write, or run `hf auth login`."
        )
