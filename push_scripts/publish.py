"""What the four push scripts share: their options, and the way from a list of uploads to published releases.

The token is looked at first, then everything is compared and shown; with `--yes` each repository gets its
commit, all of them are read back in a clean cache, and only what could be read back is tagged.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterable

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import disable_progress_bars

from hub import Plan, Refused, Upload, compare, describe, send
from read_back import ReadBackError, read_back

# What a request can end with, whichever HTTP library is underneath: requests (hub 0.x: an OSError), httpx
# (1.x) or httpx2 (2.x: a base of HfHubHTTPError); an upload of a large file gives up with a RuntimeError; an
# answer that is no JSON is a ValueError.
FAILURES: tuple[type[BaseException], ...] = (OSError, RuntimeError, ValueError, *HfHubHTTPError.__bases__)

AGAIN = (
    "The Hub failed or could not be reached. A repository changes only by a whole commit, so what was there "
    "before is there. Run the same command again: it does what is left to do."
)
NOT_READ = (
    "It is committed but not tagged. Run the same command again: it reads it back once more. If that fails in "
    "the same way, the Hub holds something else than was sent: look at the repository there."
)
ADVICE = {
    401: "The Hub does not accept the token: set HF_TOKEN to a valid one of role write (…/settings/tokens).",
    403: "The token may not do that: get write access to the organisation, or name another with --org.",
    409: "Something else is being done with this repository: wait a minute and run the same command again.",
    412: "Somebody committed to it meanwhile: run the same command again, it compares with what is there.",
}


def parser(description: str, several: bool = True) -> argparse.ArgumentParser:
    """The options that all push scripts share; `--only` where there are several things to push."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--org", required=True, help="user or organisation on the Hub")
    if several:
        options.add_argument("--only", nargs="+", metavar="NAME", default=[], help="default: all there are")
    options.add_argument("--dry-run", action="store_true", help="say what would be done (the default)")
    options.add_argument("--yes", action="store_true", help="really push")
    options.add_argument("--private", action="store_true", help="make new repositories private")
    options.add_argument("--tag", help="tag the pushed commits, e.g. release-0.1.0")
    return options


def select(names: list[str], only: list[str]) -> list[str]:
    """`names`, or those of them that `--only` asks for; an unknown one is refused."""
    if unknown := sorted(set(only) - set(names)):
        raise Refused(f"there is no {', '.join(unknown)} here; there are: {', '.join(names) or 'none'}")
    return only or names


def for_readers(card: str, org: str) -> str:
    """The card with the names under which a reader of the Hub loads things, instead of a checkout's folders.

    >>> for_readers('load_dataset("datasets/verb_lemmas", "clean")', "org")
    'load_dataset("org/verb_lemmas", "clean")'
    """
    return re.sub(r'"(?:datasets|metrics)/(\w+)"', rf'"{org}/\1"', card)


def require_write(api: HfApi, org: str) -> None:
    """Raise `Refused` unless the token may write to `org`.

    Asked first and by itself: creating a repository that exists succeeds with a read-only token, or none.
    """
    if not api.token:
        raise Refused("there is no token: set HF_TOKEN to one of role write (…/settings/tokens)")
    user = api.whoami()
    access = user.get("auth", {}).get("accessToken", {})
    role = access.get("role")
    if role not in ("write", "fineGrained"):
        raise Refused(f"the token of {user['name']} has the role {role}: set HF_TOKEN to one of role write")
    members = {entry["name"]: entry.get("roleInOrg") for entry in user.get("orgs", [])}
    if org != user["name"] and members.get(org) in (None, "read"):
        raise Refused(f"{user['name']} may not write to {org}: join with a writing role, or change --org")
    scopes = access.get("fineGrained", {}).get("scoped", [])
    granted = {scope["entity"].get("name") for scope in scopes if "repo.write" in scope["permissions"]}
    if role == "fineGrained" and org not in granted:
        raise Refused(f"the fine-grained token does not grant write access to repositories of {org}")


def explain(error: BaseException, place: str) -> str:
    """What went wrong with `place` and what to do, in one paragraph."""
    status = getattr(getattr(error, "response", None), "status_code", 0)
    advice = NOT_READ if isinstance(error, ReadBackError) else ADVICE.get(status, AGAIN)
    said = " ".join(str(error).split()) or type(error).__name__
    if error.__cause__ is not None:
        said += f" ({' '.join(str(error.__cause__).split())})"
    return f"{place}: {said.rstrip('.')}. {advice}"


def publish(uploads: Iterable[Upload], options: argparse.Namespace) -> int:
    """Show the plan; with `--yes` carry it out. Returns the exit status: 0, 1 (failed) or 2 (refused).

    All uploads are made, and with that checked, before the Hub is asked for anything.
    """
    try:
        return _publish(list(uploads), options)
    except Refused as error:
        print(f"refused: {error}", file=sys.stderr)
        return 2


def _publish(uploads: list[Upload], options: argparse.Namespace) -> int:
    if not sys.stderr.isatty():  # bars would bury the messages of a log
        disable_progress_bars()
    token = get_token()  # HF_TOKEN, or what `hf auth login` stored
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, token=token)
    really = options.yes and not options.dry_run
    place, done = api.endpoint, []
    try:
        if really:
            require_write(api, options.org)
        plans = []
        for upload in uploads:
            place = upload.repo_id
            plans.append(compare(api, upload, options.private, options.tag))
            print("\n".join(describe(plans[-1])))
        if not really:
            print("Dry run: nothing was sent. Add --yes to push.")
            return 0
        for plan in plans:
            place = plan.upload.repo_id
            done.append((plan, push(api, plan, options.tag)))
        place = "reading back what was pushed"
        read_back(done, api.endpoint, token)
        print(f"read back in a clean cache: {len(done)} repositories, all as pushed")
        for plan, commit in done:
            place = plan.upload.repo_id
            if options.tag:
                mark(api, plan, options.tag, commit)
    except Refused:
        raise
    except FAILURES as error:
        committed = ", ".join(plan.upload.repo_id for plan, _ in done) or "nothing"
        print(f"error: {explain(error, place)} Committed before that: {committed}.", file=sys.stderr)
        return 1
    return 0


def push(api: HfApi, plan: Plan, tag: str | None) -> str:
    """Send one plan and say so; returns the commit."""
    before = plan.head
    commit = send(api, plan, f"Release {tag}" if tag else "Update from the refined-tse repository")
    print(f"{'unchanged' if commit == before else 'pushed'}: {plan.upload.repo_id} is at {commit}")
    return commit


def mark(api: HfApi, plan: Plan, tag: str, commit: str) -> None:
    """Tag `commit`; a tag that is there already has the same content (see `hub.compare`)."""
    upload = plan.upload
    api.create_tag(upload.repo_id, tag=tag, revision=commit, repo_type=upload.repo_type, exist_ok=True)
    print(f"tagged: {upload.repo_id} as {tag}")
