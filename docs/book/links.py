"""Preprocessor of the book: points links that leave docs/ to the files in the repository."""
import json
import posixpath
import re
import sys

REPOSITORY = "https://github.com/apportion/apportion/blob/main/"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def absolute(target, folder):
    """Returns the target of a link in a directory of docs/; unchanged if it stays in docs/ or is a URL."""
    if "://" in target or target.startswith(("#", "mailto:")):
        return target
    path = posixpath.normpath(posixpath.join("docs", folder, target))
    return target if path.startswith("docs/") else REPOSITORY + path


def chapters(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    for chapter in chapters(book.get("items") or book.get("sections") or []):
        folder = posixpath.dirname(chapter["path"] or "")
        chapter["content"] = LINK.sub(lambda link: f"]({absolute(link[1], folder)})", chapter["content"])
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
