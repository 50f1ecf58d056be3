"""Whether code stands in a file, for the commands that want it to be compiled or run there: line for line, however far indented."""

import textwrap


def normal(lines):
    return [line.rstrip() for line in textwrap.dedent("\n".join(lines)).split("\n")]


def stands_in(block, text):
    wanted = normal(block.rstrip("\n").split("\n"))
    lines = text.split("\n")
    first = wanted[0].strip()
    for start in range(len(lines) - len(wanted) + 1):
        # The first line alone is quick to compare.
        if lines[start].strip() == first and normal(lines[start : start + len(wanted)]) == wanted:
            return True
    return False
