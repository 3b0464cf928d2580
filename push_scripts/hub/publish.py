"""What the push scripts share: their options, and the steps from a list of uploads to published releases.

The differences to the Hub are shown. With `--yes`, each repository gets its commit, all repositories are read back in a
clean cache, and only what was read back correctly is tagged.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils.tqdm import disable_progress_bars

from hub.client import Plan, Refused, Upload, compare, describe, send
from hub.read_back import ReadBackError, read_back

# Errors of requests to the Hub. Depending on the version of huggingface_hub, HTTP errors come from requests (an
# OSError), httpx or httpx2 (bases of HfHubHTTPError). A failed upload of a large file is a RuntimeError, an answer
# that is not valid JSON a ValueError.
FAILURES: tuple[type[BaseException], ...] = (OSError, RuntimeError, ValueError, *HfHubHTTPError.__bases__)

AGAIN = (
    "The Hub failed or could not be reached. The repository is unchanged or holds the whole commit. Run the same "
    "command again: it does the rest."
)
NOT_READ = (
    "It is committed but not tagged. Run the same command again: it reads it back once more. If that fails in "
    "the same way, the files on the Hub differ from those that were sent: look at the repository there."
)
ADVICE = {
    401: "The Hub does not accept the token. Set HF_TOKEN to a valid token with the role write (…/settings/tokens).",
    403: "The token is not allowed to do this. Get write access to the organisation, or choose another with --org.",
    409: "The repository is busy with another operation. Wait a minute and run the same command again.",
    412: "Somebody else committed to it at the same time. Run the same command again: it compares anew.",
}


def parser(description: str, several: bool = True) -> argparse.ArgumentParser:
    """Return a parser of the options that all push scripts share; `--only` if there can be several uploads."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--org", required=True, help="user or organisation on the Hub")
    if several:
        options.add_argument(
            "--only", nargs="+", metavar="NAME", default=[], help="push only these; default: all"
        )
    options.add_argument("--dry-run", action="store_true", help="show what would be done (the default)")
    options.add_argument("--yes", action="store_true", help="upload")
    options.add_argument("--private", action="store_true", help="make new repositories private")
    options.add_argument("--tag", help="tag the pushed commits, such as release-0.2.0")
    return options


def select(names: list[str], only: list[str]) -> list[str]:
    """Return `names`, or `only` if that names any; raises `Refused` if one of these is unknown."""
    if unknown := sorted(set(only) - set(names)):
        raise Refused(f"unknown name {', '.join(unknown)}; choose from: {', '.join(names) or 'none'}")
    return only or names


def for_readers(card: str, org: str) -> str:
    """Return the card with the names of repositories on the Hub in place of a checkout's folders.

    >>> for_readers('load_dataset("datasets/verb_lemmas", "clean")', "org")
    'load_dataset("org/verb_lemmas", "clean")'
    """
    return re.sub(r'"(?:datasets|metrics)/(\w+)"', rf'"{org}/\1"', card)


def each_folder(
    options: argparse.Namespace, folder: Path, upload: Callable[[Path, str], Upload]
) -> Iterator[Upload]:
    """Yield the upload of each folder in `folder` that `--only` selects."""
    for name in select([path.name for path in sorted(folder.iterdir()) if path.is_dir()], options.only):
        yield upload(folder / name, options.org)


def explain(error: BaseException, place: str) -> str:
    """Return what went wrong with `place` and what to do, in one paragraph."""
    status = getattr(getattr(error, "response", None), "status_code", 0)
    advice = NOT_READ if isinstance(error, ReadBackError) else ADVICE.get(status, AGAIN)
    message = " ".join(str(error).split()) or type(error).__name__
    if error.__cause__ is not None:
        message += f" ({' '.join(str(error.__cause__).split())})"
    return f"{place}: {message.rstrip('.')}. {advice}"


def publish(uploads: Iterable[Upload], options: argparse.Namespace) -> int:
    """Show the plan, and carry it out with `--yes`. Returns the exit status: 0, 1 (failed) or 2 (refused).

    All uploads are checked before the first request to the Hub.
    """
    try:
        return _publish(list(uploads), options)
    except Refused as error:
        print(f"refused: {error}", file=sys.stderr)
        return 2


def _publish(uploads: list[Upload], options: argparse.Namespace) -> int:
    if not sys.stderr.isatty():  # in a log, bars would hide the messages
        disable_progress_bars()
    token = get_token()  # from HF_TOKEN or `hf auth login`
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, token=token)
    really = options.yes and not options.dry_run
    place = api.endpoint
    pushed: list[tuple[Plan, str]] = []
    try:
        plans = []
        for upload in uploads:
            place = upload.repo_id
            plans.append(compare(api, upload, options.private, options.tag))
            print("\n".join(describe(plans[-1])))
        if not really:
            print("Dry run: nothing was sent. Add --yes to push.")
            return 0
        message = f"Release {options.tag}" if options.tag else "Update from the refined-tse repository"
        for plan in plans:
            place, before = plan.upload.repo_id, plan.head
            commit = send(api, plan, message)
            print(f"{'unchanged' if commit == before else 'pushed'}: {place} is at {commit}")
            pushed.append((plan, commit))
        place = "reading back what was pushed"
        read_back(pushed, api.endpoint, token)
        print(f"read back in a clean cache: {len(pushed)} repositories, all correct")
        for plan, commit in pushed if options.tag else ():
            place, kind = plan.upload.repo_id, plan.upload.repo_type
            # A tag that is there already has the same content; `compare` refuses any other.
            api.create_tag(place, tag=options.tag, revision=commit, repo_type=kind, exist_ok=True)
            print(f"tagged: {place} as {options.tag}")
    except Refused:
        raise
    except FAILURES as error:
        names = ", ".join(plan.upload.repo_id for plan, _ in pushed) or "nothing"
        print(f"error: {explain(error, place)} Already committed: {names}.", file=sys.stderr)
        return 1
    return 0
