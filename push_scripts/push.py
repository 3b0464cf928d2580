"""Push data sets, metrics and models to the Hub, one repository each, and load them back.

    python push_scripts/push.py --org ORG                                 # lists the files that would be sent
    python push_scripts/push.py --org ORG --tag release-0.3.0 --yes       # sends them
    python push_scripts/push.py --org ORG --tag release-0.3.0 --check     # loads each repository, and compares

A repository gets what is committed, its card with the names that its data, metric or model have on the Hub. Data that
are built from other people's are not committed, and so they are not sent.
"""

import argparse
import html
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml
from huggingface_hub import HfApi

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"dataset": "datasets", "space": "metrics", "model": "scorers/tse_scorers/bundled_models"}
"""Type of a repository on the Hub -> where those that belong there are."""
OF_EVALUATE = re.compile(r"v?\d+\.\d+\.\d+")
"""Tags that `evaluate.load` looks for before the newest version: its own version, so a metric must not have one."""
SENTENCES = ["The author laughs.", "The author laugh."]


@dataclass(frozen=True)
class Repository:
    """A repository on the Hub, and the folder whose files it gets."""

    type: str
    id: str
    folder: Path

    def files(self, benchmark: bool) -> dict[str, bytes]:
        """Return the content of each file, by its path in the repository."""
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=self.folder, capture_output=True, check=True)
        paths = [path for path in listed.stdout.decode().split("\0") if path and path != ".gitignore"]
        files = {path: (self.folder / path).read_bytes() for path in paths}
        head, body = split_card(files["README.md"].decode())
        if self.type == "dataset":
            head = with_committed_configs(head, files)
            if benchmark and (tasks := self._benchmark(head, body)):
                files["eval.yaml"] = tasks
        organization = self.id.split("/")[0]
        body = re.sub(r'"(?:datasets|metrics)/(\w+)"', rf'"{organization}/\1"', body)
        if self.type == "model":
            body = body.replace(f'"{self.folder.name}"', f'"{self.id}"')
        files["README.md"] = (
            f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n{body}".encode()
        )
        if self.type == "space":
            files["index.html"] = page(head, self.id).encode()
        return files

    def _benchmark(self, head: dict[str, Any], body: str) -> bytes | None:
        """Return the tasks of a data set that the Hub shows scores of; None where no suite scores it."""
        from tse_scorers.publishing import benchmark

        first = next(part for part in body.split("\n\n") if part.strip() and not part.strip().startswith("#"))
        configs = [config["config_name"] for config in head["configs"]]
        return benchmark(self.folder.name, configs, head["pretty_name"], " ".join(first.split()))

    def check(self, revision: str | None) -> str:
        """Load what is on the Hub as a user would, compare it with the folder, and say what was loaded.

        Raises:
            ValueError: it is not what the folder holds.
        """
        if self.type == "dataset":
            import datasets

            configs = datasets.get_dataset_config_names(self.id, revision=revision)
            n_rows = 0
            for config in configs:
                for split, rows in datasets.load_dataset(self.id, config, revision=revision).items():
                    here = datasets.Dataset.from_parquet(str(self.folder / config / f"{split}.parquet"))
                    self._require_equal(rows.data.table.equals(here.data.table), f"{config}/{split}")
                    n_rows += len(rows)
            return f"{n_rows:,} rows in {len(configs)} configurations"
        if self.type == "space":
            import evaluate

            metric = evaluate.load(self.id, revision=revision)
            module = Path(sys.modules[type(metric).__module__].__file__ or "")
            here = self.folder / f"{self.folder.name}.py"
            self._require_equal(module.read_bytes() == here.read_bytes(), here.name)
            return f"metric {metric.name}"
        from tse_scorers import load_scorer

        theirs, ours = (
            load_scorer(name).sentence_logprobs(SENTENCES)
            for name in (f"{self.id}@{revision or 'main'}", str(self.folder))
        )
        self._require_equal(np.allclose(theirs, ours, atol=1e-5), "its scores")
        return f"log P of a sentence: {theirs[0]:.3f}"

    def _require_equal(self, equal: bool, what: str) -> None:
        if not equal:
            raise ValueError(f"{self.id} has another {what} than {self.folder}. Push again, or name its tag.")


def split_card(text: str) -> tuple[dict[str, Any], str]:
    """Return the YAML head of a card and what stands below it."""
    _, head, body = text.split("---\n", 2)
    return yaml.safe_load(head), body


def with_committed_configs(head: dict[str, Any], files: dict[str, bytes]) -> dict[str, Any]:
    """Return the head of a data set's card with the configurations whose files are there: the others do not load."""
    there = [
        config["config_name"]
        for config in head["configs"]
        if all(entry["path"] in files for entry in config["data_files"])
    ]
    kept = {
        key: [of for of in head.get(key, []) if of["config_name"] in there]
        for key in ("configs", "dataset_info")
    }
    return {**head, **kept}


def page(head: dict[str, Any], metric: str) -> str:
    """Return what the static Space of a metric shows."""
    title, description, metric = (html.escape(text) for text in (head["title"], head["description"], metric))
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<body style="font-family: sans-serif; max-width: 40em; margin: 2em auto">
<h1>{title}</h1>
<p>{description}</p>
<pre>evaluate.load("{metric}")</pre>
<p><a href="https://huggingface.co/spaces/{metric}/blob/main/README.md">Definition, inputs and limits</a></p>
</html>
"""


def repositories(organization: str, only: list[str]) -> Iterator[Repository]:
    """Yield the repositories of an organization, or those of some names; ValueError where a name is unknown."""
    folders = [
        (kind, path.parent) for kind, of in FOLDERS.items() for path in sorted(ROOT.glob(f"{of}/*/README.md"))
    ]
    names = [folder.name for _, folder in folders]
    if unknown := sorted(set(only) - set(names)):
        raise ValueError(f"There is no {', '.join(unknown)}; expected one of: {', '.join(names)}.")
    for kind, folder in folders:
        if not only or folder.name in only:
            yield Repository(kind, f"{organization}/{folder.name}", folder)


def push(api: HfApi, repository: Repository, files: dict[str, bytes], options: argparse.Namespace) -> str:
    """Make a repository hold these files and no others, and tag the commit; return its address."""
    about: dict[str, Any] = {"repo_id": repository.id, "repo_type": repository.type}
    sdk = "static" if repository.type == "space" else None
    api.create_repo(**about, exist_ok=True, private=options.private or None, space_sdk=sdk)
    with TemporaryDirectory() as folder:
        for path, content in files.items():
            Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, path).write_bytes(content)
        message = f"Release {options.tag}" if options.tag else "Update from the repository of refined-tse"
        commit = api.upload_folder(
            folder_path=folder,
            **about,
            commit_message=message,
            create_pr=options.create_pr,
            delete_patterns="*",
        )
    if options.tag and not options.create_pr:
        api.create_tag(**about, tag=options.tag, revision=commit.oid, exist_ok=True)
    return str(commit.pr_url or commit.commit_url)


def main() -> int:
    """Run the command line; return the exit status: 1 where something could not be sent or is not as it should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--org", required=True, help="user or organization on the Hub")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--tag", help="of the commits, such as release-0.3.0")
    parser.add_argument("--create-pr", action="store_true", help="open pull requests in place of commits")
    parser.add_argument("--private", action="store_true", help="new repositories are private")
    parser.add_argument("--benchmark", action="store_true", help="also eval.yaml; see RELEASING.md")
    todo = parser.add_mutually_exclusive_group()
    todo.add_argument("--yes", action="store_true", help="send")
    todo.add_argument("--check", action="store_true", help="load each repository back, and compare")
    options = parser.parse_args()
    if options.tag and OF_EVALUATE.fullmatch(options.tag):
        parser.error(
            f"evaluate.load looks for tags such as {options.tag} first; choose one like release-0.3.0."
        )
    try:
        chosen = list(repositories(options.org, options.only))
        for repository in chosen:
            files = repository.files(options.benchmark)
            if not any(path.endswith((".parquet", ".py", ".safetensors")) for path in files):
                print(f"{repository.id}: nothing is committed but its card, so it is left out")
                continue
            if options.check:
                print(f"{repository.id}: {repository.check(options.tag)}", flush=True)
                continue
            print(f"{repository.type} {repository.id}: {len(files)} files")
            print(
                "\n".join(f"  {path:<44} {len(files[path]):>12,} bytes" for path in sorted(files)), flush=True
            )
            if options.yes:
                print(f"  {push(HfApi(), repository, files, options)}", flush=True)
    except (ValueError, OSError) as error:
        print(
            f"{error}\nNothing was half done: a repository gets one commit. Run the same command again.",
            file=sys.stderr,
        )
        return 1
    if not (options.yes or options.check):
        print("Nothing was sent. Add --yes to send, or --check to load what is there.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
