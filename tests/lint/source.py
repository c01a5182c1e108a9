"""What the lints share: the sources, and C++ without its comments and literals."""
import pathlib
import re

SUFFIXES = {".h", ".cpp"}


def files(root, *folders):
    """Every C++ file below the folders of root, in a stable order."""
    for folder in folders:
        for path in sorted(pathlib.Path(root, folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path


_LITERALS = re.compile(
    r'//[^\n]*|/\*.*?\*/'                          # comments
    r'|R"(?P<delimiter>[^()\\ ]{0,16})\(.*?\)(?P=delimiter)"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'                        # strings
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",        # characters, but not the digits' separator
    re.DOTALL)


def code_only(text):
    """The text with comments, strings and characters blanked out; every line and column stays where it was."""
    return _LITERALS.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def report(problems):
    """Prints the problems; the exit code for them."""
    for problem in problems:
        print(problem)
    return 1 if problems else 0
