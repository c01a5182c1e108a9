#!/usr/bin/env python3
"""Every public header compiles alone, with the project's own compiler and flags and without a warning.

usage: headers.py ROOT BUILD-DIRECTORY
The command is that of a source of the module, taken from compile_commands.json, compiler cache included.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

import source


def command_for(module, commands):
    """The words that compile some source of src/<module>/, without its input, output and precompiled header."""
    for entry in commands:
        if f"/src/{module}/" not in entry["file"] or not entry["file"].endswith(".cpp"):
            continue
        words, kept = iter(shlex.split(entry["command"])), []
        for word in words:
            if word in ("-o", "-MF", "-MT", "-include"):
                next(words)
            elif word in ("-MD", "-c", "-Winvalid-pch") or "cmake_pch.hxx" in word or word == entry["file"]:
                continue
            elif not word.startswith(("-O", "-g")):
                kept.append(word)
        return [word for word in kept if word not in ("-Xclang", "-include-pch", "-fno-pch-timestamp")]
    return None


def compile_alone(header, include, commands, work):
    """Compiler output, or nothing when all is well."""
    module = header.relative_to(include).parts[1]
    command = command_for(module, commands)
    if command is None:
        return ""  # the module is not part of this build
    name = "_".join(header.relative_to(include).with_suffix("").parts)
    unit = work / f"{name}.cpp"
    unit.write_text(f'#include "{header.relative_to(include)}"\n')
    result = subprocess.run(command + ["-Werror", "-c", str(unit), "-o", str(unit.with_suffix(".o"))],
                            capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else f"{header}:1: does not compile alone\n{result.stderr}"


def main(root, build):
    include = pathlib.Path(root, "include")
    commands = json.loads(pathlib.Path(build, "compile_commands.json").read_text())
    work = pathlib.Path(build, "tests/lint/headers")
    work.mkdir(parents=True, exist_ok=True)
    headers = [path for path in source.files(root, "include") if path.suffix == ".h"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda header: compile_alone(header, include, commands, work), headers))
    return source.report([outcome for outcome in outcomes if outcome])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
