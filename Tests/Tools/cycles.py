#!/usr/bin/env python3
"""cycles.py [--edges TARGET] [--most N] - cycles of files inside each target of Sources.

A file depends on another file of its target if it names what only that one declares outside of types: a type, a
protocol, a function. Comments and strings do not count, nor members, whose names (`add`, `shape`) stand for
several. A cycle is a strongly connected component of these files.

Fails if a cycle has more than N files (default 30). --edges lists the files of the target's largest cycle with
the dependencies inside it and the names that make them.
"""
import argparse, collections, os, re, sys

MODIFIERS = (r"(?:(?:public|package|internal|fileprivate|private|open|final|indirect|static|class|mutating|"
             r"nonmutating|override|required|convenience|lazy|borrowing|consuming|nonisolated)(?:\([a-z]+\))? +"
             r"|@\w+(?:\([^)]*\))? +)*")
DECLARATION = re.compile(r"^(" + MODIFIERS + r")(?:struct|class|enum|actor|protocol|typealias|func|var|let) +`?(\w+)")
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|#*"""(?:[^\\]|\\.)*?"""#*|"(?:[^"\\\n]|\\.)*"', re.S)




def declarations(text):
    """The names that other files can use."""
    for line in text.split("\n"):
        found = DECLARATION.match(line)
        if found and not re.search(r"\b(private|fileprivate)\b", found[1]): yield found[2]


def components(edges):
    """Tarjan's strongly connected components, without recursion."""
    index, low, stack, on, result = {}, {}, [], set(), []
    for root in edges:
        if root in index: continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index); stack.append(root); on.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index); stack.append(other); on.add(other)
                    work.append((other, iter(edges[other])))
                    break
                if other in on: low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work: low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while not part or part[-1] != node: part.append(stack.pop()); on.discard(part[-1])
                    result.append(part)
    return result


def dependencies(folder):
    """For each file, the files that it depends on, with the names."""
    texts = {}
    for path, _, names in os.walk(folder):
        for name in names:
            full = os.path.join(path, name)
            if name.endswith(".swift") and not os.path.islink(full):
                texts[os.path.relpath(full, folder)] = IGNORED.sub(" ", open(full, encoding="utf-8").read())
    owners = collections.defaultdict(set)
    for name, text in texts.items():
        for declared in declarations(text): owners[declared].add(name)
    single = {declared: next(iter(files)) for declared, files in owners.items() if len(files) == 1}
    edges = {name: collections.defaultdict(set) for name in texts}
    for name, text in texts.items():
        for word in set(re.findall(r"\b\w+\b", text)):
            if single.get(word, name) != name: edges[name][single[word]].add(word)
    return edges


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--edges"); options.add_argument("--most", type=int, default=30)
    options = options.parse_args()
    sources = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources")
    status = 0
    for target in sorted(os.listdir(sources)) if not options.edges else [options.edges]:
        edges = dependencies(os.path.join(sources, target))
        largest = max(components(edges), key=len, default=[])
        if options.edges:
            for name in sorted(largest):
                print(name)
                for other in sorted(edges[name]):
                    if other in largest: print("   ", other, *sorted(edges[name][other]))
        elif len(largest) > options.most:
            print(f"{target}: a cycle of {len(largest)} files", file=sys.stderr)
            status = 1
        elif len(largest) > 1:
            print(f"{target} {len(largest)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
