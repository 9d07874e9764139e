"""Names for people: the one that is meant by another, and lists of them."""
import operator


def nearest(given, names):
    """The name that `given` is a slip of; None where none is near."""
    import difflib

    lowered = {str(name).lower(): name for name in names}
    found = difflib.get_close_matches(str(given).lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def listed(names, most=8):
    """Names in a line: the first of them, and how many more there are."""
    names = [f'"{name}"' for name in names]
    more = len(names) - most
    return ", ".join(names) if more <= 0 else ", ".join(names[:most]) + f" and {more} more"


def numbered(names):
    """Whether names only number the columns, as libraries make them up: f0, f1, …; Column_0; 0; x1."""
    names = [str(name) for name in names]
    for first in (0, 1):
        if names and names[0].endswith(str(first)):
            prefix = names[0][: -len(str(first))]
            if all(name == f"{prefix}{first + place}" for place, name in enumerate(names)):
                return True
    return False


def place(what, name, names):
    """The place of a name, or of a number, among names."""
    from ._errors import UsageError

    from . import _checks

    if isinstance(name, str) and name in names:
        return names.index(name)
    try:
        digits = isinstance(name, str) and name.strip().isascii() and name.strip().isdigit()
        number = -1 if isinstance(name, bool) else int(name[:30]) if digits else operator.index(name)
    except TypeError:
        number = -1
    if 0 <= number < len(names):
        return number
    meant = nearest(name, names) if isinstance(name, str) else None
    hint = f'did you mean "{meant}"?' if meant is not None else f"available features: {listed(names)} (or indices 0–{len(names) - 1})"
    raise UsageError(f"unknown feature {_checks.shown(name)} in {what}; {hint}")
